/* Plain values that have a Python class of their own: data types, devices, addresses. */
#ifndef FFI_HPY_MODULE_VALUE_H_
#define FFI_HPY_MODULE_VALUE_H_

#include <tvm/ffi/c_api.h>

#include "context.h"

/* The C value of an instance of the class; the caller knows that it is one. NULL with TypeError raised if it has none. */
const DLDataType *fb_data_type_get(HPyContext *ctx, HPy h);
const DLDevice *fb_device_get(HPyContext *ctx, HPy h);
void *const *fb_opaque_ptr_get(HPyContext *ctx, HPy h);

/* The Python value, as the package wraps it. New handle, or HPy_NULL with an exception raised. */
HPy fb_data_type_result(HPyContext *ctx, DLDataType dtype);
/* After the hook that wraps data types has changed. */
void fb_data_type_forget(void);
HPy fb_device_result(HPyContext *ctx, DLDevice device);
HPy fb_opaque_ptr_result(HPyContext *ctx, void *address);

extern HPyDef fb_data_type_from_code;

/* Type objects, new handles. */
HPy fb_data_type_type_new(HPyContext *ctx);
HPy fb_device_type_new(HPyContext *ctx);
HPy fb_opaque_ptr_type_new(HPyContext *ctx);

#endif /* FFI_HPY_MODULE_VALUE_H_ */
