/* Loading an HPy universal module. */
#ifndef FFI_HPY_RUNTIME_LOAD_H_
#define FFI_HPY_RUNTIME_LOAD_H_

#include "context.h"

/* Loads the file, whose entry points end in the last component of `name`, and returns the executed module. The file
 * name must carry the ABI tag of HPy, as in module.hpy0.so. __file__ is set before the module's exec slots run, and
 * from spec, a ModuleSpec or NULL, __spec__, __loader__ and __package__. A file that was loaded before gives a new
 * module whose HPyGlobals are the same. With is_debug the module gets the context of debug.h. The context is the file's,
 * not the module's, so a file is loaded in one of the two modes only, and ImportError raised for the other. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, bool is_debug);

#endif /* FFI_HPY_RUNTIME_LOAD_H_ */
