/* Data types: results, and names. */
#ifndef FFI_HPY_VALUE_DATA_TYPE_H_
#define FFI_HPY_VALUE_DATA_TYPE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Converts a data type to the package's class. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_data_type_result(HPyContext *ctx, DLDataType dtype);

/* Registers the conversion of native data types. Called once during the import. */
void fb_data_type_init(void);

extern HPyDef fb_data_type_parse, fb_data_type_name;

#endif /* FFI_HPY_VALUE_DATA_TYPE_H_ */
