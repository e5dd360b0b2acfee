/* Schema: the class below TypeSchema, which holds the compiled tree. */
#ifndef FFI_HPY_SCHEMA_SCHEMA_TYPE_H_
#define FFI_HPY_SCHEMA_SCHEMA_TYPE_H_

#include "hpy_module/context/context.h"
#include "schema.h"

/* The tree of a Schema, compiled at the first call. NULL with an exception raised: TypeError for anything that is no
 * Schema or names a type that nobody registered. */
const FbSchema *fb_schema_type_get(HPyContext *ctx, HPy schema);

extern HPyDef fb_schema_type_setter;

/* New handle. */
HPy fb_schema_type_new(HPyContext *ctx);

#endif /* FFI_HPY_SCHEMA_SCHEMA_TYPE_H_ */
