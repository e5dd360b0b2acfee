/* Conversions between handles and object pointers. A handle is the object pointer (extension.h), so they are free. */
#ifndef FFI_HPY_RUNTIME_HANDLE_H_
#define FFI_HPY_RUNTIME_HANDLE_H_

#include "hpy_runtime/api/alloca.h" /* for hpy.h */
#include <hpy.h>

#include "reference.h"

static inline PyObject *to_py(HPy h) { return (PyObject *)h._i; }
static inline HPy to_hpy(PyObject *o) { return (HPy){(intptr_t)o}; }

/* An array of handles is an array of object pointers. */
static inline PyObject *const *to_py_array(const HPy *items) { return (PyObject *const *)items; }

static inline HPy new_reference(PyObject *o) {
  take_reference(o);
  return to_hpy(o);
}

#endif /* FFI_HPY_RUNTIME_HANDLE_H_ */
