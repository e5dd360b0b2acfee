/* Objects that live as long as the process, and need no counts. */
#ifndef FFI_HPY_RUNTIME_KEEP_H_
#define FFI_HPY_RUNTIME_KEEP_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Makes o, to which the caller has a reference that it never gives up, immortal where threads that run at the same time
 * would otherwise write its count in turns: without a GIL. Does nothing for an object that another thread owns, whose
 * counts only that thread may write. */
void fhpy_keep_object(PyObject *o);

#endif /* FFI_HPY_RUNTIME_KEEP_H_ */
