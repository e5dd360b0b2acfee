/* Calls of native functions from Python. */
#ifndef FFI_HPY_FUNCTION_FUNCTION_CALL_H_
#define FFI_HPY_FUNCTION_FUNCTION_CALL_H_

#include <tvm/ffi/c_api.h>

#include "function_struct.h"

/* The slot tp_call of Function. */
extern HPyDef fb_function_call;
/* Installs the vectorcall entry, if the context supports it. Called once, before the type is made. */
void fb_function_call_set_vectorcall(void);
/* Applies fb_function_struct_last_release and fb_thread_is_covered to later calls. Only during the import. */
void fb_function_call_settle(void);

/* Enables deferred reference counting for a new Function after some calls, where the interpreter supports it. */
void fb_function_call_count(FbFunction *function);

/* Calls a Function and keeps the GIL. *result is owned. Returns 0, or -1 with an exception raised. */
int fb_function_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result);

#endif /* FFI_HPY_FUNCTION_FUNCTION_CALL_H_ */
