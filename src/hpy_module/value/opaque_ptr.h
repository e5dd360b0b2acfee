/* The class OpaquePtr: a pointer that native code receives as void*. */
#ifndef FFI_HPY_VALUE_OPAQUE_PTR_H_
#define FFI_HPY_VALUE_OPAQUE_PTR_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Converts a pointer to the package's class. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_opaque_ptr_result(HPyContext *ctx, void *address);

HPy fb_opaque_ptr_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_OPAQUE_PTR_H_ */
