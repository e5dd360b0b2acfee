/* Loading an HPy universal module. */
#ifndef FFI_HPY_RUNTIME_LOAD_H_
#define FFI_HPY_RUNTIME_LOAD_H_

#include "hpy_runtime/abi/handle.h"

/* DEFAULT: the mode in which the file was loaded before; else debug if FFI_HPY_DEBUG=1 is in the environment. */
typedef enum { MODE_PLAIN, MODE_DEBUG, MODE_DEFAULT } FhpyMode;

/* Whether the environment asks for debug mode: 1 or 0, or -1 with ImportError raised for a value that means nothing. */
int fhpy_load_wants_debug(void);

/* 0, or -1 with ImportError raised for a file that is truncated, damaged or no library: library_file.h of the core. */
int fhpy_load_check_file(const char *path);

/* Loads the file, whose entry points end in the last component of `name`, and returns the executed module. The file
 * name must carry the ABI tag of HPy, as in module.hpy0.so. __file__ is set before the module's exec slots run, and
 * from spec, a ModuleSpec or NULL, __spec__, __loader__ and __package__. A file that was loaded before gives a new
 * module whose HPyGlobals are the same. In debug mode the module gets the context of debug.h. The context is the file's,
 * not the module's, so a file is loaded in one of the two modes only, and ImportError raised for the other. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode);

#endif /* FFI_HPY_RUNTIME_LOAD_H_ */
