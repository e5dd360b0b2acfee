/* The garbage collector, through the module gc: gc.callbacks, gc.collect(), and the functions that enable and disable
 * it. */
#include "collection.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_runtime/abi/layout.h"

/* Returns gc.<name>, or NULL with an exception raised. */
static PyObject *get_gc_attribute(const char *name) {
  PyObject *gc = PyImport_ImportModule("gc");
  PyObject *found = gc != NULL ? PyObject_GetAttrString(gc, name) : NULL;
  Py_DecRef(gc);
  return found;
}

/* Registers a METH_VARARGS function that the interpreter calls before and after each collection. *def must stay valid.
 * Returns whether it will be called. Never raises, and preserves a raised exception. */
static bool watch_collections(PyMethodDef *def) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *function = PyCFunction_NewEx(def, NULL, NULL);
  PyObject *callbacks = function != NULL ? get_gc_attribute("callbacks") : NULL;
  bool is_watched = callbacks != NULL && PyList_Append(callbacks, function) == 0;
  Py_DecRef(callbacks), Py_DecRef(function);
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  return is_watched;
}

/* For such a function: returns true if a collection begins, false if it has ended. */
static bool is_beginning(PyObject *args) {
  PyObject *phase = PyTuple_GetItem(args, 0); /* "start" or "stop" */
  const char *text = phase != NULL ? PyUnicode_AsUTF8AndSize(phase, NULL) : NULL;
  if (text == NULL) PyErr_Clear();
  return text != NULL && text[0] == 's' && text[1] == 't' && text[2] == 'a';
}

/* Returns the oldest generation that is collected; without a GIL there is one only, 2. */
static int get_generation(PyObject *args) {
  enum { OLDEST = 2 };
  PyObject *info = PyTuple_GetItem(args, 1), *key = info != NULL ? PyUnicode_FromString("generation") : NULL;
  PyObject *found = key != NULL ? PyObject_GetItem(info, key) : NULL;
  Py_ssize_t generation = found != NULL ? PyLong_AsSsize_t(found) : -1;
  Py_DecRef(key), Py_DecRef(found);
  if (generation < 0) PyErr_Clear();
  return generation < 0 || generation > OLDEST || fhpy_layout.free_threaded ? OLDEST : (int)generation;
}

enum { MAX_FOLLOWERS = 2 };

static fhpy_collection_note followers[MAX_FOLLOWERS]; /* NULL: not used yet */
static uint32_t n_followers;

