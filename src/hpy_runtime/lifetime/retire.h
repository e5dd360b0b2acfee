/* Deferred decref of references that another thread may be about to take. */
#ifndef FFI_HPY_RUNTIME_RETIRE_H_
#define FFI_HPY_RUNTIME_RETIRE_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Releases one reference to o (which may be NULL) as soon as no thread can be between reading the pointer from shared
 * memory and taking its own reference. With a GIL this happens at once. May run any Python code. */
void fhpy_retire_release(PyObject *o);

#endif /* FFI_HPY_RUNTIME_RETIRE_H_ */
