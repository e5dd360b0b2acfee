/* Owners of Python objects in native code: one strong reference in a block that native code owns.
 *
 * Native code may drop a hold on any thread, in a destructor, while an error is pending, or during the interpreter's
 * exit. fb_hold_drop handles all of these. */
#include "hold.h"

#include <stdlib.h>

#include "error_slot.h"
#include "raised.h"
#include "thread.h"

/* Holds that were dropped where Python code may not run, or where no context was valid (hpy's debug mode has a context
 * per call). A stack: any thread pushes, and fb_hold_drain takes the whole stack. */
FbHold *fb_hold_waiting;

static int never(void) { return 0; }
int (*fb_hold_must_wait)(void) = never;

FbHold *fb_hold_new(HPyContext *ctx, HPy h) {
  fb_hold_drain(ctx);
  FbHold *hold = calloc(1, sizeof(*hold));
  if (hold == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  fb_ref_store(ctx, &hold->ref, h);
  return hold;
}

HPy fb_hold_take(HPyContext *ctx, FbHold *hold) {
  HPy h = fb_ref_load(ctx, &hold->ref);
  fb_ref_clear(ctx, &hold->ref);
  free(hold);
  return h;
}

void fb_hold_drop(void *self) {
  FbHold *hold = self;
  if (fb_context_is_lasting && !fb_hold_must_wait()) {
    FbThread attach;
    /* The interpreter is finalizing: the hold leaks. */
    if (fb_thread_is_finalizing() || fb_thread_attach(&attach) != 0) return;
    /* Freeing the object may run Python code, which may use the thread's error slot and raise. */
    FbPendingError pending_error = fb_error_slot_take(attach.ctx);
    FbRaised raised;
    fb_raised_take(&raised);
    fb_ref_clear(attach.ctx, &hold->ref);
    fb_raised_put(&raised);
    fb_error_slot_put(pending_error);
    fb_thread_detach(&attach);
    free(hold);
    return;
  }
  /* The hold waits for fb_hold_drain. */
  hold->next = fh_atomic_load_relaxed(&fb_hold_waiting);
  /* Release: the drain that takes the hold (acquire in fb_hold_drain_all) sees its contents. */
  while (!fh_atomic_cas_release(&fb_hold_waiting, &hold->next, hold)) {
  }
}

void fb_hold_drain_all(HPyContext *ctx) {
  /* The whole stack is taken before any hold is freed: clearing a reference may run Python code that drops further
   * holds, which are pushed to the empty stack. */
  FbHold *hold = fh_atomic_exchange_acquire(&fb_hold_waiting, NULL);
  while (hold != NULL) {
    FbHold *next = hold->next;
    fb_ref_clear(ctx, &hold->ref);
    free(hold);
    hold = next;
  }
}
