/* Python callables as native functions. */
#ifndef FFI_HPY_FUNCTION_CALLBACK_H_
#define FFI_HPY_FUNCTION_CALLBACK_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_callback_function;

#endif /* FFI_HPY_FUNCTION_CALLBACK_H_ */
