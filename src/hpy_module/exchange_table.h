/* Our own exchange table: ffi.Tensor for the C code of others, as Tensor.__dlpack_c_exchange_api__. */
#ifndef FFI_HPY_MODULE_EXCHANGE_TABLE_H_
#define FFI_HPY_MODULE_EXCHANGE_TABLE_H_

#include "context.h"

extern HPyDef fb_exchange_table_get; /* exchange_table() */

#endif /* FFI_HPY_MODULE_EXCHANGE_TABLE_H_ */
