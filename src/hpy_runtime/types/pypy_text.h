/* The text of instances of classes derived from str, on PyPy. */
#ifndef FFI_HPY_RUNTIME_PYPY_TEXT_H_
#define FFI_HPY_RUNTIME_PYPY_TEXT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* Has the text of each instance of a class derived from str freed with the instance. Does nothing for any other type.
 * Raises nothing. */
void fhpy_pypy_text_free_with(PyObject *type);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_TEXT_H_ */
