/* The class Device. */
#ifndef FFI_HPY_VALUE_DEVICE_H_
#define FFI_HPY_VALUE_DEVICE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Converts a device to the class that the package selected. Returns a new handle, or HPy_NULL with an exception
 * raised. */
HPy fb_device_result(HPyContext *ctx, DLDevice device);

HPy fb_device_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_DEVICE_H_ */
