/* Native threads: attaches threads that the interpreter did not create, and refuses them during finalization.
 *
 * A thread is known if the interpreter has a thread state for it, otherwise foreign. Foreign threads are counted while
 * they are attached, so that fhpy_threads_close can wait for them. */
#include "threads.h"

#include <stdbool.h>

#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/api/extension.h"

/* The number of attached foreign threads, and whether further threads are refused. A thread counts itself and then
 * checks is_closed; fhpy_threads_close sets is_closed and then checks the count. Both words are sequentially
 * consistent, so either the thread sees that it is too late, or fhpy_threads_close sees the thread. */
static uint64_t n_foreign, is_closed;
static _Thread_local uint64_t n_of_thread; /* this thread's share of n_foreign */

/* In the child of a fork, the other threads that were attached do not exist and never detach. */
static void forget_other_threads(void) { fh_atomic_store_seq_cst_u64(&n_foreign, n_of_thread); }
FH_FORK_CHILD(forget_other_threads);

/* `change` is 1 or -1; unsigned addition wraps around. */
static void count_foreign(int change) {
  n_of_thread += (uint64_t)change;
  fh_atomic_add_seq_cst_u64(&n_foreign, (uint64_t)change);
}

int fhpy_threads_is_finalizing(void) {
#ifdef FHPY_PYPY
  /* cpyext answers only on attached threads; acquire: pairs with fhpy_threads_close */
  if (!PyGILState_Check()) return fh_atomic_load_acquire_u64(&is_closed);
#endif
  /* True from the moment when Py_IsInitialized returns 0, and also after finalization. */
  if (fhpy_optional.Py_IsFinalizing != NULL) return fhpy_optional.Py_IsFinalizing();
  if (fhpy_optional._Py_IsFinalizing != NULL) return fhpy_optional._Py_IsFinalizing();
  return !Py_IsInitialized();
}

/* The tokens of PyGILState_Ensure are 0 and 1; 1 means that the thread was not attached. FOREIGN is added for a thread
 * that the interpreter did not know. */
enum { NOT_ATTACHED = -1, WAS_DETACHED = 1, WAS_ATTACHED = 2, FOREIGN = 4 };

#ifdef FHPY_PYPY
static int ensure_foreign(void) { return PyGILState_Ensure(); }
static void release_foreign(int token) { PyGILState_Release(token); }
static void release_known(int token) { PyGILState_Release(token); }
#else
/* Making a thread state takes a lock of the interpreter, without the GIL. Up to 3.11 a child of fork waits forever for
 * that lock if another thread held it during the fork. Therefore states are made under states_lock, which a fork takes,
 * too. */
FH_LOCK(states_lock, "thread states", FH_RANK_PLAIN);
static void *interpreter; /* the main interpreter; written once, during the import */

static bool makes_state(void) { return fhpy_layout.minor < 12; }

/* From 3.15 on an interpreter waits during finalization for every thread that PyGILState_Ensure has attached. A child
 * of fork would wait forever for the threads of its parent (interpreter_faults.py, guard_of_threads). For a thread that
 * is attached by hand, only fhpy_threads_close waits. */
static bool attaches_by_hand(void) { return fhpy_layout.minor >= 15; }

/* The effect of PyGILState_Release for a thread with its own state, without the lookup of that state. */
static void release_known(FH_MAYBE_UNUSED int token) { (void)PyEval_SaveThread(); }

static int ensure_foreign(void) {
  if (attaches_by_hand()) {
    void *state = PyThreadState_New(interpreter);
    if (state == NULL) return NOT_ATTACHED;
    PyEval_RestoreThread(state);
    return WAS_DETACHED;
  }
  if (makes_state()) {
    fh_mutex_lock(&states_lock);
    (void)PyThreadState_New(interpreter); /* PyGILState_Ensure finds it as the thread's own state */
    fh_mutex_unlock(&states_lock);
  }
  return PyGILState_Ensure();
}

static void release_foreign(int token) {
  enum { STAYS_ATTACHED = 0 };
  if (attaches_by_hand()) {
    PyThreadState_Clear(PyThreadState_Get());
    PyThreadState_DeleteCurrent();
    return;
  }
  /* PyGILState adds one to the count of a state that it did not make, so that it never deletes the state. This call
   * removes that count. */
  if (makes_state()) PyGILState_Release(STAYS_ATTACHED);
  PyGILState_Release(token);
}
#endif

