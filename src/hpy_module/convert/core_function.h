/* Functions of the core that the binding itself calls. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* A static variable per function: its name and perhaps a type. The function is looked up at first use and kept. */
typedef struct FbCoreFunction {
  const char *name;
  TVMFFIObject *found;
  int32_t type_index; /* if not 0: `name` is an attribute of this type, not a global function */
} FbCoreFunction;

/* Returns a borrowed function, or NULL without an error if the core (which may be another library than ours) has no
 * such function. Callable from any thread, attached or not. */
TVMFFIObject *fb_core_function_find(FbCoreFunction *self);
/* Calls the function. Returns 0, or -1 with a native error pending. *result may be uninitialised and is owned. Callable
 * from any thread. */
int fb_core_function_call(FbCoreFunction *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* Like fb_core_function_call, on an attached thread: returns 0, or -1 with an exception raised. Keeps the GIL;
 * callbacks from the core may run Python code. */
int fb_core_function_run(HPyContext *ctx, FbCoreFunction *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result);

/* Like fb_core_function_call, with a function handle. Inlines the definition of TVMFFIFunctionCall (c_api.h). The
 * callee expects *result to be None. */
FH_INLINE int fb_core_function_call_handle(TVMFFIObject *function, const TVMFFIAny *args, int32_t n_args,
                                           TVMFFIAny *result) {
  *result = (TVMFFIAny){0};
  return ((const TVMFFIFunctionCell *)(function + 1))->safe_call(function, args, n_args, result);
}

FH_INLINE TVMFFIAny fb_core_function_object(TVMFFIObject *handle) {
  TVMFFIAny any = {.type_index = handle->type_index};
  any.v_obj = handle;
  return any;
}
FH_INLINE TVMFFIAny fb_core_function_int(int64_t value) {
  TVMFFIAny any = {.type_index = kTVMFFIInt};
  any.v_int64 = value;
  return any;
}
