/* Uses of the native object of a container's wrapper.
 *
 * The object must be of one of two types, an immutable and a mutable one. Each use checks the type, because a class may
 * be given the handle of any object. */
#ifndef FFI_HPY_CONTAINER_USE_H_
#define FFI_HPY_CONTAINER_USE_H_

#include "hpy_module/object/object.h"

/* Ends a use, and raises TypeError because the object is of another type. Returns NULL. */
FbHandleCell *fb_use_refuse(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Begins a use of the native object. Returns NULL with ValueError or TypeError raised. */
FH_INLINE FbHandleCell *fb_use_begin(HPyContext *ctx, HPy self, int32_t fixed, int32_t changing) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  int32_t type_index = cell->handle->type_index;
  if (FH_LIKELY(type_index == fixed || type_index == changing)) return cell;
  return fb_use_refuse(ctx, self, cell);
}

/* Returns the native object, owned: a reference in place of a use, so that Python code may still move the handle during
 * the operation. Fails like fb_use_begin. */
FH_INLINE TVMFFIObject *fb_use_take(HPyContext *ctx, HPy self, int32_t fixed, int32_t changing) {
  FbHandleCell *cell = fb_use_begin(ctx, self, fixed, changing);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  TVMFFIObject *handle = cell->handle;
  TVMFFIObjectIncRef(handle);
  fb_handle_cell_unuse(cell);
  return handle;
}

#endif /* FFI_HPY_CONTAINER_USE_H_ */
