/* The core's own functions, called by the binding itself. */
#ifndef FFI_HPY_MODULE_CORE_FUNCTION_H_
#define FFI_HPY_MODULE_CORE_FUNCTION_H_

#include <stdatomic.h>
#include <tvm/ffi/c_api.h>

#include "context.h"

/* Static, with a name and perhaps a type. Found at first use and kept for good. */
typedef struct FbCoreFunction {
  const char *name;
  int32_t type_index; /* if not 0: the name is that of an attribute of this type, not of a global function */
  _Atomic(TVMFFIObject *) function;
} FbCoreFunction;

/* Borrowed; NULL if the core, which may be another than ours, has no such function. Raises nothing. */
TVMFFIObject *fb_core_function_find(FbCoreFunction *self);

/* Calls it without giving up the GIL. *result is owned. Returns 0, or -1 with an exception raised; RuntimeError if the core
 * has no such function. Hooks that the core calls back may run Python code. */
int fb_core_function_call(HPyContext *ctx, FbCoreFunction *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result);
/* The same with a function that the caller has. `name` is for messages. */
int fb_core_function_call_handle(HPyContext *ctx, TVMFFIObject *function, const char *name, const TVMFFIAny *args,
                                 int32_t n, TVMFFIAny *result);

FB_INLINE TVMFFIAny fb_core_object(TVMFFIObject *handle) {
  TVMFFIAny any = {.type_index = handle->type_index};
  any.v_obj = handle;
  return any;
}
FB_INLINE TVMFFIAny fb_core_int(int64_t value) {
  TVMFFIAny any = {.type_index = kTVMFFIInt};
  any.v_int64 = value;
  return any;
}

#endif /* FFI_HPY_MODULE_CORE_FUNCTION_H_ */
