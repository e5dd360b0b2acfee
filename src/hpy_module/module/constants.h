/* Numbers of the ABI and of the binding as attributes of the module, for the package. */
#ifndef FFI_HPY_MODULE_CONSTANTS_H_
#define FFI_HPY_MODULE_CONSTANTS_H_

#include "hpy_module/context/context.h"

/* Sets the numbers as attributes of the module. Returns 0, or -1 with an exception raised. */
int fb_constants_add(HPyContext *ctx, HPy module);

#endif /* FFI_HPY_MODULE_CONSTANTS_H_ */
