/* Deferred decref of replaced HPyGlobal and HPyField values on free-threaded builds.
 *
 * HPy 0.9 passes globals and fields by value: the extension reads the word, then calls the context, which takes a
 * reference. Between the two another thread may replace the value; releasing it at once would leave the first thread
 * with a dangling pointer. The read is compiled into the extension, so no lock can cover it. The replaced value is
 * therefore kept until no thread can still be between its read and its call.
 *
 * A garbage collection marks that moment: free-threaded CPython stops all threads for it, and waits for a thread that
 * is in the middle of native code. Values that were retired before a collection began are released after it. A process
 * with one Python thread has no other thread to wait for, and releases at once. */
#include "retire.h"

#include <stdlib.h>

#include "collection.h"
#include "core/platform/fork.h"
#include "hpy_runtime/abi/layout.h"
#include "hpy_runtime/abi/optional.h"

enum { COLLECT_AFTER = 4096 }; /* after this many retired references, this file asks for a collection itself */

/* Guards `retired`. Only realloc is called under it. */
FH_LOCK(retired_lock, "retired", FH_RANK_PLAIN);
static struct {
  PyObject **items;
  size_t n_items, capacity;
  size_t n_condemned; /* the first n were retired before the collection in progress began */
  bool has_callback;  /* the collector calls on_collection */
} retired;

/* Releases the condemned references one by one, because a release may run Python code, which may retire more. The last
 * item of the list moves to the free position. */
static void release_condemned(void) {
  for (;;) {
    PyObject *o = NULL;
    fh_mutex_lock(&retired_lock);
    if (retired.n_condemned > 0) {
      o = retired.items[--retired.n_condemned];
      retired.items[retired.n_condemned] = retired.items[--retired.n_items];
    }
    fh_mutex_unlock(&retired_lock);
    if (o == NULL) return;
    Py_DecRef(o);
  }
}

/* Called before and after each collection. */
static PyObject *on_collection(PyObject *self, PyObject *args) {
  (void)self;
  if (fhpy_collection_begins(args)) {
    fh_mutex_lock(&retired_lock);
    retired.n_condemned = retired.n_items;
    fh_mutex_unlock(&retired_lock);
  } else {
    release_condemned();
  }
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static PyMethodDef on_collection_def = {"ffi_hpy_release_retired", (void *)on_collection, METH_VARARGS, NULL};

/* Whether the calling thread is the interpreter's only thread. The list of threads grows at its head. Only the head
 * pointer and this thread's own link are read, so no other thread's memory is touched; a thread that is just being
 * added has not read a field or global yet. */
static bool is_only_thread(void) {
  if (fhpy_optional.PyInterpreterState_ThreadHead == NULL || fhpy_optional.PyThreadState_Next == NULL) return false;
  void *self = PyThreadState_Get();
  return fhpy_optional.PyInterpreterState_ThreadHead(PyInterpreterState_Get()) == self &&
         fhpy_optional.PyThreadState_Next(self) == NULL;
}

void fhpy_retire_release(PyObject *o) {
  if (o == NULL) return;
  if (!fhpy_layout.free_threaded || is_only_thread()) {
    Py_DecRef(o);
    return;
  }
  fh_mutex_lock(&retired_lock);
  if (retired.n_items == retired.capacity) {
    size_t capacity = retired.capacity == 0 ? 64 : 2 * retired.capacity;
    PyObject **items = realloc(retired.items, capacity * sizeof(PyObject *));
    if (items == NULL) { /* leaking the value is the only safe choice */
      fh_mutex_unlock(&retired_lock);
      return;
    }
    retired.items = items;
    retired.capacity = capacity;
  }
  retired.items[retired.n_items++] = o;
  bool is_first = !retired.has_callback, is_full = retired.n_items % COLLECT_AFTER == 0;
  retired.has_callback = true;
  fh_mutex_unlock(&retired_lock);
  /* If the callback cannot be registered, values only live longer. */
  if (is_first) fhpy_collection_watch(&on_collection_def);
  if (is_full) fhpy_collection_run();
}
