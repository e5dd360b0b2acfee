/* sync.c - waiting for a lock or a condition, and once; the rest of sync.h is inline.
 *
 * On Linux a lock is the three-state futex lock of Drepper's "Futexes Are Tricky": a word that is free, held, or held
 * while somebody may sleep. A holder calls the kernel only in the third case. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "sync.h"

#include "atomic.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleeps while *word is `seen`; may also wake up without a reason. The kernel compares and puts to sleep in one step:
 * a change that comes with a wake-up is not missed when it falls between the caller's look and the sleep. PRIVATE: no
 * other process shares the words, which makes them cheaper for the kernel to find. */
static void sleep_on(uint32_t *word, uint32_t seen) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}
static void wake_sleepers(uint32_t *word, int n_threads) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n_threads, NULL, NULL, 0);
}

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
    sleep_on(&m->state, FH_MUTEX_WAITED);
  }
}

void fh_mutex_wake(fh_mutex *m) { wake_sleepers(&m->state, 1); }

void fh_cond_wait(fh_cond *c, fh_mutex *m) {
  uint32_t seen = fh_atomic_load_relaxed_u32(&c->n_wakes); /* relaxed: written under the lock, which the caller holds */
  fh_mutex_unlock(m);
  sleep_on(&c->n_wakes, seen); /* a wake since the load has changed it, and this returns at once */
  fh_mutex_lock(m);
}

void fh_cond_wake_all(fh_cond *c) {
  /* relaxed: under the lock; atomic because sleep_on compares it without */
  fh_atomic_store_relaxed_u32(&c->n_wakes, fh_atomic_load_relaxed_u32(&c->n_wakes) + 1);
  wake_sleepers(&c->n_wakes, INT32_MAX);
}

/* Nothing to do: who waits is known to the kernel only. */
void fh_cond_reset(fh_cond *c) { FH_UNUSED(c); }

#elif defined(__APPLE__)
/* The condition has a lock of its own, because pthread_cond_wait takes pthread's locks only. The waiter takes it before
 * it gives up `m`, so no thread can change n_wakes before the waiter sleeps. */
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

/* A thread that the child does not have may have held `inner` at the fork. */
void fh_cond_reset(fh_cond *c) {
  fh_cond fresh = FH_COND_INIT;
  *c = fresh;
}

#else
void fh_cond_wait(fh_cond *c, fh_mutex *m) { SleepConditionVariableSRW(&c->cond, &m->lock, INFINITE, 0); }
void fh_cond_wake_all(fh_cond *c) { WakeAllConditionVariable(&c->cond); }
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
