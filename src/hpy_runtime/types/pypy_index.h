/* Negative indices on PyPy.
 *
 * CPython and PyPy 8 add the length of a sequence to a negative index before they call sq_item or sq_ass_item. PyPy 7.3
 * passes the index on unchanged, except in PySequence_GetItem and similar functions, which the runtime never calls for
 * an HPy type. The behaviour of the interpreter is measured at the first negative index. */
#ifndef FFI_HPY_RUNTIME_PYPY_INDEX_H_
#define FFI_HPY_RUNTIME_PYPY_INDEX_H_

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* Adds the length of a sequence to the negative index of a slot call, if the interpreter has not. Returns false with an
 * exception raised on failure. Requires the GIL. */
bool fhpy_pypy_index_resolve(PyObject *sequence, Py_ssize_t *index);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_INDEX_H_ */
