/* Schema: the base class of TypeSchema, with the compiled tree. */
#pragma once

#include "hpy_module/context/context.h"
#include "schema.h"

/* Returns the tree of a Schema, compiled at the first call. NULL with an exception raised: TypeError if `schema` is not
 * a Schema or names an unregistered type. */
const FbSchema *fb_schema_type_get(HPyContext *ctx, HPy schema);

extern HPyDef fb_schema_type_setter;

/* Makes the class and returns a new handle. */
HPy fb_schema_type_new(HPyContext *ctx);
