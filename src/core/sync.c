/* sync.c - once; the rest of sync.h is inline. */
#include "sync.h"

#include "atomic.h"

void fh_once_run(fh_once *once, void (*init)(void)) {
  /* acquire: pairs with the release store below, so that what init wrote is seen */
  if (fh_atomic_load_acquire_i32(&once->done)) return;
  fh_mutex_lock(&once->lock);
  if (!fh_atomic_load_relaxed_i32(&once->done)) { /* relaxed: written under this lock only */
    init();
    fh_atomic_store_release_i32(&once->done, 1); /* release: pairs with the acquire load above */
  }
  fh_mutex_unlock(&once->lock);
}
