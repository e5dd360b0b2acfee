/* The string data of instances of str subclasses, on PyPy. */
#ifndef FFI_HPY_RUNTIME_PYPY_TEXT_H_
#define FFI_HPY_RUNTIME_PYPY_TEXT_H_

#include "hpy_runtime/abi/cpython_abi.h"

#ifdef FHPY_PYPY
/* Arranges that the string data of each instance of a str subclass is freed with the instance. Does nothing for other
 * types. Never raises. */
void fhpy_pypy_text_free_with(PyObject *type);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_TEXT_H_ */
