/* Loading an HPy universal module. */
#ifndef FFI_HPY_RUNTIME_LOAD_H_
#define FFI_HPY_RUNTIME_LOAD_H_

#include "context.h"

/* Loads the file, whose entry points end in the last component of `name`, and returns the executed module. The file
 * name must carry the ABI tag of HPy, as in module.hpy0.so. __file__ is set before the module's exec slots run, and
 * from spec, a ModuleSpec or NULL, __spec__, __loader__ and __package__. A file that was loaded before gives a new
 * module whose HPyGlobals are the same. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec);

#endif /* FFI_HPY_RUNTIME_LOAD_H_ */
