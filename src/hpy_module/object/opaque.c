/* Python objects owned by native code: an ffi.OpaquePyObject around an FbPyOwner. Other bindings in the process may
 * also make such objects, with their own deleters. */
#include "opaque.h"

#include "hpy_module/context/py_owner.h"

/* The layout of an ffi.OpaquePyObject after its header. The first word is the ABI's TVMFFIOpaqueObjectCell; the deleter
 * follows in both cores, ours and apache-tvm-ffi's. The deleter identifies the binding that made the object. */
typedef struct OpaqueCell {
  void *handle;
  void (*deleter)(void *handle);
} OpaqueCell;

FbPyOwner *fb_opaque_owner(TVMFFIObject *handle) {
  const OpaqueCell *cell = (const OpaqueCell *)(handle + 1);
  return cell->deleter == fb_py_owner_drop ? cell->handle : NULL;
}

HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle) {
  const FbPyOwner *owner = fb_opaque_owner(handle);
  return owner != NULL ? fb_ref_load(ctx, &owner->ref) : HPy_NULL;
}

TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h) {
  FbPyOwner *owner = fb_py_owner_new(ctx, h);
  TVMFFIObjectHandle made = NULL;
  if (owner != NULL && TVMFFIObjectCreateOpaque(owner, kTVMFFIOpaquePyObject, fb_py_owner_drop, &made) != 0) {
    fb_py_owner_drop(owner);
  }
  return made;
}
