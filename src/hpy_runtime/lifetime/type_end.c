/* Notification when types are freed. */
#include "type_end.h"

#include "collection.h"
#include "core/platform/atomic.h"
#include "hpy_runtime/abi/layout.h"

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

static PyObject *on_collection(PyObject *self, PyObject *args) {
  (void)self;
  fh_atomic_store_release_i32(&is_collecting, fhpy_collection_begins(args));
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/* Whether types can be watched now. The first caller registers on_collection with the collector. Callers before the end
 * of that registration get false. */
static bool is_possible_now(void) {
  static PyMethodDef def = {"ffi_hpy_note_collection", (void *)on_collection, METH_VARARGS, NULL};
  enum { UNKNOWN, ASKED, NOTIFIED };
  static uint64_t state;
  uint64_t expected = UNKNOWN;
  if (fh_atomic_load_relaxed_u64(&state) == UNKNOWN && fh_atomic_cas_acq_rel_u64(&state, &expected, ASKED))
    fh_atomic_store_release_u64(&state, fhpy_collection_watch(&def) ? NOTIFIED : UNKNOWN);
  /* acquire: pairs with the store above, so that the flag is read after on_collection is registered */
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
