/* Layouts on PyPy: keeps a class from having two bases with different structs, and an instance from being given a
 * `__class__` with another struct.
 *
 * PyPy compares layouts by the names in `__slots__`, base by base. Types made in C have no `__slots__`, so all types
 * that derive from object directly count as equal. So a type with a struct gets a base of its own: a class made in
 * Python with one slot that no other class has. That class adds nothing to an instance in C, and type_base_known skips
 * it. */
#ifndef FFI_HPY_RUNTIME_PYPY_LAYOUT_H_
#define FFI_HPY_RUNTIME_PYPY_LAYOUT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* The bases to make a type with, in place of those that it was given: a new tuple, or NULL with an exception raised. */
PyObject *fhpy_pypy_layout_make_bases(PyObject *bases);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_LAYOUT_H_ */
