/* Native functions of the binding, for the package. */
#ifndef FFI_HPY_VALUE_NATIVE_H_
#define FFI_HPY_VALUE_NATIVE_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_native_functions;

#endif /* FFI_HPY_VALUE_NATIVE_H_ */
