/* Conversion of containers by a schema. */
#ifndef FFI_HPY_SCHEMA_CONVERT_CONTAINER_H_
#define FFI_HPY_SCHEMA_CONVERT_CONTAINER_H_

#include <tvm/ffi/c_api.h>

#include "mismatch.h"
#include "schema.h"

/* Sets fb_convert_container (convert.h). */
void fb_convert_container_init(void);

/* Makes the container of a sequence, tuple or mapping schema from its values. Returns like fb_convert_view. */
FbConverted fb_convert_container_build(const FbSchema *schema, const FbValues *values, TVMFFIAny *out,
                                       FbMismatch *mismatch);
/* Returns the schema of the i-th item of a sequence or tuple, or of the i-th of key, value, key, ... of a mapping. */
FH_INLINE const FbSchema *fb_convert_container_item(const FbSchema *schema, int64_t i) {
  if (schema->op == FB_SCHEMA_TUPLE) return schema->args[i];
  return schema->op == FB_SCHEMA_MAPPING ? schema->args[i & 1] : schema->args[0];
}

#endif /* FFI_HPY_SCHEMA_CONVERT_CONTAINER_H_ */
