/* sync.h - mutex, condition, once.
 *
 * The core, the binding and the HPy runtime each compile this file, so that all use one kind of lock. Locks are static,
 * never held while foreign code runs, and known to fork (fork.h). */
#pragma once

#include "atomic.h"

/* The test build counts the locks that a thread holds, and the lock-free sections that other threads wait for. Code
 * that is about to run foreign code calls fh_sync_check_unlocked, which ends the process when the count is not 0. A
 * lock that fork does not know, or that is taken in the wrong order (fork.h), ends the process too. In other builds
 * these functions do nothing. */
#ifdef FH_TEST
extern FH_THREAD_LOCAL int fh_sync_n_held;
void fh_sync_note_lock(const void *mutex);
void fh_sync_note_unlock(const void *mutex);
void fh_sync_fail_locked(const char *what);
static inline void fh_sync_count_section(int change) { fh_sync_n_held += change; }
static inline void fh_sync_check_unlocked(const char *what) {
  if (FH_UNLIKELY(fh_sync_n_held != 0)) fh_sync_fail_locked(what);
}
#else
static inline void fh_sync_note_lock(const void *mutex) { FH_UNUSED(mutex); }
static inline void fh_sync_note_unlock(const void *mutex) { FH_UNUSED(mutex); }
static inline void fh_sync_count_section(int change) { FH_UNUSED(change); }
static inline void fh_sync_check_unlocked(const char *what) { FH_UNUSED(what); }
#endif

#if defined(__linux__) || defined(_WIN32)
/* The three-state lock of Drepper's "Futexes Are Tricky": the word is free, held, or held with threads that may sleep
 * (system.h). Taking and releasing it costs one atomic operation each while no thread waits. */
typedef struct {
  uint32_t state; /* one of the following */
} fh_mutex;
enum { FH_MUTEX_FREE = 0, FH_MUTEX_HELD = 1, FH_MUTEX_WAITED = 2 }; /* WAITED: held, and a thread may be parked */

void fh_mutex_park(fh_mutex *m);
void fh_mutex_wake(fh_mutex *m);

static inline void fh_mutex_take(fh_mutex *m) {
  uint32_t free = FH_MUTEX_FREE;
  /* acquire: pairs with the release in fh_mutex_give */
  if (FH_UNLIKELY(!fh_atomic_cas_acquire_u32(&m->state, &free, FH_MUTEX_HELD))) fh_mutex_park(m);
}
/* 0 if the lock is held. */
static inline int fh_mutex_try_take(fh_mutex *m) {
  uint32_t free = FH_MUTEX_FREE;
  return fh_atomic_cas_acquire_u32(&m->state, &free, FH_MUTEX_HELD); /* pairs with fh_mutex_give */
}
static inline void fh_mutex_give(fh_mutex *m) {
  /* release: pairs with the acquire in fh_mutex_take and fh_mutex_park */
  if (FH_UNLIKELY(fh_atomic_exchange_release_u32(&m->state, FH_MUTEX_FREE) == FH_MUTEX_WAITED)) fh_mutex_wake(m);
}

typedef struct {
  uint32_t n_wakes; /* changes with each fh_cond_wake_all, under the lock of the condition */
} fh_cond;
#define FH_COND_INIT {0}

#elif defined(__APPLE__)
#include <os/lock.h>
#include <pthread.h>

typedef struct {
  os_unfair_lock lock;
} fh_mutex;
static inline void fh_mutex_take(fh_mutex *m) { os_unfair_lock_lock(&m->lock); }
static inline int fh_mutex_try_take(fh_mutex *m) { return os_unfair_lock_trylock(&m->lock); }
static inline void fh_mutex_give(fh_mutex *m) { os_unfair_lock_unlock(&m->lock); }

typedef struct {
  pthread_mutex_t inner;
  pthread_cond_t cond;
  uint32_t n_wakes; /* under `inner` */
} fh_cond;
#define FH_COND_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

#else
#error "sync.h has locks for Linux, macOS and Windows"
#endif

/* Locks are declared by FH_LOCK, FH_LOCKS or FH_ONCE (fork.h), so that fork knows them. A lock whose bytes are all 0 is
 * free. */
static inline void fh_mutex_lock(fh_mutex *m) {
  fh_sync_note_lock(m);
  fh_mutex_take(m);
}
/* 0 if the lock is held; then the test build does not count it. */
static inline bool fh_mutex_try_lock(fh_mutex *m) {
  if (!fh_mutex_try_take(m)) return false;
  fh_sync_note_lock(m);
  return true;
}
static inline void fh_mutex_unlock(fh_mutex *m) {
  fh_sync_note_unlock(m);
  fh_mutex_give(m);
}

/* Releases the lock, waits for fh_cond_wake_all, and takes the lock again. May also return without a wake-up. */
void fh_cond_wait(fh_cond *c, fh_mutex *m);
/* The caller holds the lock that the waiting threads released. */
void fh_cond_wake_all(fh_cond *c);
/* For the child of a fork: the waiting threads do not exist there. */
void fh_cond_reset(fh_cond *c);

/* Runs init() once; a second thread waits until it is done. init() must not use its own once. Declared by FH_ONCE
 * (fork.h). */
typedef struct {
  int32_t done; /* release store under `lock`, acquire load without */
  fh_mutex lock;
} fh_once;
void fh_once_run(fh_once *once, void (*init)(void));
