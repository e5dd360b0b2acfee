/* The class OpaquePtr: an address, which native code knows as void*. */
#ifndef FFI_HPY_VALUE_OPAQUE_PTR_H_
#define FFI_HPY_VALUE_OPAQUE_PTR_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* The Python value, as the package wraps it. New handle, or HPy_NULL with an exception raised. */
HPy fb_opaque_ptr_result(HPyContext *ctx, void *address);

HPy fb_opaque_ptr_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_OPAQUE_PTR_H_ */
