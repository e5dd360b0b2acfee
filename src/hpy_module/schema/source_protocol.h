/* Protocols: methods by which an object returns another value, which schemas convert in its place. */
#ifndef FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_
#define FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_

#include <tvm/ffi/c_api.h>

#include "source.h"

/* Replaces the source by the result of its protocols, until its type has none. FB_CONVERTED: unless `*held` is
 * HPy_NULL, the caller closes it after the use of the source. */
FbConverted fb_source_protocol_follow(HPyContext *ctx, const FbSchema *schema, FbSource *source, HPy *held,
                                      FbMismatch *mismatch);

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Conversion of Python numbers by schemas of int, float and bool. */

/* Converts a value of kind int or float by a schema of int (or of an int enum), float or bool. */
FbConverted fb_source_number_convert(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                                     FbMismatch *mismatch);

#endif /* FFI_HPY_SCHEMA_SOURCE_PROTOCOL_H_ */
