/* Loads an HPy universal module. */
#pragma once

#include "hpy_runtime/abi/handle.h"

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* The file of an HPy universal module. */

/* DEFAULT: the mode in which the file was loaded before; if it was not, debug if the environment has
 * FFI_HPY_DEBUG=1. */
typedef enum { MODE_PLAIN, MODE_DEBUG, MODE_TRACE, MODE_DEFAULT } FhpyMode;

/* Whether the environment enables debug mode: returns 1 or 0, or -1 with ImportError raised for a value other than 1 or
 * 0. */
int fhpy_load_file_wants_debug(void);

/* Returns 0, or -1 with ImportError raised for a file that is truncated, damaged or not a library (library_file.h of
 * the core). */
int fhpy_load_file_check(const char *path);

/* --- the module --------------------------------------------------------------------------------------------------- */

/* Loads the file and returns the executed module. The file's entry points end in the last component of `name`. Before
 * the module's exec slots run, __file__ is set, and __spec__, __loader__ and __package__ from spec, a ModuleSpec or
 * NULL. Loading a file again makes a new module that shares the HPyGlobals of the first module. In debug mode the file
 * gets the context of debug.h. NULL with an exception raised on failure. */
PyObject *fhpy_load_module(const char *name, const char *path, PyObject *spec, FhpyMode mode);
