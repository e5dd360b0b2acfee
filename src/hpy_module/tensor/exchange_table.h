/* Exchange APIs that the binding makes: its own, and one of Python functions. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* --- our table ---------------------------------------------------------------------------------------------------- */

/* Our own exchange table: ffi.Tensor for the C code of other libraries, as Tensor.__dlpack_c_exchange_api__. */

extern HPyDef fb_exchange_table_get; /* exchange_table() */

/* --- a table of Python functions ---------------------------------------------------------------------------------- */

/* An exchange table made of Python functions, for the tensors of a library without a table: PyTorch before 2.10.
 *
 * The functions are the hooks array_to_tensor, tensor_to_array and array_stream. The table has no entry that makes an
 * array of a tensor: such an entry would have to define the owner of the tensor after a failure of the library. */

extern const DLPackExchangeAPI fb_exchange_python_table;

/* Makes an array of the library on a tensor. Steals the tensor only on success. HPy_NULL with an exception raised. */
HPy fb_exchange_python_array(HPyContext *ctx, TVMFFIObject *tensor);

extern HPyDef fb_exchange_python_address; /* exchange_from_python(): the pointer of the table */
