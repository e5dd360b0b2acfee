/* shared.c - opening and closing the locks of shared.h. */
#include "shared.h"

#include "system.h"

void fh_shared_count_read(fh_shared *lock) {
  if (++lock->n_reads < FH_SHARED_READS) return;
  /* From here on other readers may enter without the mutex, which does not affect this reader. release: pairs with
   * fh_shared_read */
  fh_atomic_store_release_i32(&lock->is_open, 1);
}

FH_NOINLINE void fh_shared_read_closed(fh_shared *lock) {
  fh_mutex_lock(&lock->lock);
  fh_shared_count_read(lock);
}

FH_NOINLINE bool fh_shared_close(fh_shared *lock, bool may_wait) {
  fh_atomic_store_relaxed_i32(&lock->is_open, 0); /* before fh_hazard_look, which orders this store */
  if (!fh_hazard_look(lock)) return true;
  if (!may_wait) {
    /* Opens the lock again; no thread reads under a closed lock without the mutex. release: as in
     * fh_shared_count_read */
    fh_atomic_store_release_i32(&lock->is_open, 1);
    return false;
  }
  /* A reader is inside for a few instructions: parking would take longer. */
  while (fh_hazard_find(lock)) fh_thread_yield();
  return true;
}
