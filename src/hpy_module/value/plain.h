/* The class PlainValue, the base of the package's classes for values of one word: data types, devices, pointers. */
#ifndef FFI_HPY_VALUE_PLAIN_H_
#define FFI_HPY_VALUE_PLAIN_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Converts a device to the class that the package selected. Returns a new handle, or HPy_NULL with an exception
 * raised. */
HPy fb_plain_of_device(HPyContext *ctx, DLDevice device);
/* Converts a pointer to the package's class. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_plain_of_pointer(HPyContext *ctx, void *address);

/* Makes the class, and registers the conversions of its instances and of native devices and pointers. Returns a new
 * handle, or HPy_NULL with an exception raised. */
HPy fb_plain_type_new(HPyContext *ctx);

#endif /* FFI_HPY_VALUE_PLAIN_H_ */
