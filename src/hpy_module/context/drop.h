/* Releases values while an exception may be raised.
 *
 * Releasing the last reference to an object runs its destructor, which may be foreign code that calls Python, for
 * example a DLPack deleter written with ctypes. Such code must neither see nor replace the raised exception. These
 * functions save the exception around the destructor. The plain functions (TVMFFIObjectDecRef, drop.h) are for threads
 * that are not attached, and for callers that know that no exception is raised. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

#include "context.h"
#include "core/platform/atomic.h"
#include "core/platform/base.h"

/* For `rc`: the caller does not know whether an exception is raised. */
enum { FB_DROP_UNKNOWN = -1 };

void fb_drop_aside(TVMFFIObjectHandle object);

/* Releases a reference; NULL is accepted. `rc` is the caller's return code: if it is 0, no exception is raised. */
FH_INLINE void fb_drop_object(TVMFFIObjectHandle object, int rc) {
  if (FH_LIKELY(rc == 0)) {
    TVMFFIObjectDecRef(object);
  } else {
    fb_drop_aside(object);
  }
}

/* Like fb_drop_object, for an owned value. */
FH_INLINE void fb_drop_any(const TVMFFIAny *value, int rc) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) fb_drop_object(value->v_obj, rc);
}

/* Calls the deleter of a DLPack tensor, if it has one. */
void fb_drop_managed(DLManagedTensor *tensor);
void fb_drop_versioned(DLManagedTensorVersioned *tensor);

/* Closes a handle. */
void fb_drop_handle(HPyContext *ctx, HPy h);

/* --- owned values ------------------------------------------------------------------------------------------------ */

/* Owned native values, and the references that own them. */

/* combined_ref_count of an object with one owner: one strong reference and its weak reference. */
#define FB_ONLY_REFERENCE (UINT64_C(1) << 32 | 1)

/* One weak reference in combined_ref_count; the strong references are counted below it. */
#define FB_ONE_WEAK (UINT64_C(1) << 32)

/* Adds a weak reference to an object that is alive: its memory stays, and its count tells whether it still lives. */
FH_INLINE void fb_weak_take(TVMFFIObject *object) {
  (void)fh_atomic_add_relaxed_u64(&object->combined_ref_count, FB_ONE_WEAK);
}

/* Takes a strong reference through a weak one. Returns false if the object was destroyed. */
FH_INLINE bool fb_weak_lock(TVMFFIObject *object) {
  uint64_t count = fh_atomic_load_relaxed_u64(&object->combined_ref_count);
  while ((uint32_t)count != 0) {
    /* acquire: the caller reads the object next */
    if (fh_atomic_cas_acq_rel_u64(&object->combined_ref_count, &count, count + 1)) return true;
  }
  return false;
}

/* Releases a weak reference; the last one frees the memory. */
FH_INLINE void fb_weak_drop(TVMFFIObject *object) {
  /* release: pairs with the acquire fence in the thread that drops the last weak reference */
  uint64_t before = fh_atomic_sub_release_u64(&object->combined_ref_count, FB_ONE_WEAK);
  if (before / FB_ONE_WEAK != 1) return;
  fh_atomic_fence_acquire_after_u64(&object->combined_ref_count);
  if (object->deleter != NULL) object->deleter(object, kTVMFFIObjectDeleterFlagBitMaskWeak);
}

/* The arguments of a call without arguments. The pointer is not NULL, because functions in Rust make a slice of it. */
static const TVMFFIAny fb_no_arguments[1];

/* Releases an owned value if it is an object. Any thread may call it. */
FH_INLINE void fb_any_drop(const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
}

/* --- deferred decref --------------------------------------------------------------------------------------------- */

/* Deferred decrefs: objects that native code or the garbage collector releases where Python code may not run. The
 * decrefs wait until the cffi backend asks for them (function/cffi_backend.c). */

typedef enum FbDeferredKind {
  FB_LATER_NUMBER, /* the number of a Python object that native code owned */
  FB_LATER_OBJECT, /* a reference to a native object, as a pointer */
} FbDeferredKind;

/* Python reads the struct through its pointer and knows the order of the members (ffi_hpy/_pypy/context/py_owners.py).
 * */
typedef struct FbDeferred {
  struct FbDeferred *next;
  int64_t word;
  int64_t kind; /* an FbDeferredKind */
} FbDeferred;

extern FbDeferred *fb_deferred_first; /* the waiting records, latest first; NULL if there are none */
extern bool fb_deferred_is_used; /* whether the cffi backend asks for them; written once during the import */

/* Returns NULL if memory is exhausted. */
FbDeferred *fb_deferred_new(int64_t word, int64_t kind);
/* Adds a record, from any thread. */
void fb_deferred_push(FbDeferred *later);
/* Removes and returns one waiting record; NULL if there is none. */
FbDeferred *fb_deferred_next(void);
