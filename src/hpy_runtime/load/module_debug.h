/* Debug mode: its functions in the module ffi_hpy._hpy. */
#ifndef FFI_HPY_RUNTIME_MODULE_DEBUG_H_
#define FFI_HPY_RUNTIME_MODULE_DEBUG_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Puts the functions of debug mode into ffi_hpy._hpy, and where the environment asks for debug mode, has the end of the
 * process tell what is open. 0, or -1 with an exception raised. */
int fhpy_module_debug_exec(PyObject *module);

#endif /* FFI_HPY_RUNTIME_MODULE_DEBUG_H_ */
