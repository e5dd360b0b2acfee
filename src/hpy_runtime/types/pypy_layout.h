/* Layouts on PyPy 8: what keeps a class from mixing types with different structs, and `__class__` from leading from one to
 * another.
 *
 * cpyext takes the layouts of two types for equal if their bases' are and they have slots (`__slots__`) of the same names, of
 * which types in C have none; whatever derives from object directly is alike. So a type with a struct gets a base between,
 * made in Python, with a slot of a name of its own. In C the base adds nothing to an instance, and what the runtime knows of
 * the type's bases does not mention it. */
#ifndef FFI_HPY_RUNTIME_PYPY_LAYOUT_H_
#define FFI_HPY_RUNTIME_PYPY_LAYOUT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* The bases to make a type with, instead of those it is said to have: new tuple, or NULL with an exception raised. */
PyObject *fhpy_pypy_layout_make_bases(PyObject *bases);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_LAYOUT_H_ */
