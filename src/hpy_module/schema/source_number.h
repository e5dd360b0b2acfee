/* Python numbers for schemas of int, float and bool. */
#ifndef FFI_HPY_SCHEMA_SOURCE_NUMBER_H_
#define FFI_HPY_SCHEMA_SOURCE_NUMBER_H_

#include <tvm/ffi/c_api.h>

#include "source.h"

/* For schemas of int (also of what an int may stand for), float and bool: a value of kind int or float. */
FbFit fb_source_number_fit(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                           FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_SOURCE_NUMBER_H_ */
