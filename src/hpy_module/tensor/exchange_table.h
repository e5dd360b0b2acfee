/* Our own exchange table: ffi.Tensor for the C code of other libraries, as Tensor.__dlpack_c_exchange_api__. */
#ifndef FFI_HPY_TENSOR_EXCHANGE_TABLE_H_
#define FFI_HPY_TENSOR_EXCHANGE_TABLE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Returns a new reference to the native object of a Tensor, or of an object whose attribute `tensor` is a Tensor. NULL
 * with an exception raised. */
TVMFFIObject *fb_exchange_table_handle(HPyContext *ctx, HPy h);

extern HPyDef fb_exchange_table_get; /* exchange_table() */

#endif /* FFI_HPY_TENSOR_EXCHANGE_TABLE_H_ */
