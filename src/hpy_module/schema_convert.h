/* Values into values that fit a schema. What both ways share: from native values here, from Python's in schema_value.h. */
#ifndef FFI_HPY_MODULE_SCHEMA_CONVERT_H_
#define FFI_HPY_MODULE_SCHEMA_CONVERT_H_

#include "fault.h"
#include "schema.h"

/* Makes *out, owned by the caller, of a view, as the implicit conversions of the ABI do: a container whose items all stay
 * what they are stays itself. FB_RAISED leaves a native error pending. Any thread, attached or not; it attaches itself for
 * what only Python knows: a Python object held by native code, the name of a device, an integer beyond 64 bits. */
FbFit fb_schema_fit(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);

/* The same for a view made of a Python value, for which Python was asked already. */
FbFit fb_schema_fit_packed(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);

/* fb_schema_fit in the shape of ffi.MakeFieldSetter's converter: `schema` is an FbSchema; -1 with TypeError pending for a value
 * that does not fit. */
int fb_schema_convert(void *schema, const TVMFFIAny *view, TVMFFIAny *out);

/* FB_MISFIT: "expected X, got `given`". */
FbFit fb_schema_refuse(const FbSchema *schema, FbFault *fault, const char *given);
/* FB_MISFIT for a tuple that came with n_given items. */
FbFit fb_schema_refuse_length(const FbSchema *schema, FbFault *fault, const char *given, int64_t n_given);
/* FB_MISFIT: the same for a view. */
FbFit fb_schema_refuse_view(const FbSchema *schema, const TVMFFIAny *view, FbFault *fault);
/* The same with the pending native error as the reason: FB_RAISED if it is none to be told as one. */
FbFit fb_schema_refuse_because(const FbSchema *schema, const TVMFFIAny *view, FbFault *fault);
/* FB_RAISED with MemoryError pending. */
FbFit fb_schema_no_memory(void);
/* How a view is called in messages: by itself, and as what it was made from. */
const char *fb_schema_describe(const TVMFFIAny *view);
const char *fb_schema_name_of(const TVMFFIAny *view, const FbFault *fault);

/* The view itself, owned. */
FbFit fb_schema_own(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);
/* What the __ffi_convert__ of a type makes of it; FB_MISFIT and no word if the type has none. */
FbFit fb_schema_convert_by_type(int32_t type_index, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);

#endif /* FFI_HPY_MODULE_SCHEMA_CONVERT_H_ */
