/* The core's own functions, called by the binding itself. */
#ifndef FFI_HPY_CONVERT_CORE_FUNCTION_H_
#define FFI_HPY_CONVERT_CORE_FUNCTION_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Static, with a name and perhaps a type. Found at first use and kept for good. */
typedef struct FbCoreFunction {
  const char *name;
  TVMFFIObject *found;
  int32_t type_index; /* if not 0: the name is that of an attribute of this type, not of a global function */
} FbCoreFunction;

/* The function, borrowed; NULL, and no error, if the core, which may be another than ours, has no such function. Any
 * thread, attached or not. */
TVMFFIObject *fb_core_function_find(FbCoreFunction *self);
/* Calls the function: 0, or -1 with a native error pending. *result need not be initialised, and is owned. Any
 * thread. */
int fb_core_function_call(FbCoreFunction *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* As fb_core_function_call, on an attached thread: 0, or -1 with an exception raised. Keeps the GIL; hooks that the
 * core calls back may run Python code. */
int fb_core_function_run(HPyContext *ctx, FbCoreFunction *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result);

/* As fb_core_function_call, with a function that the caller has: what TVMFFIFunctionCall is defined to do (c_api.h),
 * without that call. `result` must come to the callee as None. */
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

#endif /* FFI_HPY_CONVERT_CORE_FUNCTION_H_ */
