/* A stack that any thread pushes to, and that is taken as a whole. */
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
  /* Release: whoever takes it (acquire, in fb_later_take) sees its contents. */
  while (!fh_atomic_cas_release(&fb_later_first, &later->next, later)) {
  }
}

FbLater *fb_later_take(void) { return fh_atomic_exchange_acquire(&fb_later_first, NULL); }
