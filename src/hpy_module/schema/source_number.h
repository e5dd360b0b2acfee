/* Conversion of Python numbers by schemas of int, float and bool. */
#ifndef FFI_HPY_SCHEMA_SOURCE_NUMBER_H_
#define FFI_HPY_SCHEMA_SOURCE_NUMBER_H_

#include <tvm/ffi/c_api.h>

#include "source.h"

/* Converts a value of kind int or float by a schema of int (or of an int enum), float or bool. */
FbFit fb_source_number_fit(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                           FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_SOURCE_NUMBER_H_ */
