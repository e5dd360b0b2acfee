/* Delayed release of references that another thread may be about to take. */
#ifndef FFI_HPY_RUNTIME_RETIRE_H_
#define FFI_HPY_RUNTIME_RETIRE_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Releases one reference to o (which may be NULL) as soon as no thread can be between reading the pointer from shared
 * memory and taking a reference of its own. At once where there is a GIL. May run arbitrary Python code. */
void fhpy_retire_release(PyObject *o);

#endif /* FFI_HPY_RUNTIME_RETIRE_H_ */
