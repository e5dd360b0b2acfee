/* The class Error: a native error as a value; it is not an exception class. */
#ifndef FFI_HPY_VALUE_ERROR_TYPE_H_
#define FFI_HPY_VALUE_ERROR_TYPE_H_

#include "hpy_module/context/context.h"

HPy fb_error_type_new(HPyContext *ctx, HPy base);

#endif /* FFI_HPY_VALUE_ERROR_TYPE_H_ */
