/* Python objects that native code holds: ffi.OpaquePyObject. */
#ifndef FFI_HPY_OBJECT_OPAQUE_H_
#define FFI_HPY_OBJECT_OPAQUE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* The Python object inside, if this binding made `handle`: new handle; HPy_NULL without an exception if another one
 * did. */
HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle);

/* A native object with h inside, owned. NULL without memory: then there is an exception, or a native error is in the
 * slot. */
TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_OBJECT_OPAQUE_H_ */
