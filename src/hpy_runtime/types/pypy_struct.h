/* The structs of types, on PyPy.
 *
 * cpyext gives a class made in Python no more memory than a type without a metaclass has. So the struct that a
 * metaclass adds to its instances lies outside of them, in a block of its own that is found by the type's address.
 *
 * All functions want the GIL, which guards the blocks. */
#ifndef FFI_HPY_RUNTIME_PYPY_STRUCT_H_
#define FFI_HPY_RUNTIME_PYPY_STRUCT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* The struct of a type, or NULL if it has none yet. */
void *fhpy_pypy_struct_find(PyObject *type);
/* Makes the struct, zeroed, of a type that has none. Lack of memory ends the process, since HPy_AsStruct cannot
 * fail. */
void *fhpy_pypy_struct_add(PyObject *type, size_t byte_size);
/* Frees the struct of a type, if it has one; called when the type is deallocated. */
void fhpy_pypy_struct_end(PyObject *type);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_STRUCT_H_ */
