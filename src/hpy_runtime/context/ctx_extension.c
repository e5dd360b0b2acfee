/* The private extension of the context (extension.h). */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "extension.h"

#include <time.h>

#include "context.h"
#include "core/platform/fork.h"
#include "descriptor.h"
#include "pypy_text.h"
#include "type_end.h"
#include "watch.h"

static FhpyExtension extension; /* filled once, before the context is given to anybody */

/* Threads that the interpreter did not know and that are inside, and whether any more are let in. Sequentially
 * consistent, the two against each other: either the thread sees the door closed, or threads_close sees the thread. */
static int n_foreign, is_closed;
static _Thread_local int n_of_thread; /* what this thread has added to n_foreign */

/* Other threads that were inside when this process was forked never leave. */
static void forget_other_threads(void) { __atomic_store_n(&n_foreign, n_of_thread, __ATOMIC_SEQ_CST); }
FH_FORK_CHILD(forget_other_threads);

static void count_foreign(int change) {
  n_of_thread += change;
  __atomic_fetch_add(&n_foreign, change, __ATOMIC_SEQ_CST);
}

static int is_finalizing(void) {
#ifdef FHPY_PYPY
  /* cpyext answers attached threads only; acquire: pairs with threads_close */
  if (!PyGILState_Check()) return __atomic_load_n(&is_closed, __ATOMIC_ACQUIRE);
#endif
  if (!Py_IsInitialized()) return 1;
  if (fhpy_optional.Py_IsFinalizing != NULL) return fhpy_optional.Py_IsFinalizing();
  return fhpy_optional._Py_IsFinalizing != NULL ? fhpy_optional._Py_IsFinalizing() : 0;
}

/* The tokens of PyGILState_Ensure are 0 and 1; a thread that the interpreter did not know has FOREIGN added. */
enum { NOT_ATTACHED = -1, WAS_ATTACHED = 2, FOREIGN = 4 };

#ifdef FHPY_PYPY
static int ensure_foreign(void) { return PyGILState_Ensure(); }
static void release_foreign(int token) { PyGILState_Release(token); }
static void release_known(int token) { PyGILState_Release(token); }
#else
/* A thread state is made under a lock of the interpreter's and without the GIL. Up to 3.11 a child of fork waits for that
 * lock for ever if another thread has it at that moment. So the state is made under a lock of ours, which fork takes. */
FH_LOCK(making_state, "thread states", FH_RANK_PLAIN);
static void *interpreter; /* written once, while importing */

static bool makes_state(void) { return fhpy_layout.minor < 12; }

/* From 3.15 on the interpreter waits for every thread within PyGILState_Ensure before it ends, and a child of fork waits
 * for those of its parent: for ever (interpreter_faults.py, guard_of_threads). Attached by hand they are not waited for,
 * except by threads_close. */
static bool attaches_by_hand(void) { return fhpy_layout.minor >= 15; }

static int ensure_known(void *own) {
  enum { WAS_DETACHED = 1 };
  if (!attaches_by_hand()) return PyGILState_Ensure();
  PyEval_RestoreThread(own);
  return WAS_DETACHED;
}

static void release_known(int token) {
  if (attaches_by_hand())
    (void)PyEval_SaveThread();
  else
    PyGILState_Release(token);
}

static int ensure_foreign(void) {
  if (attaches_by_hand()) {
    void *state = PyThreadState_New(interpreter);
    return state != NULL ? ensure_known(state) : NOT_ATTACHED;
  }
  if (makes_state()) {
    fh_mutex_lock(&making_state);
    (void)PyThreadState_New(interpreter); /* becomes the thread's own */
    fh_mutex_unlock(&making_state);
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
  /* PyGILState counts a state that it did not make once more, so that nobody else takes it for its own. */
  if (makes_state()) PyGILState_Release(STAYS_ATTACHED);
  PyGILState_Release(token);
}
#endif

static int attach_foreign(void) {
  count_foreign(1);
  bool is_open = !__atomic_load_n(&is_closed, __ATOMIC_SEQ_CST) && !is_finalizing();
  int token = is_open ? ensure_foreign() : NOT_ATTACHED;
  if (token != NOT_ATTACHED) return FOREIGN + token;
  count_foreign(-1);
  return NOT_ATTACHED;
}

#ifdef FHPY_PYPY
static _Thread_local bool is_closer; /* this thread called threads_close */

/* Nothing tells a thread of PyPy's from a foreign one: every one that comes in from outside counts as foreign. */
static int thread_attach(void) {
  if (PyGILState_Check()) return WAS_ATTACHED;
  return is_closer ? PyGILState_Ensure() : attach_foreign();
}
static void mark_closer(void) { is_closer = true; }
#else
static void *closer; /* the thread that called threads_close */
static void mark_closer(void) { closer = PyGILState_GetThisThreadState(); }

/* Whether a thread's own state is the one attached on it, up to 3.12. */
static bool is_attached(void *own) {
  return fhpy_optional._PyThreadState_UncheckedGet != NULL && own == fhpy_optional._PyThreadState_UncheckedGet();
}

/* The commonest caller is a callback within a call that kept the GIL: to see that is a third of what Ensure and Release
 * cost. A thread that asks while the interpreter finalizes would be hung or ended by it, so it is not let in. */
static int thread_attach(void) {
  /* From 3.13 on the attached state is the thread's own by definition. */
  if (fhpy_optional.PyThreadState_GetUnchecked != NULL && fhpy_optional.PyThreadState_GetUnchecked() != NULL)
    return WAS_ATTACHED;
  void *own = PyGILState_GetThisThreadState();
  if (own == NULL) return attach_foreign();
  if (is_attached(own)) return WAS_ATTACHED;
  if ((__atomic_load_n(&is_closed, __ATOMIC_ACQUIRE) && own != closer) || is_finalizing()) return NOT_ATTACHED;
  return ensure_known(own);
}
#endif

static void thread_detach(int token) {
  if (token == NOT_ATTACHED || token == WAS_ATTACHED) return;
  if (token < FOREIGN) {
    release_known(token);
    return;
  }
  release_foreign(token - FOREIGN);
  count_foreign(-1);
}

static void threads_close(void) {
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  mark_closer();
  __atomic_store_n(&is_closed, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&n_foreign, __ATOMIC_SEQ_CST) == 0) return;
  void *state = PyEval_SaveThread();
  for (int i = 0; i < TRIES && __atomic_load_n(&n_foreign, __ATOMIC_SEQ_CST) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
  PyEval_RestoreThread(state);
}

static HPy error_take(HPyContext *ctx) {
  (void)ctx;
  if (fhpy_optional.PyErr_GetRaisedException != NULL) return to_hpy(fhpy_optional.PyErr_GetRaisedException());
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == NULL) return HPy_NULL;
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != NULL) PyException_SetTraceback(value, traceback);
  Py_DecRef(type), Py_DecRef(traceback);
  return to_hpy(value);
}

