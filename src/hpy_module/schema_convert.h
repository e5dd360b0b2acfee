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

/* Owned values on their way into a container. Zero-initialised is empty. */
typedef struct FbValues {
  TVMFFIAny *data; /* of which n are set */
  int32_t n;
} FbValues;

/* Room for n values. 0, or -1 without memory. */
int fb_values_begin(FbValues *values, int64_t n);
void fb_values_end(FbValues *values);

/* A new container of a sequence, tuple or mapping schema from its values. FB_FIT, or as fb_schema_fit. */
FbFit fb_schema_build(const FbSchema *schema, const FbValues *values, TVMFFIAny *out, FbFault *fault);
/* The schema of the i-th item of a sequence or tuple, of the i-th of key, value, key, ... of a mapping. */
FB_INLINE const FbSchema *fb_schema_item(const FbSchema *schema, int64_t i) {
  if (schema->op == FB_SCHEMA_TUPLE) return schema->args[i];
  return schema->op == FB_SCHEMA_MAPPING ? schema->args[i & 1] : schema->args[0];
}
/* FB_MISFIT: "expected X, got `given`". */
FbFit fb_schema_refuse(const FbSchema *schema, FbFault *fault, const char *given);
/* FB_MISFIT for a tuple that came with n_given items. */
FbFit fb_schema_refuse_length(const FbSchema *schema, FbFault *fault, const char *given, int64_t n_given);
/* FB_RAISED with MemoryError pending. */
FbFit fb_schema_no_memory(void);
/* How a view is called in messages. */
const char *fb_schema_describe(const TVMFFIAny *view);

#endif /* FFI_HPY_MODULE_SCHEMA_CONVERT_H_ */
