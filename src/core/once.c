/* once.c - handles that are made at first use: TVMFFIHandleInitOnce and its counterpart.
 *
 * The lock `once` guards only the list of initialisations in progress. No lock is held while init runs; threads that
 * want the same handle wait on a condition. */
#include "atomic.h"
#include "error.h"
#include "fork.h"

/* One initialisation in progress; lives on its thread's stack. */
typedef struct in_progress {
  void **handle;
  uint64_t thread;
  struct in_progress *next;
} in_progress;

FH_LOCK(once_lock, "once", FH_RANK_PLAIN);
static fh_cond once_done = FH_COND_INIT; /* some initialisation has ended */
static in_progress *all_in_progress;     /* under once_lock */

static in_progress *find(void **handle) {
  in_progress *at = all_in_progress;
  while (at != NULL && at->handle != handle) at = at->next;
  return at;
}

/* Initialisations of threads that the child of a fork has not never end there: who needs the handle begins anew. */
static void forget_other_threads(void) {
  uint64_t mine = fh_thread_id();
  for (in_progress **at = &all_in_progress; *at != NULL;) {
    if ((*at)->thread == mine) {
      at = &(*at)->next;
    } else {
      *at = (*at)->next;
    }
  }
  fh_cond_reset(&once_done);
}
FH_FORK_CHILD(forget_other_threads);

typedef enum { TURN_INIT, TURN_DONE, TURN_RECURSION } turn;

/* Waits until the handle is filled, or it is this thread's turn to fill it: then `mine` is in the list. */
static turn take_turn(void **handle, in_progress *mine) {
  turn result = TURN_INIT;
  fh_mutex_lock(&once_lock);
  for (in_progress *other; (other = find(handle)) != NULL;) {
    if (other->thread == mine->thread) {
      result = TURN_RECURSION;
      break;
    }
    fh_cond_wait(&once_done, &once_lock);
  }
  /* acquire: pairs with the release store in TVMFFIHandleInitOnce */
  if (result == TURN_INIT && fh_atomic_load_acquire_ptr(handle) != NULL) result = TURN_DONE;
  if (result == TURN_INIT) {
    mine->next = all_in_progress;
    all_in_progress = mine;
  }
  fh_mutex_unlock(&once_lock);
  return result;
}

static void end_turn(in_progress *mine) {
  fh_mutex_lock(&once_lock);
  in_progress **at = &all_in_progress;
  while (*at != mine) at = &(*at)->next;
  *at = mine->next;
  fh_cond_wake_all(&once_done);
  fh_mutex_unlock(&once_lock);
}

int TVMFFIHandleInitOnce(void **handle_addr, int (*init_func)(void **result)) {
  /* acquire: pairs with the release store below, so that what init_func wrote is seen */
  if (fh_atomic_load_acquire_ptr(handle_addr) != NULL) return 0;
  in_progress mine = {handle_addr, fh_thread_id(), NULL};
  switch (take_turn(handle_addr, &mine)) {
  case TURN_DONE: return 0;
  case TURN_RECURSION:
    return fh_error_raise(FH_RUNTIME_ERROR, "The init function of a handle asked for the same handle");
  case TURN_INIT: break;
  }
  void *made = NULL;
  fh_sync_check_unlocked("the init function of a handle");
  int result = init_func(&made);
  if (result == 0 && made != NULL) {
    fh_atomic_store_release_ptr(handle_addr, made); /* pairs with the acquire loads above and in take_turn */
  }
  end_turn(&mine);
  if (result == 0 && made == NULL) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected the init function to return a handle but got NULL");
  }
  return result;
}

int TVMFFIHandleDeinitOnce(void **handle_addr, int (*deinit_func)(void *handle)) {
  /* acquire and release: pairs with the release store in TVMFFIHandleInitOnce, and with a later acquire load there */
  void *handle = fh_atomic_exchange_acq_rel_ptr(handle_addr, NULL);
  fh_sync_check_unlocked("the deinit function of a handle");
  return handle != NULL ? deinit_func(handle) : 0;
}
