/* Notice of the end of types. */
#include "type_end.h"

#include "collection.h"
#include "layout.h"

static fhpy_type_ended tell; /* the same each time; relaxed: whoever calls it was told by who watched the type */

#ifndef FHPY_PYPY

/* CPython: a weak reference with a callback.
 *
 * The reference owns itself: its callback gives it up. The interpreter calls callbacks before it frees the type, with one
 * exception: a reference made while a collection runs, by a finalizer of something that ends together with the type, is
 * cleared in silence. So during a collection no type is taken on; nor while the interpreter ends, which collects without
 * saying so. Who finds the flag unset and has the type in hand came before the collection, which then does not end it. */
extern PyObject *PyWeakref_NewRef(PyObject *, PyObject *);

static int is_collecting; /* relaxed: only finalizers of the collection have what it ends, on its own thread */

static PyObject *on_collection(PyObject *self, PyObject *args) {
  (void)self;
  __atomic_store_n(&is_collecting, fhpy_collection_begins(args), __ATOMIC_RELAXED);
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/* Whether types can be watched now. The collector is asked to call us at the first type. */
static bool is_possible_now(void) {
  static PyMethodDef def = {"ffi_hpy_note_collection", (void *)on_collection, METH_VARARGS, NULL};
  enum { UNKNOWN, ASKED, NOTIFIED };
  static int state;
  int seen = UNKNOWN;
  /* acquire and release: who finds NOTIFIED comes after the function was put in place */
  if (__atomic_compare_exchange_n(&state, &seen, ASKED, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    seen = fhpy_collection_watch(&def) ? NOTIFIED : UNKNOWN;
    __atomic_store_n(&state, seen, __ATOMIC_RELEASE);
  }
  return seen == NOTIFIED && !__atomic_load_n(&is_collecting, __ATOMIC_RELAXED);
}

/* The callback. self: a capsule around the type's address. */
static PyObject *on_end(PyObject *self, PyObject *reference) {
  intptr_t type = (intptr_t)PyCapsule_GetPointer(self, NULL);
  __atomic_load_n(&tell, __ATOMIC_RELAXED)(type);
  Py_DecRef(reference); /* its own; the caller has another */
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static bool watch(PyObject *type) {
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

/* PyPy: cpyext gives a type that C code has met a C side, which refers to itself and keeps the type for good. Our
 * reference only says so. */
static bool watch(PyObject *type) {
  Py_IncRef(type);
  return true;
}

#endif

int fhpy_type_end_watch(PyObject *type, fhpy_type_ended ended) {
  if (!type_has_flag(type, TYPE_FLAG_HEAPTYPE)) return 1;
  __atomic_store_n(&tell, ended, __ATOMIC_RELAXED);
  return watch(type);
}
