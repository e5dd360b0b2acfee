/* The interpreter's garbage collector, accessed through the module gc. */
#ifndef FFI_HPY_RUNTIME_COLLECTION_H_
#define FFI_HPY_RUNTIME_COLLECTION_H_

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"

/* Registers a METH_VARARGS function that the interpreter calls before and after each collection. *def must stay valid.
 * Returns whether it will be called. Never raises, and preserves a raised exception. */
bool fhpy_collection_watch(PyMethodDef *def);
/* For such a function: returns true if a collection begins, false if it has ended. */
bool fhpy_collection_begins(PyObject *args);
/* Runs a full collection. May run any Python code; never raises. */
void fhpy_collection_run(void);
/* Calls gc.isenabled(), gc.disable() or gc.enable(), by name: returns 1 or 0 for the truth value of the result, -1 with
 * an exception raised. (3.9 does not export C functions for this.) */
int fhpy_collection_call(const char *name);

#endif /* FFI_HPY_RUNTIME_COLLECTION_H_ */
