/* A stack to which any thread pushes. The whole stack is popped at once; popping one node would be open to ABA. */
#include "later.h"

#include <stdlib.h>

#include "core/platform/atomic.h"

FbLater *fb_later_first;
bool fb_later_is_used;

FbLater *fb_later_new(int64_t word, int64_t kind) {
  FbLater *later = malloc(sizeof(*later));
  if (later != NULL) *later = (FbLater){.word = word, .kind = kind};
  return later;
}

void fb_later_push(FbLater *later) {
  later->next = fh_atomic_load_relaxed(&fb_later_first);
  /* Release: the thread that takes the record (acquire in fb_later_next) sees its contents. */
  while (!fh_atomic_cas_release(&fb_later_first, &later->next, later)) {
  }
}

/* Records popped from the stack but not returned yet. */
static FbLater *taken;

FbLater *fb_later_next(void) {
  FbLater *first = fh_atomic_exchange_acquire(&taken, NULL);
  if (first == NULL) first = fh_atomic_exchange_acquire(&fb_later_first, NULL);
  if (first == NULL || first->next == NULL) return first;
  FbLater *rest = fh_atomic_exchange_acq_rel(&taken, first->next);
  while (rest != NULL) { /* another thread has stored its own records in between */
    FbLater *next = rest->next;
    fb_later_push(rest);
    rest = next;
  }
  return first;
}
