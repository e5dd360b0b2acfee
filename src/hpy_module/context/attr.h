/* Optional attributes, and the name of a type. */
#ifndef FFI_HPY_CONTEXT_ATTR_H_
#define FFI_HPY_CONTEXT_ATTR_H_

#include "context.h"

/* Returns an attribute; HPy_NULL without an exception if it does not exist, or with an exception if the lookup
 * failed. */
HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name);
/* Writes type(h).__name__ to buffer and returns buffer. Never fails, and clears any raised exception. */
const char *fb_attr_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size);

#endif /* FFI_HPY_CONTEXT_ATTR_H_ */
