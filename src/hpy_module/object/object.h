/* The struct of CObject, the Python object that owns a handle of a native object, and access to the handle. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "handle_cell.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/py_owner.h"

/* The struct of CObject, and the beginning of the struct of every derived class.
 *
 * The instance owns its handle and drops it when it is destroyed. PyPy 7.3 cannot do that for an instance of a class
 * made in Python (its finalizer asserts that HPy made the class). There the cell is in a second object, whose type has
 * no subclasses, and the instance keeps the second object alive. */
typedef union FbObject {
  FbHandleCell cell;
  struct {
    FbHandleCell *owner; /* the cell of the FbOwner (handle_cell.h) in owner_field, or NULL */
    HPyField owner_field;
  }; /* where fb_object_has_owner */
} FbObject;

HPyType_HELPERS(FbObject)

/* Size of the largest struct that begins with an FbObject, checked in function_struct.h. On PyPy 7.3 all structs have
 * this size: an instance of a class with two of these types as bases gets the size of either of them. */
enum { FB_OBJECT_MAX_SIZE = sizeof(FbObject) + 3 * sizeof(void *) };

extern bool fb_object_has_owner; /* written once during the import */

/* Returns the struct of a CObject instance without checking the type; on PyPy 7.3 NULL if `h` is not a CObject. */
FH_INLINE FbObject *fb_object_struct(HPyContext *ctx, HPy h) {
  if (FH_LIKELY(fb_ext != NULL)) return (FbObject *)((char *)h._i + fb_context_data_offset);
  return FbObject_AsStruct(ctx, h);
}

/* Returns the handle cell of a CObject; NULL if it has no cell yet. */
FH_INLINE FbHandleCell *fb_object_cell(HPyContext *ctx, HPy h) {
  FbObject *object = fb_object_struct(ctx, h);
  if (FH_LIKELY(fb_ext != NULL) || !fb_object_has_owner) return &object->cell;
  return FH_LIKELY(object != NULL) ? object->owner : NULL;
}

/* Returns the borrowed native handle of a CObject, or NULL. Relaxed: another thread may move the handle at any time. So
 * without a use of the cell a caller may only compare the pointer, unless the handle never moves. */
FH_INLINE TVMFFIObject *fb_object_get(HPyContext *ctx, HPy h) {
  FbHandleCell *cell = fb_object_cell(ctx, h);
  return FH_LIKELY(cell != NULL) ? fh_atomic_load_relaxed(&cell->handle) : NULL;
}

/* Whether the type of an object is, or derives from, a type at `depth` below ffi.Object. */
bool fb_object_derives(TVMFFIObject *handle, int32_t type_index, int32_t depth);
/* The other path of fb_object_begin. */
FbHandleCell *fb_object_begin_failed(HPyContext *ctx, HPy self, FbHandleCell *cell, int32_t type_index, int32_t depth);

/* Begins a use of the native object of a CObject, for code that reads the object: the handle is not moved before
 * fb_handle_cell_unuse. Returns NULL with ValueError raised if the handle is missing, or with TypeError if the object
 * is not of the type (at `depth` below ffi.Object). */
FH_INLINE FbHandleCell *fb_object_begin(HPyContext *ctx, HPy self, int32_t type_index, int32_t depth) {
  FbHandleCell *cell = fb_object_cell(ctx, self);
  if (FH_UNLIKELY(cell == NULL || !fb_handle_cell_use(cell)))
    return fb_object_begin_failed(ctx, self, NULL, type_index, depth);
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  if (FH_LIKELY(handle != NULL && (handle->type_index == type_index || fb_object_derives(handle, type_index, depth)))) {
    return cell;
  }
  return fb_object_begin_failed(ctx, self, cell, type_index, depth);
}

/* Whether h is a CObject. Never fails. */
bool fb_object_check(HPyContext *ctx, HPy h);
/* Returns the native handle of any Python object, owned; NULL without an exception if `h` is not a CObject or has no
 * handle. */
TVMFFIObject *fb_object_take(HPyContext *ctx, HPy h);
/* Returns the cell of a CObject, and makes it if necessary; NULL with an exception raised. */
FbHandleCell *fb_object_make_cell(HPyContext *ctx, HPy self);
/* Makes the owner of a CObject's handle, where handles have an owner. Returns 0, or -1 with an exception raised. */
int fb_object_make_owner(HPyContext *ctx, HPy self);

/* Raises ValueError if the handle was moved away or never set, or TypeError if the class did not make the object.
 * Returns HPy_NULL. */
HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self);
/* Lets the package give a wrapper without a handle one (hook object_lacking). The caller has begun no use of the cell.
 * Returns 0, or -1 with the error of fb_object_raise_no_handle, or of the hook, raised. */
int fb_object_complete(HPyContext *ctx, HPy self);
/* Raises RuntimeError because a call uses the handle. Returns -1. */
int fb_object_raise_in_use(HPyContext *ctx);

/* --- Python objects ----------------------------------------------------------------------------------------------- */

/* Python objects owned by native code: ffi.OpaquePyObject. */

/* Returns the Python object inside `handle` as a new handle if this binding made `handle`; HPy_NULL without an
 * exception if another binding made it. */
HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle);

/* Returns the owner of the Python object inside `handle`, borrowed; NULL if another binding made it. */
FbPyOwner *fb_opaque_owner(TVMFFIObject *handle);

/* Drops a reference to an object of fb_opaque_new, on an attached thread that has another reference to the Python
 * object. The deleter of a handle without its object runs no Python code, so no exception or pending error needs
 * protection then. `rc`: see fb_drop_object. */
FH_INLINE void fb_opaque_end(HPyContext *ctx, TVMFFIObject *handle, int rc) {
  /* acquire: pairs with the release of a thread that dropped another reference */
  if (fh_atomic_load_acquire(&handle->combined_ref_count) == FB_ONLY_REFERENCE) {
    fb_py_owner_release(ctx, fb_opaque_owner(handle));
    rc = 0;
  }
  fb_drop_object(handle, rc);
}

/* Returns a new handle of the Python object inside `handle`, to which it drops a reference; HPy_NULL if another binding
 * made the object. */
HPy fb_opaque_take(HPyContext *ctx, TVMFFIObject *handle);

/* Returns an owned native object that owns h. NULL if memory is exhausted: then an exception is raised, or a native
 * error is pending. */
TVMFFIObject *fb_opaque_new(HPyContext *ctx, HPy h);
