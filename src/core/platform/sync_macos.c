/* sync_macos.c - conditions on macOS; sync.h has its locks inline. Empty elsewhere. */
#include "sync.h"

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
