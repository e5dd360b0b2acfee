/* sync.h - mutex, condition, once, and a thread-local pointer with an end; the only user of the threads library.
 *
 * FH_THREAD_LOCAL (base.h) is the fast way to thread-local plain data. What must be freed when a thread ends goes
 * through fh_tls as well. Locks are static, named in README.md, and never held while foreign code runs. */
#ifndef FH_SYNC_H_
#define FH_SYNC_H_

#include "base.h"

/* The test build counts the locks that a thread holds; whatever is about to run foreign code says so by
 * fh_sync_check_unlocked, which ends the process when there is one. Elsewhere both are nothing. */
#ifdef FH_TEST
extern FH_THREAD_LOCAL int fh_sync_n_held;
void fh_sync_fail_locked(const char *what);
static inline void fh_sync_count_lock(int change) { fh_sync_n_held += change; }
static inline void fh_sync_check_unlocked(const char *what) {
  if (FH_UNLIKELY(fh_sync_n_held != 0)) fh_sync_fail_locked(what);
}
#else
static inline void fh_sync_count_lock(int change) { FH_UNUSED(change); }
static inline void fh_sync_check_unlocked(const char *what) { FH_UNUSED(what); }
#endif

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

typedef struct {
  SRWLOCK lock;
} fh_mutex;
#define FH_MUTEX_INIT {SRWLOCK_INIT}
static inline void fh_mutex_lock(fh_mutex *m) {
  AcquireSRWLockExclusive(&m->lock);
  fh_sync_count_lock(1);
}
static inline void fh_mutex_unlock(fh_mutex *m) {
  fh_sync_count_lock(-1);
  ReleaseSRWLockExclusive(&m->lock);
}

typedef struct {
  CONDITION_VARIABLE cond;
} fh_cond;
#define FH_COND_INIT {CONDITION_VARIABLE_INIT}
static inline void fh_cond_wait(fh_cond *c, fh_mutex *m) { SleepConditionVariableSRW(&c->cond, &m->lock, INFINITE, 0); }
static inline void fh_cond_wake_all(fh_cond *c) { WakeAllConditionVariable(&c->cond); }

typedef struct {
  DWORD index;
} fh_tls;
#define FH_TLS_CALLBACK WINAPI
static inline int fh_tls_new(fh_tls *tls, void(FH_TLS_CALLBACK *at_thread_end)(void *)) {
  tls->index = FlsAlloc(at_thread_end);
  return tls->index == FLS_OUT_OF_INDEXES ? -1 : 0;
}
static inline int fh_tls_set(fh_tls *tls, void *value) { return FlsSetValue(tls->index, value) ? 0 : -1; }
static inline void *fh_tls_get(fh_tls *tls) { return FlsGetValue(tls->index); }
static inline uint64_t fh_thread_id(void) { return GetCurrentThreadId(); }
static inline void fh_thread_yield(void) { SwitchToThread(); }

#else
#include <pthread.h>
#include <sched.h>

typedef struct {
  pthread_mutex_t lock;
} fh_mutex;
#define FH_MUTEX_INIT {PTHREAD_MUTEX_INITIALIZER}
static inline void fh_mutex_lock(fh_mutex *m) {
  (void)pthread_mutex_lock(&m->lock);
  fh_sync_count_lock(1);
}
static inline void fh_mutex_unlock(fh_mutex *m) {
  fh_sync_count_lock(-1);
  (void)pthread_mutex_unlock(&m->lock);
}

typedef struct {
  pthread_cond_t cond;
} fh_cond;
#define FH_COND_INIT {PTHREAD_COND_INITIALIZER}
static inline void fh_cond_wait(fh_cond *c, fh_mutex *m) { (void)pthread_cond_wait(&c->cond, &m->lock); }
static inline void fh_cond_wake_all(fh_cond *c) { (void)pthread_cond_broadcast(&c->cond); }

/* One pointer per thread. at_thread_end(value) runs when a thread ends that has set a non-NULL one; it may set it anew,
 * and is then called again. fh_tls_new and fh_tls_set return 0, or -1 without resources and nothing pending. */
typedef struct {
  pthread_key_t key;
} fh_tls;
#define FH_TLS_CALLBACK
static inline int fh_tls_new(fh_tls *tls, void (*at_thread_end)(void *)) {
  return pthread_key_create(&tls->key, at_thread_end) == 0 ? 0 : -1;
}
static inline int fh_tls_set(fh_tls *tls, void *value) { return pthread_setspecific(tls->key, value) == 0 ? 0 : -1; }
static inline void *fh_tls_get(fh_tls *tls) { return pthread_getspecific(tls->key); }

/* Distinct among the threads that live at the same time; never 0. */
static inline uint64_t fh_thread_id(void) {
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__) && FH_HAS_BUILTIN(__builtin_thread_pointer)
  return (uint64_t)(uintptr_t)__builtin_thread_pointer(); /* one instruction */
#else
  static FH_THREAD_LOCAL char mark;
  return (uint64_t)(uintptr_t)&mark;
#endif
}
static inline void fh_thread_yield(void) { (void)sched_yield(); }
#endif

/* Runs init() once; who comes second waits until it is done. init() must not come back to the same once. */
typedef struct {
  int32_t done; /* release store under `lock`, acquire load without */
  fh_mutex lock;
} fh_once;
#define FH_ONCE_INIT {0, FH_MUTEX_INIT}
void fh_once_run(fh_once *once, void (*init)(void));

#endif /* FH_SYNC_H_ */
