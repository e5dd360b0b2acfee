/* sync.c - waiting for a lock or a condition on systems with futexes (Linux, Windows), and once; the rest of sync.h is
 * inline. */
#include "sync.h"

#if !defined(__APPLE__)
#include "system.h"

/* Waiting for a lock that is held.
 *
 * A lock that moves from core to core takes its cache line along, and the lines of the guarded data; that costs several
 * times as much as the work under the lock. So a thread that has the lock keeps it for many uses in a row. A thread
 * that finds it held first tries again immediately, because the collision may have been chance. If it is still held,
 * the thread waits without reading it, twice as long each time, and finally sleeps. If it finds the lock held again
 * soon afterwards, all threads use it all the time: then it does not try immediately, and begins with a longer wait
 * than before. */
enum {
  LOOKS_AT_ONCE = 64, /* some tens of nanoseconds: most running holders have released the lock by then */
  WAITS = 5,
  MAX_YIELDS = 64, /* yields of the core in one wait: about 10 microseconds if no other thread needs it */
  SOON = 4000,     /* nanoseconds */
};

/* These return whether they took the lock. The functions read the lock first, because a failing cas also moves the
 * cache line. */
static inline bool look(fh_mutex *m) {
  return fh_atomic_load_relaxed_u32(&m->state) == FH_MUTEX_FREE && fh_mutex_try_take(m); /* relaxed: a hint */
}
static bool look_at_once(fh_mutex *m) {
  for (int i = 0; i < LOOKS_AT_ONCE; ++i) {
    if (look(m)) return true;
  }
  return false;
}
static bool look_after_waits(fh_mutex *m, uint32_t n_yields) {
  for (int i = 0; i < WAITS; ++i) {
    for (uint32_t k = 0; k < n_yields; ++k) fh_thread_yield();
    if (look(m)) return true;
    n_yields = n_yields < MAX_YIELDS ? 2 * n_yields : MAX_YIELDS;
  }
  return false;
}

/* Sleeps until the lock is free, and takes it. */
static void sleep_for(fh_mutex *m) {
  /* A thread that has slept does not know whether others still sleep. So it takes the lock as WAITED, which costs at
   * most one needless wake-up; taking it as HELD could leave a thread asleep forever. acquire: pairs with
   * fh_mutex_give */
  while (fh_atomic_exchange_acquire_u32(&m->state, FH_MUTEX_WAITED) != FH_MUTEX_FREE) {
    fh_park_sleep(&m->state, FH_MUTEX_WAITED);
  }
}

void fh_mutex_park(fh_mutex *m) {
  static FH_THREAD_LOCAL uint64_t last_end;    /* end of this thread's last wait, for any lock */
  static FH_THREAD_LOCAL uint32_t last_yields; /* number of yields with which that wait began */
  bool is_soon = fh_clock_now() - last_end < SOON;
  uint32_t n_yields = is_soon ? 2 * last_yields : 1;
  if (n_yields > MAX_YIELDS) n_yields = MAX_YIELDS;
  bool is_taken = !is_soon && look_at_once(m);
  if (!is_taken && !look_after_waits(m, n_yields)) sleep_for(m);
  last_end = fh_clock_now();
  last_yields = n_yields;
}

void fh_mutex_wake(fh_mutex *m) { fh_park_wake_one(&m->state); }

void fh_cond_wait(fh_cond *c, fh_mutex *m) {
  uint32_t seen = fh_atomic_load_relaxed_u32(&c->n_wakes); /* relaxed: written under the lock, which the caller holds */
  fh_mutex_unlock(m);
  fh_park_sleep(&c->n_wakes, seen); /* returns at once if a wake-up has changed the word since the load */
  fh_mutex_lock(m);
}

void fh_cond_wake_all(fh_cond *c) {
  /* relaxed: under the lock; atomic because fh_park_sleep compares it without the lock */
  fh_atomic_store_relaxed_u32(&c->n_wakes, fh_atomic_load_relaxed_u32(&c->n_wakes) + 1);
  fh_park_wake_all(&c->n_wakes);
}

/* Nothing to do: only the system stores the waiting threads. */
void fh_cond_reset(fh_cond *c) { FH_UNUSED(c); }
#endif

/* Double-checked locking: after the first run a call costs one load. */
void fh_once_run(fh_once *once, void (*init)(void)) {
  /* acquire: pairs with the release store below, so that the writes of init are visible */
  if (fh_atomic_load_acquire_i32(&once->done)) return;
  fh_mutex_lock(&once->lock);
  if (!fh_atomic_load_relaxed_i32(&once->done)) { /* relaxed: written under this lock only */
    init();
    fh_atomic_store_release_i32(&once->done, 1); /* release: pairs with the acquire load above */
  }
  fh_mutex_unlock(&once->lock);
}

/* --- conditions on macOS ------------------------------------------------------------------------------------------ */

/* Conditions on macOS; sync.h has its locks inline. Empty elsewhere. */

#if defined(__APPLE__)
/* The condition has a separate lock, because pthread_cond_wait requires a lock of pthread. The waiter takes it before
 * it releases `m`, so no thread can change n_wakes before the waiter sleeps. */
void fh_cond_wait(fh_cond *c, fh_mutex *m) {
  pthread_mutex_lock(&c->inner);
  uint32_t seen = c->n_wakes;
  fh_mutex_unlock(m);
  while (c->n_wakes == seen) pthread_cond_wait(&c->cond, &c->inner);
  pthread_mutex_unlock(&c->inner);
  fh_mutex_lock(m);
}

void fh_cond_wake_all(fh_cond *c) {
  pthread_mutex_lock(&c->inner);
  c->n_wakes += 1;
  pthread_cond_broadcast(&c->cond);
  pthread_mutex_unlock(&c->inner);
}

/* A thread that the child does not have may have held `inner` at the time of the fork. */
void fh_cond_reset(fh_cond *c) {
  fh_cond fresh = FH_COND_INIT;
  *c = fresh;
}
#endif
