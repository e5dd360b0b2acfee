/* Garbage collector support for instances of HPy types. */
#ifndef FFI_HPY_RUNTIME_TYPE_TRAVERSE_H_
#define FFI_HPY_RUNTIME_TYPE_TRAVERSE_H_

#include "hpy_runtime/abi/handle.h"

/* tp_traverse and tp_clear of GC-tracked HPy types. */
int fhpy_type_traverse(PyObject *self, visit_fn visit, void *arg);
int fhpy_type_traverse_clear(PyObject *self);

/* Runs one HPy_tp_traverse over the struct of self, with the interpreter's visitor. */
int fhpy_type_traverse_struct(PyObject *self, HPyFunc_traverseproc traverse, visit_fn visit, void *arg);

#endif /* FFI_HPY_RUNTIME_TYPE_TRAVERSE_H_ */
