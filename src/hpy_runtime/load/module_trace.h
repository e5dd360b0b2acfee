/* The functions of trace mode in the module ffi_hpy._hpy. */
#ifndef FFI_HPY_RUNTIME_MODULE_TRACE_H_
#define FFI_HPY_RUNTIME_MODULE_TRACE_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Adds the functions. Returns 0, or -1 with an exception raised. */
int fhpy_module_trace_exec(PyObject *module);

#endif /* FFI_HPY_RUNTIME_MODULE_TRACE_H_ */
