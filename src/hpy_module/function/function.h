/* Function: the class of native functions. function_call.h has their call. */
#ifndef FFI_HPY_FUNCTION_FUNCTION_H_
#define FFI_HPY_FUNCTION_FUNCTION_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Name for messages; "native function" if unknown. Valid as long as the function lives. */
const char *fb_function_name(HPyContext *ctx, HPy function);

/* A Function around `handle`, which is taken, on failure too. name may be NULL. */
HPy fb_function_wrap(HPyContext *ctx, TVMFFIObject *handle, const char *name);

/* The class Function, below CObject: new handle, or HPy_NULL with an exception raised. */
HPy fb_function_type_new(HPyContext *ctx, HPy base);

/* method_descriptor(), and whether the module has it: only where such a method is faster than one written in Python. */
extern HPyDef fb_function_method_descriptor;
bool fb_function_has_methods(void);

#endif /* FFI_HPY_FUNCTION_FUNCTION_H_ */
