/* Conversion of Python values by a schema. */
#ifndef FFI_HPY_SCHEMA_CONVERT_PYTHON_H_
#define FFI_HPY_SCHEMA_CONVERT_PYTHON_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* Converts a Python value; the caller owns *out. First the value's protocols replace the value; the result is converted
 * item by item or by its ordinary conversion. FB_RAISED leaves a Python exception raised. */
FbConverted fb_convert_python_value(HPyContext *ctx, const FbSchema *schema, HPy value, TVMFFIAny *out,
                                    FbMismatch *mismatch);

/* Sets fb_convert_attached (convert.h). */
void fb_convert_python_init(void);

#endif /* FFI_HPY_SCHEMA_CONVERT_PYTHON_H_ */
