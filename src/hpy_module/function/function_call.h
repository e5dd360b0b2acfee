/* The call of a native function from Python. */
#ifndef FFI_HPY_FUNCTION_FUNCTION_CALL_H_
#define FFI_HPY_FUNCTION_FUNCTION_CALL_H_

#include <tvm/ffi/c_api.h>

#include "function_struct.h"

/* The slot tp_call of Function. */
extern HPyDef fb_function_call;
/* Has the slot called in the interpreter's own shape, where the context can. Once, before the type is made. */
void fb_function_call_set_vectorcall(void);
/* Has calls go by what fb_function_struct_last_release and fb_thread_is_covered say now. During the import. */
void fb_function_call_settle(void);

/* Has references to a new Function, where that is possible, not counted any more after some calls. */
void fb_function_call_count(FbFunction *function);

/* Calls a Function without giving up the GIL. *result is owned. Returns 0, or -1 with an exception raised. */
int fb_function_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result);

#endif /* FFI_HPY_FUNCTION_FUNCTION_CALL_H_ */
