/* sync.c - waiting for a lock or a condition where these are words to sleep on (Linux, Windows), and once; the rest of
 * sync.h is inline. */
#include "sync.h"

#if !defined(__APPLE__)
#include "clock.h"
#include "park.h"
#include "thread.h"

/* Waiting for a lock that is held.
 *
 * A lock that goes from core to core takes its cache line along, and the lines of what it guards, which costs several
 * times what threads do under it. So who has the lock is left alone with it for many uses in a row. A thread that finds
 * it held looks again at once, because that may have been chance. If it is still held, the thread waits without a look
 * at it, twice as long each time, and sleeps in the end. Where it finds the lock held again soon afterwards, all
 * threads use it all the time: then it does not look at once, and begins with a longer wait than before. */
enum {
  LOOKS_AT_ONCE = 64, /* some tens of nanoseconds: most holders that run have given the lock back by then */
  WAITS = 5,
  MAX_YIELDS = 64, /* of the core in one wait: about 10 microseconds where no other thread wants it */
  SOON = 4000,     /* nanoseconds */
};

/* These return whether they took the lock. They read it first, because a failing cas takes the cache line as well. */
static inline int look(fh_mutex *m) {
  return fh_atomic_load_relaxed_u32(&m->state) == FH_MUTEX_FREE && fh_mutex_try_take(m); /* relaxed: a hint */
}
static int look_at_once(fh_mutex *m) {
  for (int i = 0; i < LOOKS_AT_ONCE; ++i) {
    if (look(m)) return 1;
  }
  return 0;
}
static int look_after_waits(fh_mutex *m, uint32_t n_yields) {
  for (int i = 0; i < WAITS; ++i) {
    for (uint32_t k = 0; k < n_yields; ++k) fh_thread_yield();
    if (look(m)) return 1;
    n_yields = n_yields < MAX_YIELDS ? 2 * n_yields : MAX_YIELDS;
  }
  return 0;
}

/* Takes the lock, asleep until it is free. */
static void sleep_for(fh_mutex *m) {
  /* A thread that has slept does not know whether others still sleep. So it takes the lock as WAITED, which costs at
   * most one needless wake-up; taking it as HELD could leave a thread asleep for ever. acquire: pairs with
   * fh_mutex_give */
  while (fh_atomic_exchange_acquire_u32(&m->state, FH_MUTEX_WAITED) != FH_MUTEX_FREE) {
    fh_park_sleep(&m->state, FH_MUTEX_WAITED);
  }
}

void fh_mutex_park(fh_mutex *m) {
  static FH_THREAD_LOCAL uint64_t last_end;    /* of this thread's last wait, for any lock */
  static FH_THREAD_LOCAL uint32_t last_yields; /* with how many that began */
  int is_soon = fh_clock_now() - last_end < SOON;
  uint32_t n_yields = is_soon ? 2 * last_yields : 1;
  if (n_yields > MAX_YIELDS) n_yields = MAX_YIELDS;
  int is_taken = !is_soon && look_at_once(m);
  if (!is_taken && !look_after_waits(m, n_yields)) sleep_for(m);
  last_end = fh_clock_now();
  last_yields = n_yields;
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
