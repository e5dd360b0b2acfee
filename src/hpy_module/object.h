/* CObject: a Python object that owns a handle of a native object; which class stands for which native type. */
#ifndef FFI_HPY_MODULE_OBJECT_H_
#define FFI_HPY_MODULE_OBJECT_H_

#include <tvm/ffi/c_api.h>

#include "kind.h"

/* Struct of CObject and, as its beginning, of every class derived from it.
 *
 * The instance owns its handle and drops it when it is destroyed. PyPy 7.3 cannot do that for an instance of a class made
 * in Python (its finalizer asserts that HPy made the class): there the handle is in a second object, of a type that
 * nobody derives from, which the instance keeps alive. */
typedef struct FbObject {
  union {
    TVMFFIObject *handle;    /* owned; NULL before initialisation and after the handle was moved away */
    struct FbOwner *owner;   /* where fb_object_has_owner: the struct of `owner_field`, or NULL */
  };
  HPyField owner_field; /* where fb_object_has_owner */
} FbObject;

typedef struct FbOwner {
  TVMFFIObject *handle; /* as in FbObject */
} FbOwner;

HPyType_HELPERS(FbObject)

extern bool fb_object_has_owner; /* written once during the import */

/* The struct of a CObject instance, without checking that it is one. */
FB_INLINE FbObject *fb_object_struct(HPyContext *ctx, HPy h) {
  if (FB_LIKELY(fb_ext != NULL)) return (FbObject *)((char *)h._i + fb_ext->data_offset);
  return FbObject_AsStruct(ctx, h);
}

/* Where the handle is; NULL if there is no place for one yet. */
FB_INLINE TVMFFIObject **fb_object_slot(HPyContext *ctx, HPy h) {
  FbObject *object = fb_object_struct(ctx, h);
  if (FB_LIKELY(fb_ext != NULL) || !fb_object_has_owner) return &object->handle;
  return object->owner == NULL ? NULL : &object->owner->handle;
}

/* Borrowed native handle of a CObject, NULL if it has none. */
FB_INLINE TVMFFIObject *fb_object_get(HPyContext *ctx, HPy h) {
  TVMFFIObject **slot = fb_object_slot(ctx, h);
  return FB_LIKELY(slot != NULL) ? *slot : NULL;
}

/* Whether h is a CObject. Never fails. */
bool fb_object_check(HPyContext *ctx, HPy h);
/* Borrowed native handle of any Python object; NULL, and no exception, if it is no CObject or has none. */
TVMFFIObject *fb_object_handle(HPyContext *ctx, HPy h);
/* Borrowed native handle of a CObject; NULL with ValueError raised if it was moved away or never set. */
TVMFFIObject *fb_object_handle_checked(HPyContext *ctx, HPy self);
/* Raises the ValueError of the above. */
HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self);
/* Puts `handle` (taken, on failure too) in the place of the one that a CObject has. Returns 0, or -1 with an exception. */
int fb_object_put(HPyContext *ctx, HPy self, TVMFFIObject *handle);

/* A new instance of the class that stands for the object's type. Takes `handle`, on failure too (HPy_NULL). */
HPy fb_object_wrap(HPyContext *ctx, TVMFFIObject *handle);
/* The same for an instance of the given class, which must derive from CObject. */
HPy fb_object_wrap_as(HPyContext *ctx, HPy cls, TVMFFIObject *handle);

/* Makes cls the class of a type index. cls must derive from CObject. Returns 0, or -1 with an exception raised. */
int fb_class_store(HPyContext *ctx, int32_t index, HPy cls);

/* Address of the handle slot behind an ObjectRValueRef; NULL with ValueError if the object has no handle (any more). */
TVMFFIObject **fb_rvalue_ref_slot(HPyContext *ctx, HPy ref);

/* The Python object inside an ffi.OpaquePyObject made by this binding: new handle; HPy_NULL without an exception if it is
 * somebody else's. */
HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle);

/* Type objects, new handles. A derived type is made by fb_object_derive, from a spec whose `defines` have room for one more
 * entry before the final NULL. */
HPy fb_object_type_new(HPyContext *ctx);
HPy fb_object_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base);
HPy fb_rvalue_ref_type_new(HPyContext *ctx);
HPy fb_opaque_type_new(HPyContext *ctx, HPy base);

extern HPyDef fb_class_register, fb_class_find;

#endif /* FFI_HPY_MODULE_OBJECT_H_ */
