/* Function: the class of native functions. function_call.h has their call. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Returns the name for messages; "native function" if unknown. Valid as long as the function lives. */
const char *fb_function_name(HPyContext *ctx, HPy function);

/* Makes a Function around `handle`. Steals `handle`, also on failure. name may be NULL. */
HPy fb_function_wrap(HPyContext *ctx, TVMFFIObject *handle, const char *name);

/* Makes the class Function, derived from CObject. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_function_type_new(HPyContext *ctx, HPy base);

/* method_descriptor(). The module offers it only where such a method is faster than a method written in Python. */
extern HPyDef fb_function_method_descriptor;
bool fb_function_has_methods(void);

/* --- addresses --------------------------------------------------------------------------------------------------- */

/* Native functions that wrap a C function pointer, which code generators pass as a number. */

extern HPyDef fb_address_function, fb_address_mlir_function;

/* --- the C functions of the cffi backend ------------------------------------------------------------------------- */

/* Cover(): see cffi_backend.c. */

extern HPyDef fb_cffi_backend_start;
