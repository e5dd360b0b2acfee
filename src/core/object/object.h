/* object.h - the object header: life, strong and weak references. Only this file and object.c change combined_ref_count
 * (error.c has an object whose count is initialised statically).
 *
 * Protocol: a new object has one strong reference and one weak one, which the strong references own together. Adding a
 * reference is relaxed, because the adding thread has a reference already. Dropping a reference is a release, and
 * dropping the last one acquires, so that the deleter sees all writes of other threads to the object. When the last
 * strong reference goes while others hold weak ones, the deleter is called twice: with Strong (destroy the value), and
 * with Weak (free the memory) when the last weak reference goes. Otherwise it is called once, with Both. */
#pragma once

#include "core/platform/atomic.h"
#include "core/platform/base.h"

#define FH_OBJECT_STRONG_ONE ((uint64_t)1)
#define FH_OBJECT_WEAK_ONE ((uint64_t)1 << 32)
#define FH_OBJECT_STRONG_MASK (FH_OBJECT_WEAK_ONE - 1)
#define FH_OBJECT_BOTH_ONE (FH_OBJECT_WEAK_ONE | FH_OBJECT_STRONG_ONE)

typedef void (*fh_object_deleter)(void *self, int flags);

/* Writes the header of a new object: one strong reference, the caller's. */
static inline void fh_object_init(TVMFFIObject *obj, int32_t type_index, fh_object_deleter deleter) {
  obj->combined_ref_count = FH_OBJECT_BOTH_ONE;
  obj->type_index = type_index;
  obj->__padding = 0;
  obj->__ensure_align = 0;
  obj->deleter = deleter;
}

/* Deleter of objects that own only their block. */
void fh_object_delete_plain(void *self, int flags);

/* A type of this library whose objects own others. Destroying values nested to any depth needs a bounded stack: beyond
 * some depth, an object whose last reference goes while the thread is destroying other objects is put into a queue,
 * which the outermost destruction empties before it returns. */
typedef struct {
  fh_object_deleter deleter; /* the deleter in the header of the objects: it calls fh_object_delete_owner */
  void (*end)(void *self); /* drops the references that the object owns; keeps its block */
} fh_object_owner;

/* The body of the deleter of such a type. has_objects: 0 for an object that owns no other object now, which costs less.
 * Frees the block by fh_mem_free. Allocates nothing. */
void fh_object_delete_owner(const fh_object_owner *owner, void *self, int flags, bool has_objects);

static inline void fh_object_retain(void *obj) {
  /* pairs with nothing: the caller that passes `obj` holds a reference */
  (void)fh_atomic_add_relaxed_u64(&((TVMFFIObject *)obj)->combined_ref_count, FH_OBJECT_STRONG_ONE);
}

/* The slow path of fh_object_release; `before` is the count before the last strong reference went. */
void fh_object_end(TVMFFIObject *obj, uint64_t before);

/* In the test build a release under a lock ends the process, whether or not it is the last one: the order of other
 * threads decides whether a release is the last. */
#ifdef FH_TEST
void fh_object_check_release(void);
#else
static inline void fh_object_check_release(void) {}
#endif

/* NULL does nothing. May run foreign code: hold no lock. */
static inline void fh_object_release(void *handle) {
  TVMFFIObject *obj = (TVMFFIObject *)handle;
  if (obj == NULL) return;
  fh_object_check_release();
  /* release: pairs with the acquire fence in fh_object_end of the thread that drops the last reference */
  uint64_t before = fh_atomic_sub_release_u64(&obj->combined_ref_count, FH_OBJECT_STRONG_ONE);
  if (FH_UNLIKELY((before & FH_OBJECT_STRONG_MASK) == FH_OBJECT_STRONG_ONE)) fh_object_end(obj, before);
}

/* Weak references keep the memory, not the value. */
static inline void fh_object_weak_retain(void *obj) {
  /* pairs with nothing: the caller that passes `obj` holds a strong or weak reference */
  (void)fh_atomic_add_relaxed_u64(&((TVMFFIObject *)obj)->combined_ref_count, FH_OBJECT_WEAK_ONE);
}
void fh_object_weak_release(void *obj);

/* The number of strong references now: only a hint, because other threads add and drop references at any time. */
static inline uint32_t fh_object_use_count(const void *obj) {
  /* relaxed, pairs with nothing: the result proves nothing about the actions of other threads */
  return (uint32_t)fh_atomic_load_relaxed_u64(&((const TVMFFIObject *)obj)->combined_ref_count);
}

/* Adds a strong reference to an object that may be ending, but whose memory cannot go away now. Returns false if it has
 * no strong reference left. */
static inline bool fh_object_try_retain(void *obj) {
  uint64_t *count = &((TVMFFIObject *)obj)->combined_ref_count, before = fh_atomic_load_relaxed_u64(count);
  while ((before & FH_OBJECT_STRONG_MASK) != 0) {
    /* acquire: pairs with the releases of other owners, so that this thread sees their changes of the object */
    if (fh_atomic_cas_acq_rel_u64(count, &before, before + FH_OBJECT_STRONG_ONE)) return true;
  }
  return false;
}

/* Whether the caller holds the only references to the object, at most n_own strong ones: then it may change the object
 * in place. A weak reference of another owner forbids that, because it can become a strong one at any moment. */
static inline bool fh_object_is_own(const void *obj, uint32_t n_own) {
  /* acquire: pairs with the releases of fh_object_release and fh_object_weak_release, so that all accesses of the
   * former owners come before the change */
  uint64_t count = fh_atomic_load_acquire_u64(&((const TVMFFIObject *)obj)->combined_ref_count);
  return count <= (FH_OBJECT_WEAK_ONE | n_own); /* the one weak reference belongs to all strong ones together */
}

static inline int32_t fh_object_type_index(const void *obj) { return ((const TVMFFIObject *)obj)->type_index; }
