/* Optional attributes, and the name of a type. */
#include "call.h"

#include <stdlib.h>

#include "raise.h"

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

/* Adds an attribute that is a str, and `end`, to the text of n bytes in buffer. Returns the new length. */
static size_t add_attr(HPyContext *ctx, HPy type, const char *attr, const char *end, char *buffer, size_t size,
                       size_t n) {
  HPy name = HPy_GetAttr_s(ctx, type, attr);
  HPy_ssize_t n_text;
  const char *text = HPy_IsNull(name) ? NULL : HPyUnicode_AsUTF8AndSize(ctx, name, &n_text);
  if (text != NULL && strcmp(text, "builtins") != 0) {
    fb_cut_copy(buffer + n, size - n, text, (size_t)n_text);
    n += strlen(buffer + n);
    fb_cut_copy(buffer + n, size - n, end, strlen(end));
    n += strlen(buffer + n);
  }
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
  return n;
}

const char *fb_attr_full_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size) {
  HPy type = HPy_Type(ctx, h);
  if (!HPy_IsNull(type)) {
    size_t n = add_attr(ctx, type, "__module__", ".", buffer, size, 0);
    n = add_attr(ctx, type, "__qualname__", "", buffer, size, n);
    HPy_Close(ctx, type);
    if (n != 0 && buffer[n - 1] != '.') return buffer;
  }
  return fb_attr_type_name(ctx, h, buffer, size);
}

/* --- tuples ------------------------------------------------------------------------------------------------------ */

/* Tuples of ints. */

HPy fb_tuple_of_ints(HPyContext *ctx, const int64_t *values, int32_t n) {
  enum { STACK_ITEMS = 8 };
  /* Most shapes, strides and lists of ancestors have few items. */
  HPy stack[STACK_ITEMS], *items = n <= STACK_ITEMS ? stack : malloc((size_t)n * sizeof(*items)), tuple = HPy_NULL;
  if (items == NULL) return HPyErr_NoMemory(ctx);
  int32_t n_made = 0;
  for (; n_made < n; ++n_made) {
    items[n_made] = HPyLong_FromInt64_t(ctx, values[n_made]);
    if (HPy_IsNull(items[n_made])) break;
  }
  if (n_made == n) tuple = HPyTuple_FromArray(ctx, items, n); /* PyPy leaks an HPyTupleBuilder */
  for (int32_t i = 0; i < n_made; ++i) HPy_Close(ctx, items[i]);
  if (items != stack) free(items);
  return tuple;
}
