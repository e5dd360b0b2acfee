/* Negative indices on PyPy.
 *
 * CPython and PyPy 8 add the length of a sequence to a negative index before they call sq_item or sq_ass_item. PyPy 7.3
 * passes it on as it is, except in PySequence_GetItem and its like, by which the runtime asks no HPy type. Which of the
 * two an interpreter does is measured at the first negative index. */
#ifndef FFI_HPY_RUNTIME_PYPY_INDEX_H_
#define FFI_HPY_RUNTIME_PYPY_INDEX_H_

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* Adds the length of a sequence to the negative index that its slot was called with, if the interpreter has not. False
 * with an exception raised. Wants the GIL. */
bool fhpy_pypy_index_resolve(PyObject *sequence, Py_ssize_t *index);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_INDEX_H_ */