/* Attaches a foreign thread. Returns the token, or NOT_ATTACHED if threads are refused. */
static int attach_foreign(void) {
  count_foreign(1);
  bool is_open = !fh_atomic_load_seq_cst_u64(&is_closed) && !fhpy_threads_is_finalizing();
  int token = is_open ? ensure_foreign() : NOT_ATTACHED;
  if (token != NOT_ATTACHED) return FOREIGN + token;
  count_foreign(-1);
  return NOT_ATTACHED;
}

#ifdef FHPY_PYPY
static _Thread_local bool is_closer; /* this thread called fhpy_threads_close */

/* On PyPy a detached thread of the interpreter is indistinguishable from a foreign thread, so every detached thread
 * counts as foreign. */
int fhpy_threads_state(FH_MAYBE_UNUSED void **state) {
  return PyGILState_Check() ? FHPY_THREAD_ATTACHED : FHPY_THREAD_OTHER;
}

int fhpy_threads_attach(void) {
  if (PyGILState_Check()) return WAS_ATTACHED;
  return is_closer ? PyGILState_Ensure() : attach_foreign();
}
static void mark_closer(void) { is_closer = true; }
#else
static void *closer; /* the thread state of the caller of fhpy_threads_close */
static void mark_closer(void) { closer = PyGILState_GetThisThreadState(); }

/* Whether a thread's own state is the attached one, up to 3.12. */
static bool is_attached(void *own) {
  return fhpy_optional._PyThreadState_UncheckedGet != NULL && own == fhpy_optional._PyThreadState_UncheckedGet();
}

/* The most frequent caller is a callback within a call. Checking that a thread is attached costs a third of Ensure and
 * Release. During finalization no thread is attached, because the interpreter would block or end it. */
int fhpy_threads_state(void **state) {
  /* From 3.13 on the attached state is the thread's own by definition. */
  if (fhpy_optional.PyThreadState_GetUnchecked != NULL && fhpy_optional.PyThreadState_GetUnchecked() != NULL)
    return FHPY_THREAD_ATTACHED;
  void *own = PyGILState_GetThisThreadState();
  if (own == NULL) return FHPY_THREAD_OTHER;
  if (is_attached(own)) return FHPY_THREAD_ATTACHED;
  if ((fh_atomic_load_acquire_u64(&is_closed) && own != closer) || fhpy_threads_is_finalizing()) {
    return FHPY_THREAD_OTHER; /* attach_foreign refuses the thread */
  }
  *state = own;
  return FHPY_THREAD_DETACHED;
}

int fhpy_threads_attach(void) {
  void *own = NULL;
  switch (fhpy_threads_state(&own)) {
  case FHPY_THREAD_ATTACHED: return WAS_ATTACHED;
  case FHPY_THREAD_DETACHED: PyEval_RestoreThread(own); return WAS_DETACHED;
  default: return attach_foreign();
  }
}
#endif

__attribute__((visibility("hidden"))) fh_unwind_function fhpy_threads_unwound;
int fhpy_threads_unwound(int version, int actions, uint64_t class_of_exception, void *exception, void *context) {
  (void)version, (void)class_of_exception, (void)exception, (void)context;
  return fh_unwind_answer(actions, fhpy_threads_is_finalizing());
}

/* The mark comes last, so that the call is not a tail call. */
void fhpy_threads_reenter(void *state) {
  PyEval_RestoreThread(state);
  FH_UNWIND_MARK(fhpy_threads_unwound);
}

void fhpy_threads_detach(int token) {
  if (token == NOT_ATTACHED || token == WAS_ATTACHED) return;
  if (token < FOREIGN) {
    release_known(token);
    return;
  }
  release_foreign(token - FOREIGN);
  count_foreign(-1);
}

/* Waits for foreign threads, about a second at most. The function polls, because a condition variable of sync.h has no
 * timeout. */
void fhpy_threads_close(void) {
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  mark_closer();
  fh_atomic_store_seq_cst_u64(&is_closed, 1);
  if (fh_atomic_load_seq_cst_u64(&n_foreign) == 0) return;
  void *state = PyEval_SaveThread();
  for (int i = 0; i < TRIES && fh_atomic_load_seq_cst_u64(&n_foreign) != 0; ++i) fh_clock_sleep(NANOSECONDS);
  PyEval_RestoreThread(state);
}

void fhpy_threads_measure(void) {
#ifndef FHPY_PYPY
  interpreter = PyInterpreterState_Get();
#endif
}
