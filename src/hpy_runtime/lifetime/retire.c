/* Delayed release of replaced HPyGlobal and HPyField values on free-threaded builds.
 *
 * HPy 0.9 passes globals and fields by value: the extension reads the word, then calls the context, which takes a
 * reference. Between the two another thread may replace the value, and releasing it at once would leave the first
 * thread with a dead pointer. No lock of ours can cover the read, so the replaced value is kept until every thread
 * has passed a safe point; a process with one Python thread has nobody to wait for. A garbage collection is one:
 * free-threaded CPython stops all threads for it, and a thread that is in the middle of native code is waited for.
 * What was retired before a collection began can therefore be released after it.
 *
 * The list is guarded by `lock`, held for a few instructions and never around foreign code.
 */
#include "retire.h"

#include "collection.h"
#include "core/platform/fork.h"
#include "layout.h"

enum { COLLECT_AFTER = 4096 }; /* retired references that make us ask for a collection ourselves */

FH_LOCK(lock, "retired", FH_RANK_PLAIN);
static struct {
  PyObject **items;
  size_t n_items, capacity;
  size_t n_condemned; /* the first n were retired before the collection in progress began */
  bool has_callback;  /* the collector calls us */
} retired;

static void release_condemned(void) {
  for (;;) {
    PyObject *o = NULL;
    fh_mutex_lock(&lock);
    if (retired.n_condemned > 0) {
      o = retired.items[--retired.n_condemned];
      retired.items[retired.n_condemned] = retired.items[--retired.n_items];
    }
    fh_mutex_unlock(&lock);
    if (o == NULL) return;
    Py_DecRef(o);
  }
}

/* Called before and after each collection. */
static PyObject *on_collection(PyObject *self, PyObject *args) {
  (void)self;
  if (fhpy_collection_begins(args)) {
    fh_mutex_lock(&lock);
    retired.n_condemned = retired.n_items;
    fh_mutex_unlock(&lock);
  } else {
    release_condemned();
  }
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static PyMethodDef on_collection_def = {"ffi_hpy_release_retired", (void *)on_collection, METH_VARARGS, NULL};

/* Whether the calling thread is the interpreter's only one. The list of threads grows at its head; only its head
 * pointer and our own link are read, so no other thread's memory is touched, and one that is being added has not
 * read anything yet. */
static bool is_only_thread(void) {
  if (fhpy_optional.PyInterpreterState_ThreadHead == NULL || fhpy_optional.PyThreadState_Next == NULL) return false;
  void *self = PyThreadState_Get();
  return fhpy_optional.PyInterpreterState_ThreadHead(PyInterpreterState_Get()) == self &&
         fhpy_optional.PyThreadState_Next(self) == NULL;
}

void fhpy_retire(PyObject *o) {
  if (o == NULL) return;
  if (!fhpy_layout.free_threaded || is_only_thread()) {
    Py_DecRef(o);
    return;
  }
  fh_mutex_lock(&lock);
  if (retired.n_items == retired.capacity) {
    size_t capacity = retired.capacity == 0 ? 64 : 2 * retired.capacity;
    PyObject **items = PyMem_Realloc(retired.items, capacity * sizeof(PyObject *));
    if (items == NULL) { /* keeping the value for good is the only safe thing left */
      fh_mutex_unlock(&lock);
      return;
    }
    retired.items = items;
    retired.capacity = capacity;
  }
  retired.items[retired.n_items++] = o;
  bool install = !retired.has_callback, collect = retired.n_items % COLLECT_AFTER == 0;
  retired.has_callback = true;
  fh_mutex_unlock(&lock);
  /* Failing to reach the collector only means that values live longer. */
  if (install) fhpy_collection_watch(&on_collection_def);
  if (collect) fhpy_collection_run();
}
