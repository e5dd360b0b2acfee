/* sync.c - once, and the test build's check for locks; the rest of sync.h is inline. */
#include "sync.h"

#include "atomic.h"

#ifdef FH_TEST
#include <stdio.h>
#include <stdlib.h>

FH_THREAD_LOCAL int fh_sync_n_held;

void fh_sync_fail_locked(const char *what) {
  fprintf(stderr, "%s runs while this thread holds %d lock(s)\n", what, fh_sync_n_held);
  abort();
}
#endif

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
