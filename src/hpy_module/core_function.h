/* Functions that the core has by name only, looked up once. */
#ifndef FFI_HPY_MODULE_CORE_FUNCTION_H_
#define FFI_HPY_MODULE_CORE_FUNCTION_H_

#include <stdatomic.h>

#include "context.h"
#include <tvm/ffi/c_api.h>

typedef struct FbCoreFunction {
  const char *name;
  _Atomic(TVMFFIObject *) found; /* kept for good */
} FbCoreFunction;

/* The function, borrowed; NULL with a native error pending. Any thread, attached or not. */
TVMFFIObject *fb_core_function_get(FbCoreFunction *self);
/* Calls it. 0, or -1 with a native error pending. *result need not be initialised. */
int fb_core_function_call(FbCoreFunction *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

#endif /* FFI_HPY_MODULE_CORE_FUNCTION_H_ */
