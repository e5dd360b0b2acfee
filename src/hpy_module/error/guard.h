/* Guarded calls of Python code: they return an exception as a value in contexts that cannot (PyPy 7.3's own context and
 * the debug modes). The package's function call_guarded catches the exception. */
#ifndef FFI_HPY_ERROR_GUARD_H_
#define FFI_HPY_ERROR_GUARD_H_

#include "hpy_module/context/context.h"

typedef enum FbGuarded {
  FB_GUARDED_RETURNED, /* *out is the return value of the callable */
  FB_GUARDED_FAILED, /* *out is the native Error of the callable's exception */
  FB_GUARDED_BROKEN, /* an exception is raised: out of memory, recursion too deep, or an interruption */
} FbGuarded;

/* Makes a guarded call. *out is a new handle, or HPy_NULL with FB_GUARDED_BROKEN. */
FbGuarded fb_guard_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, HPy *out);

/* fb_guard_enter and fb_guard_leave surround a call of Python code that may call back here, because PyPy ends the
 * process if its stack is exhausted within an HPy function. Returns false, with RecursionError raised and nothing to
 * leave, if this thread has too many such calls. Contexts with the extension check their stack themselves. */
bool fb_guard_enter(HPyContext *ctx);
void fb_guard_leave(void);

#endif /* FFI_HPY_ERROR_GUARD_H_ */
