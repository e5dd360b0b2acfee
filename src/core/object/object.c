/* object.c - destruction of objects, and weak references.
 *
 * An object that owns others drops them in its deleter, so a long chain of objects would recurse as deep as it is long.
 * The second half of this file bounds that for the types of this library: from some depth on, objects wait in queues of
 * their thread, which need no allocation. */
#include "object.h"

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/mem.h"
#include "core/platform/sync.h"

FH_STATIC_ASSERT(sizeof(TVMFFIObject) == 24, "the header is part of the ABI");

/* ---- Deleters and counts ---- */

void fh_object_delete_plain(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) fh_mem_free(self);
}

#ifdef FH_TEST
void fh_object_check_release(void) { fh_sync_check_unlocked("a release"); }
#endif

/* The ABI allows objects without a deleter: they are never freed. */
static void run_deleter(TVMFFIObject *obj, int flags) {
  fh_sync_check_unlocked("a deleter");
  if (obj->deleter != NULL) obj->deleter(obj, flags);
}

void fh_object_end(TVMFFIObject *obj, uint64_t before) {
  /* acquire: pairs with the release in fh_object_release (and fh_object_weak_release) of every other thread */
  fh_atomic_fence_acquire_after_u64(&obj->combined_ref_count);
  /* The count was one strong reference and the weak one that belongs to it. So the object has no other reference, and
   * cannot get one: one call of the deleter destroys the value and frees the memory. The count keeps that weak
   * reference; wait_for_end relies on that. */
  if (before == FH_OBJECT_BOTH_ONE) {
    run_deleter(obj, kTVMFFIObjectDeleterFlagBitMaskBoth);
    return;
  }
  /* Other owners have weak references. The memory must stay until the last of them is dropped. */
  run_deleter(obj, kTVMFFIObjectDeleterFlagBitMaskStrong);
  fh_object_weak_release(obj); /* the weak reference that the strong references owned together */
}

void fh_object_weak_release(void *handle) {
  TVMFFIObject *obj = (TVMFFIObject *)handle;
  /* release: pairs with the acquire fence below in the thread that drops the last weak reference */
  uint64_t before = fh_atomic_sub_release_u64(&obj->combined_ref_count, FH_OBJECT_WEAK_ONE);
  if (before >> 32 != 1) return;
  fh_atomic_fence_acquire_after_u64(&obj->combined_ref_count);
  run_deleter(obj, kTVMFFIObjectDeleterFlagBitMaskWeak);
}

int TVMFFIObjectIncRef(TVMFFIObjectHandle obj) {
  fh_object_retain(obj);
  return 0;
}

int TVMFFIObjectDecRef(TVMFFIObjectHandle obj) {
  fh_object_release(obj);
  return 0;
}

/* ---- Destruction of objects that own others ---- */

#define MAX_ENDING 64 /* nested calls of `end` before objects are queued */
#define MAX_OWNERS 24 /* more than there are such types in this library; further ones would recurse */

/* Queued objects of one type, as a list that needs no memory: an object's header holds the next object instead of the
 * deleter. No thread reads the deleter while the object is queued: its value has no references left, and the queue has
 * a weak one, so the last weak reference cannot be dropped. */
typedef struct {
  const fh_object_owner *owner;
  TVMFFIObject *first;
} waiting;

typedef struct {
  int n_ending; /* number of calls of `end` on the thread's stack */
  int n_owners; /* number of queues in use: one for each type with a queued object */
  waiting queues[MAX_OWNERS];
} endings;

static FH_THREAD_LOCAL endings of_thread; /* all queues are empty when n_ending is 0 */

/* Finds or makes the queue of a type; NULL if all queues belong to other types. */
static waiting *queue_of(endings *all, const fh_object_owner *owner) {
  for (int i = 0; i < all->n_owners; ++i) {
    if (all->queues[i].owner == owner) return &all->queues[i];
  }
  if (all->n_owners == MAX_OWNERS) return NULL;
  all->queues[all->n_owners].owner = owner;
  return &all->queues[all->n_owners++];
}

/* Queues the object: 1, or 0 if all queues are in use. */
static FH_NOINLINE bool wait_for_end(endings *all, const fh_object_owner *owner, TVMFFIObject *obj, int flags) {
  waiting *queue = queue_of(all, owner);
  if (queue == NULL) return false;
  /* The queue's weak reference. With Both the queue takes the weak reference that the strong references owned. With
   * Strong the caller is about to drop that reference, so the queue takes another one. */
  if (!(flags & kTVMFFIObjectDeleterFlagBitMaskWeak)) fh_object_weak_retain(obj);
  /* memcpy, because `deleter` is a pointer to a function and the next object is not a function */
  memcpy(&obj->deleter, &queue->first, sizeof(queue->first));
  queue->first = obj;
  return true;
}

