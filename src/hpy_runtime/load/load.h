/* Loading an HPy universal module. */
#ifndef FFI_HPY_RUNTIME_LOAD_H_
#define FFI_HPY_RUNTIME_LOAD_H_

#include "load_file.h"

/* Loads the file, whose entry points end in the last component of `name`, and returns the executed module. __file__ is
 * set before the module's exec slots run, and from spec, a ModuleSpec or NULL, __spec__, __loader__ and __package__. A
 * file that was loaded before gives a new module with the HPyGlobals of the first one. In debug mode the module gets
 * the context of debug_context.h. NULL with an exception raised. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode);

#endif /* FFI_HPY_RUNTIME_LOAD_H_ */
