/* The struct of CObject, the Python object that owns a handle of a native object, and how code gets at the handle. */
#ifndef FFI_HPY_OBJECT_OBJECT_H_
#define FFI_HPY_OBJECT_OBJECT_H_

#include <tvm/ffi/c_api.h>

#include "handle_cell.h"

/* Struct of CObject and, as its beginning, of every class derived from it.
 *
 * The instance owns its handle and drops it when it is destroyed. PyPy 7.3 cannot do that for an instance of a class
 * made in Python (its finalizer asserts that HPy made the class): there the cell is in a second object, of a type that
 * nobody derives from, which the instance keeps alive. */
typedef union FbObject {
  FbHandleCell cell;
  struct {
    FbHandleCell *owner; /* that of owner_field's FbOwner (owner.h), or NULL */
    HPyField owner_field;
  }; /* where fb_object_has_owner */
} FbObject;

HPyType_HELPERS(FbObject)

/* Size of the largest struct that begins with an FbObject, checked in function_struct.h. On PyPy 7.3 all are that
 * large: an instance of a class that mixes two of these types gets the size of any of them. */
enum { FB_OBJECT_MAX_SIZE = sizeof(FbObject) + 3 * sizeof(void *) };

extern bool fb_object_has_owner; /* written once during the import */

/* The struct of a CObject instance, without checking that it is one; on PyPy 7.3 NULL if it is none. */
FH_INLINE FbObject *fb_object_struct(HPyContext *ctx, HPy h) {
  if (FH_LIKELY(fb_ext != NULL)) return (FbObject *)((char *)h._i + fb_context_data_offset);
  return FbObject_AsStruct(ctx, h);
}

/* The handle cell of a CObject; NULL if it has none yet. */
FH_INLINE FbHandleCell *fb_object_cell(HPyContext *ctx, HPy h) {
  FbObject *object = fb_object_struct(ctx, h);
  if (FH_LIKELY(fb_ext != NULL) || !fb_object_has_owner) return &object->cell;
  return FH_LIKELY(object != NULL) ? object->owner : NULL;
}

/* Borrowed native handle of a CObject, NULL if it has none. Relaxed: another thread may move it meanwhile, so without a
 * use of the cell the address alone may be looked at, unless the handle never moves. */
FH_INLINE TVMFFIObject *fb_object_get(HPyContext *ctx, HPy h) {
  FbHandleCell *cell = fb_object_cell(ctx, h);
  return FH_LIKELY(cell != NULL) ? fh_atomic_load_relaxed(&cell->handle) : NULL;
}

/* Whether an object is of a type, which is at `depth` below ffi.Object, or derives from it. */
bool fb_object_derives(TVMFFIObject *handle, int32_t type_index, int32_t depth);
/* The slow end of fb_object_begin. */
FbHandleCell *fb_object_begin_failed(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Begins a use of the native object behind a CObject, for code that reads it: nobody moves it away until
 * fb_handle_cell_unuse. NULL with ValueError raised if there is none, with TypeError if it is not of the type (at
 * `depth` below ffi.Object). */
FH_INLINE FbHandleCell *fb_object_begin(HPyContext *ctx, HPy self, int32_t type_index, int32_t depth) {
  FbHandleCell *cell = fb_object_cell(ctx, self);
  if (FH_UNLIKELY(cell == NULL || !fb_handle_cell_use(cell))) return fb_object_begin_failed(ctx, self, NULL);
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  if (FH_LIKELY(handle != NULL && (handle->type_index == type_index || fb_object_derives(handle, type_index, depth)))) {
    return cell;
  }
  return fb_object_begin_failed(ctx, self, cell);
}

/* Whether h is a CObject. Never fails. */
bool fb_object_check(HPyContext *ctx, HPy h);
/* Owned native handle of any Python object; NULL, and no exception, if it is no CObject or has none. */
TVMFFIObject *fb_object_take(HPyContext *ctx, HPy h);
/* The cell of a CObject, made if need be; NULL with an exception raised. */
FbHandleCell *fb_object_make_cell(HPyContext *ctx, HPy self);
/* Gives a CObject, where it needs one, the owner that its handle will be in. 0, or -1 with an exception raised. */
int fb_object_make_owner(HPyContext *ctx, HPy self);

/* Raises ValueError: the handle was moved away or never set; TypeError for what is only called a CObject. HPy_NULL. */
HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self);
/* Raises RuntimeError: a call uses the handle. Returns -1. */
int fb_object_raise_in_use(HPyContext *ctx);

#endif /* FFI_HPY_OBJECT_OBJECT_H_ */
