/* Python values into native ones that fit a schema. */
#ifndef FFI_HPY_MODULE_SCHEMA_VALUE_H_
#define FFI_HPY_MODULE_SCHEMA_VALUE_H_

#include "schema_convert.h"

/* Makes *out, owned by the caller, of a Python value: first what the value's protocols put in its place, then item by item
 * or by its ordinary conversion. FB_RAISED leaves a Python exception raised. */
FbFit fb_schema_fit_value(HPyContext *ctx, const FbSchema *schema, HPy value, TVMFFIAny *out, FbFault *fault);

/* For fb_schema_fit: the same for the Python value of a view, on any thread. FB_RAISED leaves a native error pending. */
FbFit fb_schema_fit_attached(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);

#endif /* FFI_HPY_MODULE_SCHEMA_VALUE_H_ */
