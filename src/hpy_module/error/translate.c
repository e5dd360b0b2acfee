/* A raised Python exception, as the thread's native error. */
#include "translate.h"

#include "error.h"
#include "hpy_module/context/attr.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/text.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/opaque.h"

int fb_translate_set(HPyContext *ctx, HPy error) {
  TVMFFIObject *handle = fb_object_take(ctx, error);
  if (handle != NULL && handle->type_index == kTVMFFIError) {
    /* The native frames between the callback and its caller, as far as the core can tell. */
    const TVMFFIByteArray *frames = TVMFFIBacktrace(NULL, 0, NULL, 0);
    if (frames != NULL && frames->size != 0) {
      TVMFFIErrorGetCellPtr(handle)->update_backtrace(handle, frames, kTVMFFIBacktraceUpdateModeAppend);
    }
    TVMFFIErrorSetRaised(handle);
  } else {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a callback failed, and its error could not be translated");
  }
  if (handle != NULL) TVMFFIObjectDecRef(handle);
  return -1;
}

/* Sets a native error for an exception when there is no stack or memory left for Python to translate it. The exception
 * itself is the context of the error, so that it comes back as it is. Nothing here calls Python code. Returns -1. */
static int error_carry(HPyContext *ctx, HPy exception) {
  char kind[128];
  fb_attr_type_name(ctx, exception, kind, sizeof(kind));
  TVMFFIObject *context = fb_opaque_new(ctx, exception);
  if (context == NULL) HPyErr_Clear(ctx), fb_error_slot_clear();
  HPy args = HPy_GetAttr_s(ctx, exception, "args");
  bool has_first = !HPy_IsNull(args) && HPyTuple_Check(ctx, args) && HPy_Length(ctx, args) > 0;
  HPy first = has_first ? HPy_GetItem_i(ctx, args, 0) : HPy_NULL;
  HPy_ssize_t n = 0;
  const char *said = !HPy_IsNull(first) && HPyUnicode_Check(ctx, first) ? fb_text_get(ctx, first, &n) : NULL;
  if (said == NULL) said = "", n = 0;
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* of a text that cannot be had */
  TVMFFIByteArray parts[3] = {{kind, strlen(kind)}, {said, (size_t)n}, {"", 0}};
  TVMFFIObjectHandle error = NULL;
  if (context != NULL &&
      TVMFFIErrorCreateWithCauseAndExtraContext(&parts[0], &parts[1], &parts[2], NULL, context, &error) == 0) {
    TVMFFIErrorSetRaised(error);
    TVMFFIObjectDecRef(error);
  } else {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "a callback failed, and there is no memory for its exception");
  }
  if (context != NULL) TVMFFIObjectDecRef(context);
  if (!HPy_IsNull(first)) HPy_Close(ctx, first);
  if (!HPy_IsNull(args)) HPy_Close(ctx, args);
  return -1;
}

/* The native error of an exception, a new handle; HPy_NULL if it could not be translated, with what stopped that in
 * *why, HPy_NULL too if nothing says. */
static HPy translate(HPyContext *ctx, HPy exception, uint64_t began, HPy *why) {
  HPy error = fb_error_call_hook(ctx, FB_HOOK_EXCEPTION_TO_ERROR, exception, began);
  *why = HPy_IsNull(error) ? fb_ext->error_take(ctx) : HPy_NULL;
  return error;
}

/* Whether an exception says that the stack or memory is used up. */
static bool is_exhaustion(HPyContext *ctx, HPy exception) {
  return HPy_TypeCheck(ctx, exception, ctx->h_RecursionError) || HPy_TypeCheck(ctx, exception, ctx->h_MemoryError);
}

int fb_translate_raised(HPyContext *ctx, uint64_t began) {
  HPy exception = fb_ext->error_take(ctx);
  if (HPy_IsNull(exception)) {
    TVMFFIErrorSetRaisedFromCStr("SystemError", "a callback returned failure without setting an exception");
    return -1;
  }
  HPy why, error = translate(ctx, exception, began, &why);
  if (!HPy_IsNull(why) && !is_exhaustion(ctx, why)) { /* an interruption, KeyboardInterrupt perhaps, takes its place */
    HPy_Close(ctx, exception);
    exception = why;
    error = translate(ctx, exception, began, &why);
  }
  if (HPy_IsNull(error)) {
    error_carry(ctx, exception);
  } else {
    fb_translate_set(ctx, error);
    HPy_Close(ctx, error);
  }
  if (!HPy_IsNull(why)) HPy_Close(ctx, why);
  HPy_Close(ctx, exception);
  return -1;
}
