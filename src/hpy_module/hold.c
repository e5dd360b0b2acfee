/* Cells, and Python objects owned by native code. */
#include "hold.h"

#include "error.h"

#include <stdatomic.h>
#include <stdlib.h>

void fb_cell_store(HPyContext *ctx, FbCell *cell, HPy h) {
  if (fb_handles_are_lasting) {
    cell->handle = HPy_Dup(ctx, h);
  } else {
    HPyGlobal_Store(ctx, &cell->global, h);
    cell->handle = (HPy){1}; /* only says that the cell is not empty */
  }
}

HPy fb_cell_load(HPyContext *ctx, const FbCell *cell) {
  if (HPy_IsNull(cell->handle)) return HPy_NULL;
  return fb_handles_are_lasting ? HPy_Dup(ctx, cell->handle) : HPyGlobal_Load(ctx, cell->global);
}

void fb_cell_clear(HPyContext *ctx, FbCell *cell) {
  if (HPy_IsNull(cell->handle)) return;
  if (fb_handles_are_lasting) {
    HPy_Close(ctx, cell->handle);
  } else {
    HPyGlobal_Store(ctx, &cell->global, HPy_NULL);
  }
  cell->handle = HPy_NULL;
}

/* Holds that were given up where no context was valid: hpy's debug mode has a context per call. A stack, pushed to by any thread, taken as a whole by fb_hold_drain. */
static _Atomic(FbHold *) pending;

FbHold *fb_hold_new(HPyContext *ctx, HPy h) {
  fb_hold_drain(ctx);
  FbHold *hold = calloc(1, sizeof(*hold));
  if (hold == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  fb_cell_store(ctx, &hold->cell, h);
  return hold;
}

void fb_hold_drop(void *self) {
  FbHold *hold = self;
  if (fb_contexts_are_lasting) {
    FbAttach attach;
    if (fb_is_finalizing() || fb_attach(&attach) != 0) return;
    TVMFFIObjectHandle error = fb_error_set_aside(); /* what ends here may run Python code, which may use the slot */
    fb_cell_clear(attach.ctx, &hold->cell);
    fb_error_put_back(error);
    fb_detach(&attach);
    free(hold);
    return;
  }
  hold->next = atomic_load_explicit(&pending, memory_order_relaxed);
  /* Release: the drain that takes the hold (acquire, in fb_hold_drain) sees its contents. */
  while (
      !atomic_compare_exchange_weak_explicit(&pending, &hold->next, hold, memory_order_release, memory_order_relaxed)) {
  }
}

void fb_hold_drain(HPyContext *ctx) {
  if (FB_LIKELY(atomic_load_explicit(&pending, memory_order_relaxed) == NULL)) return;
  FbHold *hold = atomic_exchange_explicit(&pending, NULL, memory_order_acquire);
  while (hold != NULL) {
    FbHold *next = hold->next;
    fb_cell_clear(ctx, &hold->cell);
    free(hold);
    hold = next;
  }
}
