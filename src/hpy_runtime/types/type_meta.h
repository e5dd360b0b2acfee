/* Makes a type with a given metaclass, on every version. */
#ifndef FFI_HPY_RUNTIME_TYPE_META_H_
#define FFI_HPY_RUNTIME_TYPE_META_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Makes a type from the specification. If metaclass is NULL, the most derived metaclass of the bases is used. */
PyObject *fhpy_type_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases);

#endif /* FFI_HPY_RUNTIME_TYPE_META_H_ */
