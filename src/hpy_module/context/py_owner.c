/* Owners of Python objects in native code: one strong reference in a block that native code owns.
 *
 * Native code may drop an owner on any thread, in a destructor, while an error is pending, or during the interpreter's
 * exit. fb_py_owner_drop handles all of these. */
#include "py_owner.h"

#include <stdlib.h>

#include "error_slot.h"
#include "raise.h"
#include "thread.h"

/* Owners that were dropped where Python code may not run, or where no context was valid (hpy's debug mode has a context
 * per call). A stack: any thread pushes, and fb_py_owner_drain takes the whole stack. */
FbPyOwner *fb_py_owner_waiting;

static int never(void) { return 0; }
int (*fb_py_owner_must_wait)(void) = never;

/* Blocks for the next owners. The GIL guards the stack; without a GIL it stays empty. */
enum { MOST_SPARE = 16 };
static FbPyOwner *spare;
static int n_spare;

FH_INLINE FbPyOwner *block_new(void) {
  FbPyOwner *owner = spare;
  if (FH_UNLIKELY(owner == NULL)) return malloc(sizeof(*owner));
  spare = owner->next;
  --n_spare;
  return owner;
}

/* On an attached thread. */
FH_INLINE void block_end(FbPyOwner *owner) {
  if (FH_LIKELY(n_spare < MOST_SPARE && fb_ext != NULL && !fb_context_free_threaded)) {
    owner->next = spare;
    spare = owner;
    ++n_spare;
  } else {
    free(owner);
  }
}

FbPyOwner *fb_py_owner_new(HPyContext *ctx, HPy h) {
  fb_py_owner_drain(ctx);
  FbPyOwner *owner = block_new();
  if (owner == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  *owner = (FbPyOwner){0};
  fb_ref_store(ctx, &owner->ref, h);
  return owner;
}

HPy fb_py_owner_take(HPyContext *ctx, FbPyOwner *owner) {
  HPy h = fb_ref_load(ctx, &owner->ref);
  fb_ref_clear(ctx, &owner->ref);
  block_end(owner);
  return h;
}

HPy fb_py_owner_exchange(HPyContext *ctx, FbPyOwner *owner, HPy h) {
  HPy former = fb_ref_load(ctx, &owner->ref);
  fb_ref_clear(ctx, &owner->ref);
  fb_ref_store(ctx, &owner->ref, h);
  return former;
}

/* Releases the object that the owner owns, and frees the owner. */
static void end(HPyContext *ctx, FbPyOwner *owner) {
  if (owner->release == NULL) {
    fb_ref_clear(ctx, &owner->ref);
  } else {
    owner->release(ctx, owner->object);
  }
  block_end(owner);
}

void fb_py_owner_call(void *object, void (*release)(HPyContext *ctx, void *object)) {
  FbPyOwner *owner = calloc(1, sizeof(*owner));
  if (owner == NULL) return;
  owner->release = release;
  owner->object = object;
  fb_py_owner_drop(owner);
}

void fb_py_owner_drop(void *self) {
  FbPyOwner *owner = self;
  if (owner->next == owner) {
    block_end(owner);
    return;
  }
  if (fb_context_is_lasting && !fb_py_owner_must_wait()) {
    FbThread attach;
    /* The interpreter is finalizing: the owner leaks. */
    if (fb_thread_is_finalizing() || fb_thread_attach(&attach) != 0) return;
    /* Freeing the object may run Python code, which may use the thread's error slot and raise. */
    FbPendingError pending_error = fb_error_slot_take(attach.ctx);
    FbRaised raised;
    fb_raised_take(&raised);
    end(attach.ctx, owner);
    fb_raised_put(&raised);
    fb_error_slot_put(pending_error);
    fb_thread_detach(&attach);
    return;
  }
  /* The owner waits for fb_py_owner_drain. */
  owner->next = fh_atomic_load_relaxed(&fb_py_owner_waiting);
  /* Release: the drain that takes the owner (acquire in fb_py_owner_drain_all) sees its contents. */
  while (!fh_atomic_cas_release(&fb_py_owner_waiting, &owner->next, owner)) {
  }
}

void fb_py_owner_drain_all(HPyContext *ctx) {
  /* The whole stack is taken before any owner is freed: clearing a reference may run Python code that drops further
   * owners, which are pushed to the empty stack. */
  FbPyOwner *owner = fh_atomic_exchange_acquire(&fb_py_owner_waiting, NULL);
  while (owner != NULL) {
    FbPyOwner *next = owner->next;
    end(ctx, owner);
    owner = next;
  }
}
