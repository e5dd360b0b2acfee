/* Native functions that wrap a C function pointer, which code generators pass as a number. */
#ifndef FFI_HPY_FUNCTION_ADDRESS_H_
#define FFI_HPY_FUNCTION_ADDRESS_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_address_function, fb_address_mlir_function;

#endif /* FFI_HPY_FUNCTION_ADDRESS_H_ */
