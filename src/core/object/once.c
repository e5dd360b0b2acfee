/* once.c - handles that are initialised at first use: TVMFFIHandleInitOnce and its counterpart.
 *
 * The lock `once` guards only the list of initialisations in progress. No lock is held while an init function runs;
 * threads that need a handle in progress wait on a condition. Two init functions may need each other's handles. The
 * thread that would close such a cycle of waiting threads gets an error instead. */
#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "error.h"

/* One initialisation in progress; lives on its thread's stack. */
typedef struct in_progress {
  void **handle;   /* the address that identifies the handle */
  uint64_t thread; /* fh_thread_id of the thread that runs the init function */
  void **wanted;   /* the handle that the thread waits for: set in its innermost entry only; else NULL */
  struct in_progress *next;
} in_progress;

FH_LOCK(once_lock, "once", FH_RANK_PLAIN);
static fh_cond once_done = FH_COND_INIT; /* signalled when an initialisation has ended */
/* Under once_lock; the latest first, so a thread's innermost entry comes before its others. */
static in_progress *all_in_progress;

/* Under the lock. The initialisation of that handle; NULL if none is in progress. */
static in_progress *find_in_progress(void **handle) {
  in_progress *at = all_in_progress;
  while (at != NULL && at->handle != handle) at = at->next;
  return at;
}

/* The child of a fork does not have the threads that were initialising. The entries of these threads are removed, so
 * that the next thread that needs such a handle initialises it instead of waiting forever. */
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

/* Under the lock. The latest initialisation that the thread has begun and not ended; NULL if there is none. */
static in_progress *innermost(uint64_t thread) {
  in_progress *at = all_in_progress;
  while (at != NULL && at->thread != thread) at = at->next;
  return at;
}

/* Under the lock. The number of threads that would wait for one another in a cycle if this thread waited for the
 * handle: 0 without a cycle, 1 if this thread is initialising the handle. The search ends, because threads that wait
 * already do not form a cycle. */
static int count_cycle(void **handle, uint64_t thread) {
  int n_threads = 1;
  for (; handle != NULL; ++n_threads) {
    const in_progress *other = find_in_progress(handle);
    if (other == NULL) return 0;
    if (other->thread == thread) return n_threads;
    handle = innermost(other->thread)->wanted;
  }
  return 0;
}

typedef enum { TURN_INIT, TURN_DONE, TURN_CYCLE } turn;

/* Waits until the handle is filled, or it is this thread's turn to fill it: then `mine` is in the list. For TURN_CYCLE
 * *n_threads is the size of the cycle. */
static turn take_turn(void **handle, in_progress *mine, int *n_threads) {
  turn result = TURN_INIT;
  fh_mutex_lock(&once_lock);
  /* A thread that is not initialising a handle needs no entry to wait: no thread can wait for it. */
  in_progress *outer = innermost(mine->thread);
  /* again after each wait: the initialisation may have failed, and another thread may have begun */
  while (find_in_progress(handle) != NULL) {
    if ((*n_threads = count_cycle(handle, mine->thread)) != 0) {
      result = TURN_CYCLE;
      break;
    }
    if (outer != NULL) outer->wanted = handle;
    fh_cond_wait(&once_done, &once_lock);
    if (outer != NULL) outer->wanted = NULL;
  }
  /* Checked again under the lock: an earlier thread has stored the handle before its entry was removed from the list.
   * acquire: pairs with the release store in TVMFFIHandleInitOnce */
  if (result == TURN_INIT && fh_atomic_load_acquire_ptr(handle) != NULL) result = TURN_DONE;
  if (result == TURN_INIT) {
    mine->next = all_in_progress;
    all_in_progress = mine;
  }
  fh_mutex_unlock(&once_lock);
  return result;
}

/* Removes `mine`, which belongs to this thread, from the list, and wakes all threads that wait for any handle: they
 * check again. */
static void end_turn(in_progress *mine) {
  fh_mutex_lock(&once_lock);
  in_progress **at = &all_in_progress;
  while (*at != mine) at = &(*at)->next;
  *at = mine->next;
  fh_cond_wake_all(&once_done);
  fh_mutex_unlock(&once_lock);
}

static int raise_cycle(int n_threads) {
  if (n_threads == 1) {
    return fh_error_raise(FH_RUNTIME_ERROR, "The init function of a handle asked for the same handle");
  }
  return fh_error_raise(
      FH_RUNTIME_ERROR,
      "The init functions of handles on %d threads ask for one another's handles: none could ever end", n_threads);
}

int TVMFFIHandleInitOnce(void **handle_addr, int (*init_func)(void **result)) {
  /* acquire: pairs with the release store below, so that the writes of init_func are visible */
  if (fh_atomic_load_acquire_ptr(handle_addr) != NULL) return 0;
  in_progress mine = {handle_addr, fh_thread_id(), NULL, NULL};
  int n_threads;
  switch (take_turn(handle_addr, &mine, &n_threads)) {
  case TURN_DONE: return 0;
  case TURN_CYCLE: return raise_cycle(n_threads);
  case TURN_INIT: break;
  }
  void *made = NULL;
  fh_sync_check_unlocked("the init function of a handle");
  int result = init_func(&made);
  if (result == 0 && made != NULL) { /* stored before end_turn, so that a thread that waited finds the handle filled */
    fh_atomic_store_release_ptr(handle_addr, made); /* pairs with the acquire loads above and in take_turn */
  }
  end_turn(&mine); /* after a failure, too: a thread that waits then makes its own attempt */
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
