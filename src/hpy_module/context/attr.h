/* Attributes that may be missing, and the name of a type. */
#ifndef FFI_HPY_CONTEXT_ATTR_H_
#define FFI_HPY_CONTEXT_ATTR_H_

#include "context.h"

/* An attribute. HPy_NULL without an exception if there is none, and with one if looking for it failed. */
HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name);
/* type(h).__name__ into buffer; never fails, and drops any exception that is raised. Returns buffer. */
const char *fb_attr_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size);

#endif /* FFI_HPY_CONTEXT_ATTR_H_ */
