/* Python objects owned by native code: ffi.OpaquePyObject. */
#ifndef FFI_HPY_OBJECT_OPAQUE_H_
#define FFI_HPY_OBJECT_OPAQUE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/py_owner.h"

/* Returns the Python object inside `handle` as a new handle if this binding made `handle`; HPy_NULL without an
 * exception if another binding made it. */
HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle);

/* Returns the owner of the Python object inside `handle`, borrowed; NULL if another binding made it. */
FbPyOwner *fb_opaque_owner(TVMFFIObject *handle);

/* Returns an owned native object that owns h. NULL if memory is exhausted: then an exception is raised, or a native
 * error is pending. */
TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h);

#endif /* FFI_HPY_OBJECT_OPAQUE_H_ */
