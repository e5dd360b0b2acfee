/* Python objects inside native ones. */
#include "hold.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "error_slot.h"
#include "thread.h"

/* Holds that were dropped where no context was valid: hpy's debug mode has a context per call. A stack that any thread
 * pushes to, and that fb_hold_drain takes as a whole. */
static FbHold *pending;

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
  if (fb_context_is_lasting) {
    FbThread attach;
    if (fb_thread_is_finalizing() || fb_thread_attach(&attach) != 0) return;
    FbPendingError pending_error =
        fb_error_slot_take(); /* what ends here may run Python code, which may use the slot */
    fb_ref_clear(attach.ctx, &hold->ref);
    fb_error_slot_put(pending_error);
    fb_thread_detach(&attach);
    free(hold);
    return;
  }
  hold->next = fh_atomic_load_relaxed(&pending);
  /* Release: the drain that takes the hold (acquire, in fb_hold_drain) sees its contents. */
  while (!fh_atomic_cas_release(&pending, &hold->next, hold)) {
  }
}

void fb_hold_drain(HPyContext *ctx) {
  if (FH_LIKELY(fh_atomic_load_relaxed(&pending) == NULL)) return;
  FbHold *hold = fh_atomic_exchange_acquire(&pending, NULL);
  while (hold != NULL) {
    FbHold *next = hold->next;
    fb_ref_clear(ctx, &hold->ref);
    free(hold);
    hold = next;
  }
}