/* Destroys all queued objects. Each gets its deleter back, because the release of the queue's weak reference may call
 * it to free the memory. */
static FH_NOINLINE void end_waiting(endings *all) {
  for (int i = 0; i < all->n_owners;) {
    TVMFFIObject *obj = all->queues[i].first;
    if (obj == NULL) {
      ++i;
      continue;
    }
    const fh_object_owner *owner = all->queues[i].owner;
    memcpy(&all->queues[i].first, &obj->deleter, sizeof(obj));
    obj->deleter = owner->deleter;
    owner->end(obj);
    fh_object_weak_release(obj);
    i = 0; /* destroying the object may have filled any queue */
  }
  all->n_owners = 0;
}

/* Destroys the value of an object that owns others: 1, or 0 if the object is queued and end_waiting will destroy it. */
static FH_NOINLINE bool end_owner(const fh_object_owner *owner, TVMFFIObject *obj, int flags) {
  endings *all = &of_thread;
#if defined(__GNUC__)
  __asm__("" : "+r"(all)); /* found once: finding a thread's data is a call in a shared library */
#endif
  if (all->n_ending >= MAX_ENDING && wait_for_end(all, owner, obj, flags)) return false;
  all->n_ending += 1;
  owner->end(obj);
  /* still counted, so that objects owned by queued objects can be queued as well and end_waiting is not entered
   * twice */
  if (all->n_ending == 1 && all->n_owners != 0) end_waiting(all);
  all->n_ending -= 1;
  return true;
}

/* Called with Strong, and later with Weak; or once with both. A queued object is not freed here, independent of the
 * flags: end_waiting drops its weak reference, which calls this function again with Weak alone. */
void fh_object_delete_owner(const fh_object_owner *owner, void *self, int flags, bool has_objects) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    if (!has_objects)
      owner->end(self);
    else if (!end_owner(owner, (TVMFFIObject *)self, flags))
      return;
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) fh_mem_free(self);
}

/* --- the allocator of clients ------------------------------------------------------------------------------------- */

/* The custom allocator, which the ABI defines for objects of clients: the current one, and the built-in
 * one. The core's own objects come from mem.c, independent of the allocator that a client has set. */

/* The header before an object of the built-in allocator: the ABI's header is its last part. */
typedef struct {
  void *block; /* the result of fh_mem_alloc */
  TVMFFIObjectAllocHeader abi;
} builtin_head;

static void builtin_delete_space(void *ptr) { fh_mem_free(((builtin_head *)ptr)[-1].block); }

/* Allocates room for an object at a multiple of `alignment`, a power of two, and for the head before it. The block may
 * begin at any multiple of 8, so it is longer by the bytes that aligning may skip. NULL without memory. */
static void *builtin_allocate(size_t size, size_t alignment, FH_MAYBE_UNUSED int32_t type_index,
                              FH_MAYBE_UNUSED void *context) {
  /* at least the head's alignment: the head ends at the start of the object */
  if (alignment < sizeof(builtin_head)) alignment = sizeof(builtin_head);
  size_t extra_bytes = sizeof(builtin_head) + alignment - 1;
  if (size > SIZE_MAX - extra_bytes) return NULL;
  char *block = (char *)fh_mem_alloc(size + extra_bytes);
  if (block == NULL) return NULL;
  builtin_head *object = (builtin_head *)(((uintptr_t)block + extra_bytes) & ~(uintptr_t)(alignment - 1));
  object[-1].block = block;
  object[-1].abi.delete_space = builtin_delete_space;
  return object;
}

static TVMFFICustomAllocator builtin_allocator = {builtin_allocate, NULL};
static void *current_allocator = &builtin_allocator;

TVMFFICustomAllocator *TVMFFIGetCustomAllocator(void) {
  /* acquire: pairs with the release store in TVMFFISetCustomAllocator, so that the struct's contents are seen */
  return (TVMFFICustomAllocator *)fh_atomic_load_acquire_ptr(&current_allocator);
}

int TVMFFISetCustomAllocator(TVMFFICustomAllocator *allocator) {
  /* release: pairs with the acquire load in TVMFFIGetCustomAllocator */
  fh_atomic_store_release_ptr(&current_allocator, allocator != NULL ? allocator : &builtin_allocator);
  return 0;
}
