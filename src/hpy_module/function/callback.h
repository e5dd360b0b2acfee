/* Python callables as native functions. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/py_owner.h"

/* function_from_callable(), function_from_method_name() and function_that_keeps() of the module, and the attribute
 * Function._callable. */
extern HPyDef fb_callback_function, fb_callback_method, fb_callback_keeping, fb_callback_callable;
/* Registers the conversion of callables. Returns 0, or -1 with an exception raised. */
int fb_callback_init(HPyContext *ctx, HPy module);
/* Returns the owner of the callable of a Function, borrowed; NULL if the Function was not made from a callable. */
FbPyOwner *fb_callback_owner(TVMFFIObject *function);
/* Makes the error of a callback on a thread that the exiting interpreter refuses pending. Returns -1. */
int fb_callback_refuse(void);
