/* Types with a metaclass, on PyPy, whose cpyext makes only types of class `type` from a specification. */
#ifndef FFI_HPY_RUNTIME_PYPY_META_H_
#define FFI_HPY_RUNTIME_PYPY_META_H_

#include <stdbool.h>

#include "hpy_runtime/abi/handle.h"

#ifdef FHPY_PYPY
/* Makes a type of class metaclass, which is not `type`. NULL with an exception raised. Requires the GIL. */
PyObject *fhpy_pypy_meta_make(PyObject *metaclass, PyType_Spec *spec, PyObject *bases);

/* Refuses a specification that needs memory within the type itself: returns 0, or -1 with TypeError raised. */
int fhpy_pypy_meta_check(const HPyType_Spec *spec, bool has_call_slot);
#endif

#endif /* FFI_HPY_RUNTIME_PYPY_META_H_ */
