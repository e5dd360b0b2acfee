/* The functions of debug mode in the module ffi_hpy._hpy. */
#ifndef FFI_HPY_RUNTIME_MODULE_DEBUG_H_
#define FFI_HPY_RUNTIME_MODULE_DEBUG_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Adds the functions of debug mode to ffi_hpy._hpy. If the environment enables debug mode, also reports open handles at
 * the end of the process. Returns 0, or -1 with an exception raised. */
int fhpy_module_debug_exec(PyObject *module);

/* --- trace mode -------------------------------------------------------------------------------------------------- */

/* The functions of trace mode in the module ffi_hpy._hpy. */

/* Adds the functions. Returns 0, or -1 with an exception raised. */
int fhpy_module_trace_exec(PyObject *module);

#endif /* FFI_HPY_RUNTIME_MODULE_DEBUG_H_ */
