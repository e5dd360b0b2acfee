/* The table of hooks and set_hooks(). */
#include "hooks.h"

#include "hold.h"
#include "text.h"
#include "value.h"

static const char *const names[FB_N_HOOKS] = {
    [FB_HOOK_CLASSIFY] = "classify",
    [FB_HOOK_CLASS_FOR_TYPE_INDEX] = "class_for_type_index",
    [FB_HOOK_ERROR_TO_EXCEPTION] = "error_to_exception",
    [FB_HOOK_EXCEPTION_TO_ERROR] = "exception_to_error",
    [FB_HOOK_CALL_GUARDED] = "call_guarded",
    [FB_HOOK_CHECK_SIGNALS] = "check_signals",
    [FB_HOOK_DLPACK_CAPSULE] = "dlpack_capsule",
    [FB_HOOK_ARRAY_TO_TENSOR] = "array_to_tensor",
    [FB_HOOK_TENSOR_TO_ARRAY] = "tensor_to_array",
    [FB_HOOK_ARRAY_STREAM] = "array_stream",
    [FB_HOOK_STRING_CLASS] = "string_class",
    [FB_HOOK_BYTES_CLASS] = "bytes_class",
    [FB_HOOK_WRAP_DTYPE] = "wrap_dtype",
    [FB_HOOK_WRAP_OPAQUE_PTR] = "wrap_opaque_ptr",
    [FB_HOOK_DEVICE_CLASS] = "device_class",
    [FB_HOOK_SHAPE_CLASS] = "shape_class",
    [FB_HOOK_CONVERT] = "convert",
};

/* Written by set_hooks during the import of the package, before other threads can come here; only read afterwards. */
static FbCell hooks[FB_N_HOOKS];

HPy fb_hook_get(HPyContext *ctx, FbHook hook) {
  HPy h = fb_cell_load(ctx, &hooks[hook]);
  if (HPy_IsNull(h)) fb_raise(ctx, ctx->h_RuntimeError, "ffi_hpy._core: the hook '%s' is not set", names[hook]);
  return h;
}

HPy fb_hook_call(HPyContext *ctx, FbHook hook, const HPy *args, size_t nargs) {
  HPy h = fb_hook_get(ctx, hook);
  if (HPy_IsNull(h)) return HPy_NULL;
  HPy result = fb_call(ctx, h, args, nargs, HPy_NULL);
  HPy_Close(ctx, h);
  return result;
}

HPyDef_METH(fb_set_hooks, "set_hooks", HPyFunc_KEYWORDS, .doc = "Give the binding its Python half.")
static HPy fb_set_hooks_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  static const FbKeywords keywords = {"set_hooks", names, FB_N_HOOKS, NULL};
  (void)self;
  if (nargs != 0) return fb_raise(ctx, ctx->h_TypeError, "set_hooks() takes keyword arguments only");
  HPy_ssize_t n = HPy_IsNull(kwnames) ? 0 : HPy_Length(ctx, kwnames);
  for (HPy_ssize_t i = 0; i < n; i++) {
    int hook = fb_keywords_find(ctx, &keywords, kwnames, i);
    if (hook < 0) return HPy_NULL;
    fb_cell_store(ctx, &hooks[hook], args[i]);
    if (hook == FB_HOOK_WRAP_DTYPE) fb_data_type_forget();
    if (hook == FB_HOOK_STRING_CLASS) fb_text_class_made(args[i]);
  }
  return HPy_Dup(ctx, ctx->h_None);
}
