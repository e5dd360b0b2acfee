/* Names that a misspelt one may have meant: the package compares them, when a message needs it. */
#include "similar.h"

#include <stdio.h>

#include "call.h"
#include "text.h"

void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size) {
  HPy args[2] = {name, names};
  HPy module = HPyImport_ImportModule(ctx, "ffi_hpy._start.similar");
  HPy find = HPy_IsNull(module) ? HPy_NULL : HPy_GetAttr_s(ctx, module, "did_you_mean");
  HPy found = HPy_IsNull(find) ? HPy_NULL : fb_call(ctx, find, args, 2, HPy_NULL);
  HPy_ssize_t n;
  const char *text = HPy_IsNull(found) ? NULL : fb_text_get(ctx, found, &n);
  snprintf(out, size, "%s", text != NULL ? text : "");
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
  if (!HPy_IsNull(find)) HPy_Close(ctx, find);
  if (!HPy_IsNull(module)) HPy_Close(ctx, module);
}
