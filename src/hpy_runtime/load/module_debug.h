/* The functions of debug mode in the module ffi_hpy._hpy. */
#pragma once

#include "hpy_runtime/abi/cpython_abi.h"

/* Adds the functions of debug mode to ffi_hpy._hpy. If the environment enables debug mode, also reports open handles at
 * the end of the process. Returns 0, or -1 with an exception raised. */
int fhpy_module_debug_exec(PyObject *module);

/* --- trace mode -------------------------------------------------------------------------------------------------- */

/* The functions of trace mode in the module ffi_hpy._hpy. */

/* Adds the functions. Returns 0, or -1 with an exception raised. */
int fhpy_module_trace_exec(PyObject *module);
