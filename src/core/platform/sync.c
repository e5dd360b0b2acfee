/* sync.c - waiting for a lock or a condition where these are words to sleep on (Linux, Windows), and once; the rest of
 * sync.h is inline. */
#include "sync.h"

#if !defined(__APPLE__)
#include "park.h"

/* Takes a lock that was held at the first try: looks again for a short time, then sleeps. */
void fh_mutex_park(fh_mutex *m) {
  enum { LOOKS = 64 }; /* a holder that runs gives the lock back before this thread could go to sleep and wake up */
  for (int i = 0; i < LOOKS; ++i) {
    uint32_t free = FH_MUTEX_FREE;
    if (fh_atomic_load_relaxed_u32(&m->state) != FH_MUTEX_FREE) continue; /* relaxed: a hint */
    if (fh_atomic_cas_acquire_u32(&m->state, &free, FH_MUTEX_HELD)) return; /* pairs with fh_mutex_give */
  }
  /* A thread that has slept does not know whether others still sleep. So it takes the lock as WAITED, which costs at
   * most one needless wake-up; taking it as HELD could leave a thread asleep for ever. acquire: pairs with
   * fh_mutex_give */
  while (fh_atomic_exchange_acquire_u32(&m->state, FH_MUTEX_WAITED) != FH_MUTEX_FREE) {
    fh_park_sleep(&m->state, FH_MUTEX_WAITED);
  }
}

void fh_mutex_wake(fh_mutex *m) { fh_park_wake_one(&m->state); }

void fh_cond_wait(fh_cond *c, fh_mutex *m) {
  uint32_t seen = fh_atomic_load_relaxed_u32(&c->n_wakes); /* relaxed: written under the lock, which the caller holds */
  fh_mutex_unlock(m);
  fh_park_sleep(&c->n_wakes, seen); /* a wake since the load has changed it, and this returns at once */
  fh_mutex_lock(m);
}

void fh_cond_wake_all(fh_cond *c) {
  /* relaxed: under the lock; atomic because fh_park_sleep compares it without */
  fh_atomic_store_relaxed_u32(&c->n_wakes, fh_atomic_load_relaxed_u32(&c->n_wakes) + 1);
  fh_park_wake_all(&c->n_wakes);
}

/* Nothing to do: who waits is known to the system only. */
void fh_cond_reset(fh_cond *c) { FH_UNUSED(c); }
#endif

/* Double-checked locking: after the first run a caller costs one load. */
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
