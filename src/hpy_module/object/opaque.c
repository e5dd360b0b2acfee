/* Python objects that native code holds: an ffi.OpaquePyObject around a hold. Other bindings in the process may make
 * such objects, too, with deleters of their own. */
#include "opaque.h"

#include "hpy_module/context/hold.h"

/* Layout of an ffi.OpaquePyObject after its header. The ABI's TVMFFIOpaqueObjectCell is the first word; the deleter
 * follows in both cores, ours and apache-tvm-ffi's. The deleter tells whose Python object it is. */
typedef struct OpaqueCell {
  void *handle;
  void (*deleter)(void *handle);
} OpaqueCell;

HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle) {
  const OpaqueCell *cell = (const OpaqueCell *)(handle + 1);
  return cell->deleter == fb_hold_drop ? fb_ref_load(ctx, &((FbHold *)cell->handle)->ref) : HPy_NULL;
}

TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h) {
  FbHold *hold = fb_hold_new(ctx, h);
  TVMFFIObjectHandle made = NULL;
  if (hold != NULL && TVMFFIObjectCreateOpaque(hold, kTVMFFIOpaquePyObject, fb_hold_drop, &made) != 0) {
    fb_hold_drop(hold);
  }
  return made;
}
