/* Calls of Python code whose exception is wanted as a value, where the context cannot give a raised one: PyPy 7.3's
 * own context and the debug modes. The package's function call_guarded catches it. */
#ifndef FFI_HPY_ERROR_GUARD_H_
#define FFI_HPY_ERROR_GUARD_H_

#include "hpy_module/context/context.h"

typedef enum FbGuarded {
  FB_GUARDED_RETURNED, /* *out is what the callable returned */
  FB_GUARDED_FAILED, /* *out is the native Error of what it raised */
  FB_GUARDED_BROKEN, /* an exception is raised: lack of memory, too many calls within calls, an interruption */
} FbGuarded;

/* Calls. *out is a new handle, HPy_NULL with FB_GUARDED_BROKEN. */
FbGuarded fb_guard_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, HPy *out);

/* Brackets a call of Python code that may come back here: PyPy ends the process if its stack is used up within an HPy
 * function. Returns false, with RecursionError raised and nothing to leave, if there are too many on this thread.
 * Contexts with the extension look after their stack themselves. */
bool fb_guard_enter(HPyContext *ctx);
void fb_guard_leave(void);

#endif /* FFI_HPY_ERROR_GUARD_H_ */
