/* Optional attributes, and the name of a type. */
#include "attr.h"

#include "cut.h"

HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name) {
  HPy found = HPy_GetAttr_s(ctx, h, name);
  if (HPy_IsNull(found) && HPyErr_ExceptionMatches(ctx, ctx->h_AttributeError)) HPyErr_Clear(ctx);
  return found;
}

/* Called for messages, so it must not fail. A type without a name is called "object". */
const char *fb_attr_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size) {
  HPy type = HPy_Type(ctx, h);
  HPy name = HPy_IsNull(type) ? HPy_NULL : HPy_GetAttr_s(ctx, type, "__name__");
  HPy_ssize_t n;
  const char *text = HPy_IsNull(name) ? NULL : HPyUnicode_AsUTF8AndSize(ctx, name, &n);
  fb_cut_copy(buffer, size, text == NULL ? "object" : text, text == NULL ? strlen("object") : (size_t)n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
  if (!HPy_IsNull(type)) HPy_Close(ctx, type);
  return buffer;
}
