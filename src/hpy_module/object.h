/* CObject: a Python object that owns a handle of a native object; which class stands for which native type. */
#ifndef FFI_HPY_MODULE_OBJECT_H_
#define FFI_HPY_MODULE_OBJECT_H_

#include <tvm/ffi/c_api.h>

#include "kind.h"
#include "type.h"

/* A handle and who uses it.
 *
 * While native code runs, it borrows the handles of its arguments. n_uses counts such calls, so that nobody (a callback,
 * another thread) moves the handle away and drops the object under the callee: moving wants the count to be 0 and makes it
 * negative meanwhile. Under a GIL the count is a plain word; without one it is atomic. */
typedef struct FbPlace {
  TVMFFIObject *handle;     /* owned; NULL before initialisation and after it was moved away */
  int32_t n_uses;           /* calls in progress, or one of the states below */
  _Atomic(uint8_t) listing; /* an FbListing */
  /* Of a container that a call returned whose arguments had an exchange table: the table's number (exchange.h). It gives
   * out tensors as arrays of that library. 0: none. */
  _Atomic(uint8_t) table;
} FbPlace;

/* Whether the wrapper is the one that stands for its object: see identity.h. */
typedef enum FbListing {
  FB_UNMADE, /* nobody made the wrapper: object.__new__ gave it its struct, which PyPy 8 does not refuse */
  FB_UNLISTABLE, /* it has no object, or is no instance of the object's class */
  FB_UNLISTED,
  FB_LISTED,
} FbListing;

enum {
  FB_PLACE_MOVING = -1, /* for a few instructions, in which no thread stops: whoever meets it waits */
  FB_PLACE_LENT = -2, /* for a call, which may take the handle: whoever meets it is refused */
};

/* Struct of CObject and, as its beginning, of every class derived from it.
 *
 * The instance owns its handle and drops it when it is destroyed. PyPy 7.3 cannot do that for an instance of a class made
 * in Python (its finalizer asserts that HPy made the class): there the place is in a second object, of a type that
 * nobody derives from, which the instance keeps alive. */
typedef union FbObject {
  FbPlace place;
  struct {
    FbPlace *owner; /* struct of owner_field, or NULL */
    HPyField owner_field;
  }; /* where fb_object_has_owner */
} FbObject;

/* Struct of such a second object. */
typedef struct FbOwner {
  FbPlace place;
  struct FbWeak *weak; /* identity_weak.h */
  const char *name; /* of a Function: from fb_function_name_take, or NULL */
} FbOwner;

HPyType_HELPERS(FbObject)

/* Size of the largest struct that begins with an FbObject, checked in function.c. On PyPy 7.3 all are that large: an
 * instance of a class that mixes two of these types gets the size of any of them. */
enum { FB_OBJECT_MAX_SIZE = sizeof(FbObject) + 2 * sizeof(void *) };

extern bool fb_object_has_owner, fb_free_threaded; /* written once during the import */

/* The struct of a CObject instance, without checking that it is one; on PyPy 7.3 NULL if it is none. */
FB_INLINE FbObject *fb_object_struct(HPyContext *ctx, HPy h) {
  if (FB_LIKELY(fb_ext != NULL)) return (FbObject *)((char *)h._i + fb_data_offset);
  return FbObject_AsStruct(ctx, h);
}

/* The place of a CObject; NULL if it has none yet. */
FB_INLINE FbPlace *fb_object_place(HPyContext *ctx, HPy h) {
  FbObject *object = fb_object_struct(ctx, h);
  if (FB_LIKELY(fb_ext != NULL) || !fb_object_has_owner) return &object->place;
  return FB_LIKELY(object != NULL) ? object->owner : NULL;
}

/* Borrowed native handle of a CObject, NULL if it has none. */
FB_INLINE TVMFFIObject *fb_object_get(HPyContext *ctx, HPy h) {
  FbPlace *place = fb_object_place(ctx, h);
  return FB_LIKELY(place != NULL) ? place->handle : NULL;
}

/* Waits until no thread moves the handle; returns n_uses as it was then. */
int32_t fb_place_settle(FbPlace *place);

/* Begins a use of the handle. False if it is lent: then there is no use to end. */
FB_INLINE bool fb_place_use(FbPlace *place) {
  if (FB_LIKELY(!fb_free_threaded)) {
    if (FB_UNLIKELY(place->n_uses < 0)) return false;
    place->n_uses++;
    return true;
  }
  /* Acquire: a use after a move sees the empty place (release, in fb_place_release). */
  int32_t n = atomic_load_explicit((_Atomic(int32_t) *)&place->n_uses, memory_order_relaxed);
  do {
    if (FB_UNLIKELY(n < 0) && (n = fb_place_settle(place)) < 0) return false;
  } while (!atomic_compare_exchange_weak_explicit((_Atomic(int32_t) *)&place->n_uses, &n, n + 1, memory_order_acquire,
                                                  memory_order_relaxed));
  return true;
}

