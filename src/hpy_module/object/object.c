/* CObject instances: their cells, and the errors for a missing handle. */
#include "object.h"

#include "handle_cell.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "identity.h"
#include "type_tag.h"

bool fb_object_has_owner;

bool fb_object_check(HPyContext *ctx, HPy h) {
  /* A classified type answers at once: its kind is FB_TYPE_KIND_OBJECT exactly if the type derives from CObject. */
  if (fb_ext != NULL) {
    const FbTypeTagEntry *entry = fb_type_tag_find(h);
    if (entry != NULL) return entry->kind == FB_TYPE_KIND_OBJECT;
  }
  return fb_own_class_check(ctx, h, &fb_own_class_object);
}

bool fb_object_derives(TVMFFIObject *handle, int32_t type_index, int32_t depth) {
  /* The ancestors of a type are an array indexed by depth, so one comparison decides. */
  if (type_index == kTVMFFIObject) return true;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(handle->type_index);
  return info != NULL && info->type_depth > depth && info->type_ancestors[depth]->type_index == type_index;
}

TVMFFIObject *fb_object_take(HPyContext *ctx, HPy h) {
  FbHandleCell *cell = fb_object_check(ctx, h) ? fb_object_cell(ctx, h) : NULL;
  if (cell == NULL || !fb_handle_cell_use(cell)) return NULL;
  /* The use keeps the handle in place until this function has its own reference. The wrapper is registered first,
   * because the receiver of the reference may return the object. */
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  if (handle != NULL) {
    fb_identity_share(ctx, h, cell);
    TVMFFIObjectIncRef(handle);
  }
  fb_handle_cell_unuse(cell);
  return handle;
}

/* Whether the __new__ of its class made a CObject. An instance made by object.__new__ has no struct on PyPy 7.3, and a
 * struct of zero bytes on PyPy 8 (FB_UNMADE). */
static bool is_made(HPyContext *ctx, HPy self) {
  if (fb_object_has_owner) return fb_object_struct(ctx, self) != NULL;
  return fb_handle_cell_listing(fb_object_cell(ctx, self)) != FB_UNMADE;
}

HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self) {
  char name[128];
  if (!is_made(ctx, self)) return fb_instance_raise_unmade(ctx, self);
  return fb_raise(ctx, ctx->h_ValueError, FB_MESSAGE_NO_HANDLE, fb_attr_type_name(ctx, self, name, sizeof(name)));
}

int fb_object_complete(HPyContext *ctx, HPy self) {
  if (fb_hook_current(FB_HOOK_OBJECT_LACKING) != NULL && is_made(ctx, self)) {
    HPy answer = fb_hook_call(ctx, FB_HOOK_OBJECT_LACKING, &self, 1);
    if (HPy_IsNull(answer)) return -1;
    bool has_one = HPy_Is(ctx, answer, ctx->h_True);
    HPy_Close(ctx, answer);
    if (has_one) return 0;
  }
  fb_object_raise_no_handle(ctx, self);
  return -1;
}

int fb_object_raise_in_use(HPyContext *ctx) {
  fb_raise(ctx, ctx->h_RuntimeError, FB_MESSAGE_IN_USE);
  return -1;
}

/* `cell` is NULL if no use of it has begun. Otherwise its use ends here. A handle of another
 * type is an error. */
FbHandleCell *fb_object_begin_failed(HPyContext *ctx, HPy self, FbHandleCell *cell, int32_t type_index, int32_t depth) {
  char name[128];
  TVMFFIObject *handle = cell == NULL ? NULL : fb_handle_cell_get(cell);
  if (handle != NULL) {
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_OTHER_TYPE, fb_attr_type_name(ctx, self, name, sizeof(name)),
             (int)handle->type_index);
  }
  if (cell != NULL) fb_handle_cell_unuse(cell);
  if (handle != NULL || fb_object_complete(ctx, self) != 0) return NULL;
  return fb_object_begin(ctx, self, type_index, depth);
}

int fb_object_make_owner(HPyContext *ctx, HPy self) {
  HPy type = fb_ref_load(ctx, &fb_own_class_owner);
  FbOwner *data;
  HPy owner = HPy_New(ctx, type, &data);
  HPy_Close(ctx, type);
  if (HPy_IsNull(owner)) return -1;
  FbObject *object = fb_object_struct(ctx, self);
  /* The field keeps the owner alive; the pointer leads to the cell without a call of the context. */
  HPyField_Store(ctx, self, &object->owner_field, owner);
  object->owner = &data->cell;
  HPy_Close(ctx, owner);
  return 0;
}

FbHandleCell *fb_object_make_cell(HPyContext *ctx, HPy self) {
  if (FH_UNLIKELY(!is_made(ctx, self))) {
    fb_instance_raise_unmade(ctx, self);
    return NULL;
  }
  FbHandleCell *cell = fb_object_cell(ctx, self);
  return cell != NULL || fb_object_make_owner(ctx, self) != 0 ? cell : fb_object_cell(ctx, self);
}

/* --- Python objects ----------------------------------------------------------------------------------------------- */

/* Python objects owned by native code: an ffi.OpaquePyObject around an FbPyOwner. Other bindings in the process may
 * also make such objects, with their own deleters. */

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

HPy fb_opaque_take(HPyContext *ctx, TVMFFIObject *handle) {
  const FbPyOwner *owner = fb_opaque_owner(handle);
  if (FH_UNLIKELY(owner == NULL)) return HPy_NULL;
  HPy found = fb_ref_load(ctx, &owner->ref);
  fb_opaque_end(ctx, handle, 0);
  return found;
}

TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h) {
  FbPyOwner *owner = fb_py_owner_new(ctx, h);
  TVMFFIObjectHandle made = NULL;
  if (owner != NULL && TVMFFIObjectCreateOpaque(owner, kTVMFFIOpaquePyObject, fb_py_owner_drop, &made) != 0) {
    fb_py_owner_drop(owner);
  }
  return made;
}
