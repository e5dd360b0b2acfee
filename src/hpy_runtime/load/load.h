/* Loads an HPy universal module. */
#ifndef FFI_HPY_RUNTIME_LOAD_H_
#define FFI_HPY_RUNTIME_LOAD_H_

#include "load_file.h"

/* Loads the file and returns the executed module. The file's entry points end in the last component of `name`. Before
 * the module's exec slots run, __file__ is set, and __spec__, __loader__ and __package__ from spec, a ModuleSpec or
 * NULL. Loading a file again makes a new module that shares the HPyGlobals of the first module. In debug mode the file
 * gets the context of debug_context.h. NULL with an exception raised on failure. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode);

#endif /* FFI_HPY_RUNTIME_LOAD_H_ */
