/* Containers by their schema. */
#ifndef FFI_HPY_MODULE_SCHEMA_CONTAINER_H_
#define FFI_HPY_MODULE_SCHEMA_CONTAINER_H_

#include "schema_convert.h"

/* fb_schema_fit for a schema of a sequence, tuple or mapping. */
FbFit fb_schema_fit_container(const FbSchema *schema, const TVMFFIAny *view, TVMFFIAny *out, FbFault *fault);

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
#endif /* FFI_HPY_MODULE_SCHEMA_CONTAINER_H_ */
