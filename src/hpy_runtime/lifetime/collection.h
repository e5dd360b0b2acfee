/* The interpreter's garbage collector, reached by the module gc. */
#ifndef FFI_HPY_RUNTIME_COLLECTION_H_
#define FFI_HPY_RUNTIME_COLLECTION_H_

#include <stdbool.h>

#include "hpy_runtime/abi/cpython_abi.h"

/* Has the interpreter call a METH_VARARGS function before and after each collection from now on. *def must live on.
 * Returns whether it will be called; raises nothing, and a raised exception stays raised. */
bool fhpy_collection_watch(PyMethodDef *def);
/* In such a function: true if a collection begins, false if it has ended. */
bool fhpy_collection_begins(PyObject *args);
/* Collects everything. May run any Python code, raises nothing. */
void fhpy_collection_run(void);
/* Calls gc.isenabled(), gc.disable() or gc.enable(), by name: 1 or 0 for the truth of the result, -1 with an exception
 * raised. (3.9 does not export C functions for this.) */
int fhpy_collection_call(const char *name);

#endif /* FFI_HPY_RUNTIME_COLLECTION_H_ */
