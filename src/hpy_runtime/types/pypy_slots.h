/* Receiver checks for slots on PyPy, where a slot that is called through its class (`Array.__len__("abc")`) accepts any
 * receiver.
 *
 * CPython's wrappers of slots compare the receiver with the class. cpyext's wrappers of slots do not (wrappers of
 * methods and attributes do), and its __new__ accepts any class, or none, which crashes the process. Therefore a type's
 * note has a list of its slots. Before a slot is called, it is looked up among the slots of the receiver's type and its
 * bases. */
#pragma once

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"
#include "type.h"

#ifdef FHPY_PYPY

/* Whether func is a slot's function and the receiver does not belong to that slot. If so, TypeError is raised, and the
 * packed arguments get the result of a failure. Also adds the length to a negative index of a sequence if the
 * interpreter does not. */
bool fhpy_pypy_slots_refuse(HPyFunc_Signature sig, HPyCFunction func, void *args);

/* tp_descr_get and tp_descr_set of a type whose note has the functions of the extension (extension.h). */
PyObject *fhpy_pypy_slots_descr_get(PyObject *self, PyObject *object, PyObject *type);
int fhpy_pypy_slots_descr_set(PyObject *self, PyObject *object, PyObject *value);

/* Replaces the __new__ of a type that has its own tp_new. Returns 0, or -1 with an exception raised. */
int fhpy_pypy_slots_set_new(PyObject *type);

#else

static inline bool fhpy_pypy_slots_refuse(HPyFunc_Signature sig, HPyCFunction func, void *args) {
  return (void)sig, (void)func, (void)args, false;
}

#endif