FB_INLINE void fb_place_unuse(FbPlace *place) {
  if (FB_LIKELY(!fb_free_threaded)) {
    place->n_uses--;
  } else { /* release: pairs with the acquire of place_claim */
    atomic_fetch_sub_explicit((_Atomic(int32_t) *)&place->n_uses, 1, memory_order_release);
  }
}

/* Whether an object is of a type, which is at `depth` below ffi.Object, or derives from it. */
bool fb_object_derives(TVMFFIObject *handle, int32_t type_index, int32_t depth);
/* The slow end of fb_object_begin. */
FbPlace *fb_object_begin_failed(HPyContext *ctx, HPy self, FbPlace *place);

/* Begins a use of the native object behind a CObject, for code that reads it: nobody moves it away until fb_place_unuse.
 * NULL with ValueError raised if there is none, with TypeError if it is not of the type (at `depth` below ffi.Object). */
FB_INLINE FbPlace *fb_object_begin(HPyContext *ctx, HPy self, int32_t type_index, int32_t depth) {
  FbPlace *place = fb_object_place(ctx, self);
  if (FB_UNLIKELY(place == NULL || !fb_place_use(place))) return fb_object_begin_failed(ctx, self, NULL);
  TVMFFIObject *handle = place->handle;
  if (FB_LIKELY(handle != NULL && (handle->type_index == type_index || fb_object_derives(handle, type_index, depth)))) {
    return place;
  }
  return fb_object_begin_failed(ctx, self, place);
}

/* Whether h is a CObject. Never fails. */
bool fb_object_check(HPyContext *ctx, HPy h);
/* Owned native handle of any Python object; NULL, and no exception, if it is no CObject or has none. */
TVMFFIObject *fb_object_take(HPyContext *ctx, HPy h);
/* Raises ValueError: the handle was moved away or never set; TypeError for what is only called a CObject. */
HPy fb_object_raise_no_handle(HPyContext *ctx, HPy self);
/* Puts `handle` (taken, on failure too) in the place of the one that a CObject has. Returns 0, or -1 with an exception. */
int fb_object_put(HPyContext *ctx, HPy self, TVMFFIObject *handle);

/* The listed wrapper of an object, or a new instance of the class that stands for its type. Takes `handle`, on failure too
 * (HPy_NULL). */
HPy fb_object_wrap(HPyContext *ctx, TVMFFIObject *handle);
/* The same, but a new instance in any case. */
HPy fb_object_wrap_apart(HPyContext *ctx, TVMFFIObject *handle);
/* The same as fb_object_wrap, but a new instance if a call uses the listed one, which nobody can move away then. */
HPy fb_object_wrap_movable(HPyContext *ctx, TVMFFIObject *handle);
/* Makes cls the class of a type index. cls must derive from CObject. Returns 0, or -1 with an exception raised. */
int fb_class_store(HPyContext *ctx, int32_t index, HPy cls);

/* The place behind an ObjectRValueRef, lent until fb_place_release; NULL with an exception raised if there is no handle
 * (any more) or a call uses it. */
FbPlace *fb_rvalue_ref_begin(HPyContext *ctx, HPy ref);
void fb_place_release(FbPlace *place);

/* The Python object inside an ffi.OpaquePyObject made by this binding: new handle; HPy_NULL without an exception if it is
 * somebody else's. */
HPy fb_opaque_unwrap(HPyContext *ctx, TVMFFIObject *handle);

/* Type objects, new handles. A derived type is made by fb_object_derive, from a spec whose `defines` have room for one more
 * entry before the final NULL, and is kept in *cell. */
HPy fb_object_type_new(HPyContext *ctx);
HPy fb_object_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base, FbCell *cell);

/* An instance of cls for the tp_new of a type. */
FB_INLINE HPy fb_object_make(HPyContext *ctx, HPy cls, const FbCell *type) {
  void *data;
  HPy h = fb_type_make(ctx, cls, type, &data);
  if (FB_LIKELY(!HPy_IsNull(h)) && !fb_object_has_owner) {
    atomic_store_explicit(&((FbObject *)data)->place.listing, FB_UNLISTABLE, memory_order_relaxed);
  }
  return h;
}
/* Defines NAME_new, the tp_new of a derived type, and NAME_type, where that is kept. PyPy does not inherit a tp_new, and
 * each accepts subclasses of its own type. */
#define FB_OBJECT_NEW(NAME)                                                                           \
  static FbCell NAME##_type; /* written once during the import */                                     \
  HPyDef_SLOT(NAME##_new, HPy_tp_new)                                                                 \
  static HPy NAME##_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) { \
    (void)args, (void)nargs, (void)kw; /* they are for __init__ */                                    \
    return fb_object_make(ctx, type, &NAME##_type);                                                   \
  }
HPy fb_rvalue_ref_type_new(HPyContext *ctx);
HPy fb_opaque_type_new(HPyContext *ctx, HPy base);

extern HPyDef fb_class_register, fb_class_offer, fb_class_find;

#endif /* FFI_HPY_MODULE_OBJECT_H_ */
