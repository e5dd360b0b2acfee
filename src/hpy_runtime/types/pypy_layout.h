/* Layouts on PyPy: prevents a class with two bases of different structs, and an assignment to `__class__` across
 * structs.
 *
 * PyPy compares layouts by the names in `__slots__`, base by base. Types made in C have no `__slots__`, so all types
 * that derive from object directly count as equal. Therefore a type with a struct gets its own base: a class made in
 * Python with one slot that no other class has. That class adds nothing to an instance in C, and type_base_known skips
 * it. */
#ifndef FFI_HPY_RUNTIME_PYPY_LAYOUT_H_
#define FFI_HPY_RUNTIME_PYPY_LAYOUT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* Makes the tuple of bases that replaces the given bases of a type: a new tuple, or NULL with an exception raised. */
PyObject *fhpy_pypy_layout_make_bases(PyObject *bases);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_LAYOUT_H_ */
