/* Loads an HPy universal module. */
#pragma once

#include "hpy_runtime/abi/handle.h"

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* The file of an HPy universal module. */

/* DEFAULT: the mode in which the file was loaded before; if it was not, debug if the environment has
 * FFI_HPY_DEBUG=1. */
typedef enum { MODE_PLAIN, MODE_DEBUG, MODE_TRACE, MODE_DEFAULT } FhpyMode;

/* An open library, and its context. Both live as long as the process. */
typedef struct {
  HPyModuleDef *def;
  HPyContext *ctx;
} FhpyLoadFile;

/* Whether the environment enables debug mode: returns 1 or 0, or -1 with ImportError raised for a value other than 1 or
 * 0. */
int fhpy_load_file_wants_debug(void);

/* Returns 0, or -1 with ImportError raised for a file that is truncated, damaged or not a library (library_file.h of
 * the core). */
int fhpy_load_file_check(const char *path);

/* Opens the file, gives it a context and gets its definition. The file name must have the ABI tag of HPy, as in
 * module.hpy0.so; the names of its entry points end in `short_name`. The context belongs to the file and not to a
 * module, so a file can be opened in one mode only. Returns 0, or -1 with an exception raised: ImportError for another
 * mode. */
int fhpy_load_file_open(FhpyLoadFile *file, const char *short_name, const char *path, FhpyMode mode);

/* --- the module --------------------------------------------------------------------------------------------------- */

/* Loads the file and returns the executed module. The file's entry points end in the last component of `name`. Before
 * the module's exec slots run, __file__ is set, and __spec__, __loader__ and __package__ from spec, a ModuleSpec or
 * NULL. Loading a file again makes a new module that shares the HPyGlobals of the first module. In debug mode the file
 * gets the context of debug.h. NULL with an exception raised on failure. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode);