static PyObject *tell_followers(FH_MAYBE_UNUSED PyObject *self, PyObject *args) {
  int begins = is_beginning(args), generation = get_generation(args);
  for (int i = 0; i < MAX_FOLLOWERS; ++i) {
    fhpy_collection_note note = followers[i];
    if (note != NULL) note(begins, generation);
  }
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

int fhpy_collection_follow(fhpy_collection_note note) {
  static PyMethodDef def = {"ffi_hpy_follow_collection", (void *)tell_followers, METH_VARARGS, NULL};
  static bool is_called; /* written by the first call, during the import */
  uint32_t number = fh_atomic_add_relaxed(&n_followers, 1);
  if (number >= MAX_FOLLOWERS) return 0;
  followers[number] = note;
  if (number == 0) is_called = watch_collections(&def);
  return is_called;
}

int fhpy_collection_call(const char *name) {
  PyObject *function = get_gc_attribute(name);
  PyObject *result = function != NULL ? PyObject_CallObject(function, NULL) : NULL;
  int rc = result != NULL ? PyObject_IsTrue(result) : -1;
  Py_DecRef(result), Py_DecRef(function);
  return rc;
}

/* Runs a full collection. May run any Python code; never raises. */
static void collect_all(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  (void)fhpy_collection_call("collect");
  PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}

/* --- deferred decref --------------------------------------------------------------------------------------------- */

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

enum { COLLECT_AFTER = 4096 }; /* after this many retired references, this file asks for a collection itself */

/* Guards `retired`. Only realloc is called under it. */
FH_LOCK(retired_lock, "retired", FH_RANK_PLAIN);
static struct {
  PyObject **items;
  size_t n_items, capacity;
  size_t n_condemned; /* the first n were retired before the collection in progress began */
  bool has_callback;  /* the collector calls release_retired */
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
static PyObject *release_retired(FH_MAYBE_UNUSED PyObject *self, PyObject *args) {
  if (is_beginning(args)) {
    fh_mutex_lock(&retired_lock);
    retired.n_condemned = retired.n_items;
    fh_mutex_unlock(&retired_lock);
  } else {
    release_condemned();
  }
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static PyMethodDef release_retired_def = {"ffi_hpy_release_retired", (void *)release_retired, METH_VARARGS, NULL};

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
  if (is_first) watch_collections(&release_retired_def);
  if (is_full) collect_all();
}

/* --- freed types ------------------------------------------------------------------------------------------------- */

/* Notification when types are freed. */

/* An fhpy_type_ended, the same at each call. Release and acquire are stronger than needed: the thread that frees a type
 * got the type from the thread that watched it, which orders the two. */
static void *ended_function;

#ifndef FHPY_PYPY

/* CPython: a weak reference with a callback.
 *
 * The weak reference owns itself, and its callback releases it. The interpreter calls callbacks before it frees the
 * type, with one exception: a weak reference that a finalizer makes during a collection, to a type that the same
 * collection frees, is cleared without a call. Therefore no type is watched during a collection, or during
 * finalization, in which the interpreter collects without notification. A thread that finds the flag unset has had the
 * type since before the collection, so that collection does not free the type. */
extern PyObject *PyWeakref_NewRef(PyObject *, PyObject *);

/* Only finalizers have access to the types that the collection frees, and they run on the thread that sets the flag. So
 * it does not matter when other threads see the flag. */
static int32_t is_collecting;

static PyObject *note_collection(FH_MAYBE_UNUSED PyObject *self, PyObject *args) {
  fh_atomic_store_release_i32(&is_collecting, is_beginning(args));
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/* Whether types can be watched now. The first caller registers note_collection with the collector. Callers before the
 * end of that registration get false. */
static bool is_possible_now(void) {
  static PyMethodDef def = {"ffi_hpy_note_collection", (void *)note_collection, METH_VARARGS, NULL};
  enum { UNKNOWN, ASKED, NOTIFIED };
  static uint64_t state;
  uint64_t expected = UNKNOWN;
  if (fh_atomic_load_relaxed_u64(&state) == UNKNOWN && fh_atomic_cas_acq_rel_u64(&state, &expected, ASKED))
    fh_atomic_store_release_u64(&state, watch_collections(&def) ? NOTIFIED : UNKNOWN);
  /* acquire: pairs with the store above, so that the flag is read after note_collection is registered */
  return fh_atomic_load_acquire_u64(&state) == NOTIFIED && !fh_atomic_load_relaxed_i32(&is_collecting);
}

/* The callback. self: a capsule with the pointer to the type. */
static PyObject *on_end(PyObject *self, PyObject *reference) {
  fhpy_type_ended ended = (fhpy_type_ended)fh_atomic_load_acquire_ptr(&ended_function);
  ended((intptr_t)PyCapsule_GetPointer(self, NULL));
  Py_DecRef(reference); /* its own reference; the calling interpreter has another */
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static bool watch_type(PyObject *type) {
  static PyMethodDef def = {"ffi_hpy_note_end", (void *)on_end, METH_O, NULL};
  if (!is_possible_now()) return false;
  PyObject *address = PyCapsule_New(type, NULL, NULL);
  PyObject *callback = address != NULL ? PyCFunction_NewEx(&def, address, NULL) : NULL;
  PyObject *reference = callback != NULL ? PyWeakref_NewRef(type, callback) : NULL;
  Py_DecRef(callback), Py_DecRef(address);
  if (reference == NULL) PyErr_Clear();
  return reference != NULL;
}

#else

/* PyPy: cpyext gives a type that C code sees a C part, which refers to itself and keeps the type alive for good. The
 * reference taken here only states that. */
static bool watch_type(PyObject *type) {
  Py_IncRef(type);
  return true;
}

#endif

int fhpy_type_end_watch(PyObject *type, fhpy_type_ended ended) {
  if (!type_has_flag(type, TYPE_FLAG_HEAPTYPE)) return 1; /* static types are never freed */
  fh_atomic_store_release_ptr(&ended_function, (void *)ended);
  return watch_type(type);
}
