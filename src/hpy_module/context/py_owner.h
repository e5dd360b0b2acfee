/* Owners of Python objects in native code. */
#pragma once

#include "context.h"
#include "core/platform/atomic.h"

/* A Python object owned by native code, which may drop it on any thread and at any time. */
typedef struct FbPyOwner {
  FbRef ref;
  struct FbPyOwner *next; /* while it waits to be dropped; the owner itself: its object was released */
  /* Of an owner without a reference: dropping the owner calls this function, which gets `object`. Otherwise NULL. */
  void (*release)(HPyContext *ctx, void *object);
  void *object;
} FbPyOwner;

/* Returns NULL with MemoryError raised on failure. */
FbPyOwner *fb_py_owner_new(HPyContext *ctx, HPy h);
/* Frees an owner on an attached thread, and returns its object as a new handle. */
HPy fb_py_owner_take(HPyContext *ctx, FbPyOwner *owner);
/* Releases the object of an owner early, on an attached thread that may run Python code. The thread drops the owner
 * next, which costs little then. */
FH_INLINE void fb_py_owner_release(HPyContext *ctx, FbPyOwner *owner) {
  fb_ref_clear(ctx, &owner->ref);
  owner->next = owner;
}
/* Replaces the object of an owner. Returns the former object as a new handle. No other thread may use the owner. */
HPy fb_py_owner_exchange(HPyContext *ctx, FbPyOwner *owner, HPy h);
/* Deleter for the core. Any thread may call it, attached or not. Leaks the object once the interpreter is
 * finalizing. */
void fb_py_owner_drop(void *owner);
/* Calls `release`, which may run Python code, at once or in fb_py_owner_drain. Does not call it at all once the
 * interpreter is finalizing, or if memory is exhausted. Any thread may call this. */
void fb_py_owner_call(void *object, void (*release)(HPyContext *ctx, void *object));
/* Releases the owners that native code dropped where Python code could not run: without a context (hpy's debug mode),
 * or where fb_py_owner_must_wait returned true. Called where Python code may run. */
void fb_py_owner_drain_all(HPyContext *ctx);
extern FB_HIDDEN FbPyOwner *fb_py_owner_waiting; /* the first one */
FH_INLINE void fb_py_owner_drain(HPyContext *ctx) {
  /* relaxed: a later call finds an owner that this load misses */
  if (FH_UNLIKELY(fh_atomic_load_relaxed(&fb_py_owner_waiting) != NULL)) fb_py_owner_drain_all(ctx);
}
/* Whether the calling thread is inside a lock of native code. Written once during the import. */
extern FB_HIDDEN int (*fb_py_owner_must_wait)(void);
