/* Releases values while an exception is raised, and saves the exception around the release. */
#include "drop.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "raise.h"

/* Defers the decref of an object until Python code asks for it, if the cffi backend runs. Returns false if it
 * cannot. */
static bool wait_for_later(TVMFFIObjectHandle object) {
  FbDeferred *later = fb_deferred_is_used ? fb_deferred_new((int64_t)(intptr_t)object, FB_LATER_OBJECT) : NULL;
  if (later != NULL) fb_deferred_push(later);
  return later != NULL;
}

void fb_drop_aside(TVMFFIObjectHandle object) {
  if (object == NULL) return;
  if (FH_LIKELY(!fb_raised_is())) {
    TVMFFIObjectDecRef(object);
    return;
  }
  if (!fb_raised_can_take() && wait_for_later(object)) return;
  FbRaised raised;
  fb_raised_take(&raised);
  TVMFFIObjectDecRef(object);
  fb_raised_put(&raised);
}

void fb_drop_managed(DLManagedTensor *tensor) {
  if (tensor->deleter == NULL) return;
  FbRaised raised;
  fb_raised_take(&raised);
  tensor->deleter(tensor);
  fb_raised_put(&raised);
}

void fb_drop_versioned(DLManagedTensorVersioned *tensor) {
  if (tensor->deleter == NULL) return;
  FbRaised raised;
  fb_raised_take(&raised);
  tensor->deleter(tensor);
  fb_raised_put(&raised);
}

void fb_drop_handle(HPyContext *ctx, HPy h) {
  FbRaised raised;
  fb_raised_take(&raised);
  HPy_Close(ctx, h);
  fb_raised_put(&raised);
}

/* --- deferred decref --------------------------------------------------------------------------------------------- */

/* A stack to which any thread pushes. The whole stack is popped at once; popping one node would be open to ABA. */

FbDeferred *fb_deferred_first;
bool fb_deferred_is_used;

FbDeferred *fb_deferred_new(int64_t word, int64_t kind) {
  FbDeferred *later = malloc(sizeof(*later));
  if (later != NULL) *later = (FbDeferred){.word = word, .kind = kind};
  return later;
}

void fb_deferred_push(FbDeferred *later) {
  later->next = fh_atomic_load_relaxed(&fb_deferred_first);
  /* Release: the thread that takes the record (acquire in fb_deferred_next) sees its contents. */
  while (!fh_atomic_cas_release(&fb_deferred_first, &later->next, later)) {
  }
}

/* Records popped from the stack but not returned yet. */
static FbDeferred *taken;

FbDeferred *fb_deferred_next(void) {
  FbDeferred *first = fh_atomic_exchange_acquire(&taken, NULL);
  if (first == NULL) first = fh_atomic_exchange_acquire(&fb_deferred_first, NULL);
  if (first == NULL || first->next == NULL) return first;
  FbDeferred *rest = fh_atomic_exchange_acq_rel(&taken, first->next);
  while (rest != NULL) { /* another thread has stored its own records in between */
    FbDeferred *next = rest->next;
    fb_deferred_push(rest);
    rest = next;
  }
  return first;
}
