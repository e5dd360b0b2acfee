/* Notification when types are freed, for tables whose keys are pointers to types. */
#ifndef FFI_HPY_RUNTIME_TYPE_END_H_
#define FFI_HPY_RUNTIME_TYPE_END_H_

#include "hpy_runtime/abi/cpython_abi.h"

typedef void (*fhpy_type_ended)(intptr_t type);

/* Registers `ended`, called when a type is freed, before its memory can become another object. `ended` must be the same
 * function for all types. An attached thread calls it, once for each time the type was watched. A finalizer that
 * resurrects the type ends the watch: the type must be watched again. Returns 1 if `ended` will be called or the type
 * is never freed; 0 if there would be no notification. Never raises. */
int fhpy_type_end_watch(PyObject *type, fhpy_type_ended ended);

#endif /* FFI_HPY_RUNTIME_TYPE_END_H_ */