static void error_restore(HPyContext *ctx, HPy exception) {
  (void)ctx;
  PyObject *value = to_py(exception);
  Py_IncRef(value);
  if (fhpy_optional.PyErr_SetRaisedException != NULL) {
    fhpy_optional.PyErr_SetRaisedException(value);
    return;
  }
  Py_IncRef(type_of(value));
  PyErr_Restore(type_of(value), value, PyException_GetTraceback(value));
}

static int refcount_defer(HPyContext *ctx, HPy h) { return (void)ctx, defer_references(to_py(h)); }

static HPy method_new(HPyContext *ctx, HPy callable, HPy name, HPy qualname, HPy doc) {
  (void)ctx;
  return to_hpy(fhpy_descriptor_new_method(to_py(callable), to_py(name), to_py(qualname), to_py(doc)));
}

static int type_watch(HPy type, void (*ended)(intptr_t word)) {
  return is_finalizing() ? 0 : fhpy_type_end_watch(to_py(type), ended);
}

#ifdef FHPY_PYPY
static void text_class_made(HPy type) { fhpy_pypy_text_free_with(to_py(type)); }
#endif

static void reference_watch(HPy h) { fhpy_watch(to_py(h)); }
#ifndef FHPY_PYPY
static HPy text_new(const char *data, HPy_ssize_t byte_len) {
  return to_hpy(PyUnicode_DecodeUTF8(data, byte_len, "replace"));
}
#endif
static int reference_try(HPy h) { return fhpy_watch_try(to_py(h)); }

/* The copy lives as long as the process: the descriptor points into it and does not say when it ends. */
static HPy getset_new(HPyContext *ctx, HPy type, const FhpyGetSet *def) {
  (void)ctx;
  if (!is_type(to_py(type))) {
    PyErr_Format(PyExc_TypeError, "getset_new expects a type, got %R", to_py(type));
    return HPy_NULL;
  }
  PyGetSetDef *copy = PyMem_Malloc(sizeof(PyGetSetDef));
  if (copy == NULL) return to_hpy(PyErr_NoMemory());
  *copy = (PyGetSetDef){def->name, (void *)def->get, (void *)def->set, def->doc, def->closure};
  PyObject *descriptor = PyDescr_NewGetSet(to_py(type), copy);
  if (descriptor == NULL) PyMem_Free(copy);
  return to_hpy(descriptor);
}

void fhpy_extension_fill(HPyContext *ctx) {
#ifndef FHPY_PYPY
  interpreter = PyInterpreterState_Get();
#endif
  extension = (FhpyExtension){
      .magic = FHPY_EXTENSION_MAGIC,
      .version = FHPY_EXTENSION_VERSION,
      .byte_size = sizeof(FhpyExtension),
      .type_offset = fhpy_layout.type_offset,
      .data_offset = fhpy_layout.data_offset[HPyType_BuiltinShape_Object],
      .free_threaded = fhpy_layout.free_threaded,
      .thread_attach = thread_attach,
      .thread_detach = thread_detach,
      .is_finalizing = is_finalizing,
      .threads_close = threads_close,
      .error_take = error_take,
      .error_restore = error_restore,
      .refcount_defer = refcount_defer,
      .getset_new = getset_new,
      .defers_refcounts = can_defer_references(),
      .reference_watch = fhpy_watch_is_possible() ? reference_watch : NULL,
      .reference_try = fhpy_watch_is_possible() ? reference_try : NULL,
      .method_new = fhpy_descriptor_is_possible() ? method_new : NULL,
#ifndef FHPY_PYPY /* cpyext's decoder ends the process on malformed text */
      .text_new = text_new,
#endif
      .tuple_items = fhpy_layout.tuple_items,
      .type_watch = type_watch,
#ifdef FHPY_PYPY
      .text_class_made = text_class_made,
#endif
  };
  ctx->_private = &extension;
}
