/* An exchange table made of Python functions, for the tensors of a library that has none: PyTorch before 2.10.
 *
 * The functions are the hooks array_to_tensor, tensor_to_array and array_stream. What makes an array of a tensor is not
 * in the table: it would have to say who owns the tensor if the library fails after it took hold of it. */
#ifndef FFI_HPY_TENSOR_EXCHANGE_PYTHON_H_
#define FFI_HPY_TENSOR_EXCHANGE_PYTHON_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

extern const DLPackExchangeAPI fb_exchange_python_table;

/* An array of the library on a tensor, which is taken if it succeeds. HPy_NULL with an exception raised. */
HPy fb_exchange_python_array(HPyContext *ctx, TVMFFIObject *tensor);

extern HPyDef fb_exchange_python_address; /* exchange_from_python(): the table's address */

#endif /* FFI_HPY_TENSOR_EXCHANGE_PYTHON_H_ */
