#include "rare.h"

#include "hpy_module/context/call.h"

HPy fb_rare_call(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value) {
  HPy name = HPyUnicode_FromString(ctx, method);
  if (HPy_IsNull(name)) return HPy_NULL;
  HPy args[3] = {self, key, value};
  HPy result = fb_call_method(ctx, name, args, HPy_IsNull(key) ? 1 : HPy_IsNull(value) ? 2 : 3);
  HPy_Close(ctx, name);
  return result;
}

int fb_rare_run(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value) {
  HPy result = fb_rare_call(ctx, self, method, key, value);
  if (HPy_IsNull(result)) return -1;
  HPy_Close(ctx, result);
  return 0;
}
