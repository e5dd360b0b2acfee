/* Immortal objects, whose references need no counts. */
#ifndef FFI_HPY_RUNTIME_KEEP_H_
#define FFI_HPY_RUNTIME_KEEP_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Makes o immortal without a GIL, so that threads do not contend for its reference count. The caller owns a reference
 * that it never releases. Does nothing with a GIL, or if another thread owns o, because only the owner may write its
 * counts. */
void fhpy_keep_object(PyObject *o);

#endif /* FFI_HPY_RUNTIME_KEEP_H_ */
