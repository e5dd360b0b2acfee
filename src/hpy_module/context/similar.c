/* Suggestions for misspelt names. The package compares the names, when a message needs a suggestion. */
#include "similar.h"

#include <stdio.h>

#include "hook.h"
#include "text.h"

void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size) {
  HPy args[2] = {name, names};
  HPy found = fb_hook_call(ctx, FB_HOOK_DID_YOU_MEAN, args, 2);
  HPy_ssize_t n;
  const char *text = HPy_IsNull(found) ? NULL : fb_text_get(ctx, found, &n);
  snprintf(out, size, "%s", text != NULL ? text : "");
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(found)) HPy_Close(ctx, found);
}
