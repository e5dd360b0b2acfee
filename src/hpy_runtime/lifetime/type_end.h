/* Notice of the end of types, for tables that know types by their addresses. */
#ifndef FFI_HPY_RUNTIME_TYPE_END_H_
#define FFI_HPY_RUNTIME_TYPE_END_H_

#include "hpy_runtime/abi/cpython_abi.h"

typedef void (*fhpy_type_ended)(intptr_t type);

/* Has `ended` called when a type ends, before its memory can become another object. `ended` must be the same function
 * for all types. It is called by an attached thread, once for each time the type was watched. A finalizer that brings
 * the type back ends the watch: the type has to be watched again. Returns 1 if `ended` will be called or the type never
 * ends; 0 if its end would not be noticed. Raises nothing. */
int fhpy_type_end_watch(PyObject *type, fhpy_type_ended ended);

#endif /* FFI_HPY_RUNTIME_TYPE_END_H_ */
