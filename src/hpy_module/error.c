/* Native errors and Python exceptions, and the class Error. */
#include "error.h"

#include "convert.h"
#include "hooks.h"
#include "object.h"
#include "text.h"

static const char no_error_set[] = "returned failure without setting an error";

static const TVMFFIErrorCell *cell_of(TVMFFIObject *error) { return (const TVMFFIErrorCell *)(error + 1); }

bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind) {
  const TVMFFIByteArray *have = &cell_of(error)->kind;
  return have->size == strlen(kind) && memcmp(have->data, kind, have->size) == 0;
}

HPy fb_error_raise_pending(HPyContext *ctx, const char *callee) {
  TVMFFIObjectHandle raised = NULL;
  TVMFFIErrorMoveFromRaised(&raised);
  if (raised == NULL) {
    if (HPyErr_Occurred(ctx)) return HPy_NULL; /* the legacy protocol: the exception itself is waiting */
    return fb_raise(ctx, ctx->h_RuntimeError, "%s() %s", callee != NULL && *callee ? callee : "native function",
                    no_error_set);
  }
  if (fb_error_is_kind(raised, "EnvErrorAlreadySet")) {
    TVMFFIObjectDecRef(raised);
    if (HPyErr_Occurred(ctx)) return HPy_NULL;
    return fb_raise(ctx, ctx->h_RuntimeError, "native code reported a Python exception, but none is set");
  }
  HPy error = fb_object_wrap(ctx, raised);
  if (HPy_IsNull(error)) return HPy_NULL;
  HPy exception = fb_hook_call(ctx, FB_HOOK_ERROR_TO_EXCEPTION, &error, 1);
  HPy_Close(ctx, error);
  if (HPy_IsNull(exception)) return HPy_NULL;
  if (fb_ext != NULL) {
    fb_ext->error_restore(ctx, exception);
  } else {
    HPy type = HPy_Type(ctx, exception);
    HPyErr_SetObject(ctx, type, exception);
    HPy_Close(ctx, type);
  }
  HPy_Close(ctx, exception);
  return HPy_NULL;
}

TVMFFIObjectHandle fb_error_set_aside(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  return error;
}

void fb_error_put_back(TVMFFIObjectHandle error) {
  if (error == NULL) return;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
}

void fb_error_discard(void) {
  TVMFFIObjectHandle error = fb_error_set_aside();
  if (error != NULL) TVMFFIObjectDecRef(error);
}

int fb_error_set_pending(HPyContext *ctx, HPy error) {
  TVMFFIObject *handle = fb_object_take(ctx, error);
  if (handle != NULL && handle->type_index == kTVMFFIError) {
    /* The native frames between the callback and its caller, as far as the core can tell. */
    const TVMFFIByteArray *frames = TVMFFIBacktrace(NULL, 0, NULL, 0);
    if (frames != NULL && frames->size != 0) {
      cell_of(handle)->update_backtrace(handle, frames, kTVMFFIBacktraceUpdateModeAppend);
    }
    TVMFFIErrorSetRaised(handle);
  } else {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a callback failed, and its error could not be translated");
  }
  if (handle != NULL) TVMFFIObjectDecRef(handle);
  return -1;
}

/* Sets a native error for an exception when there is neither stack nor memory left to translate it: what stopped the
 * translation, the exception set now, says which. Clears it. Returns -1. */
static int fail_untranslated(HPyContext *ctx) {
  const char *kind = HPyErr_ExceptionMatches(ctx, ctx->h_RecursionError) ? "RecursionError"
                     : HPyErr_ExceptionMatches(ctx, ctx->h_MemoryError)  ? "MemoryError"
                                                                         : "RuntimeError";
  HPyErr_Clear(ctx);
  TVMFFIErrorSetRaisedFromCStr(kind, "a callback failed, and its exception could not be translated");
  return -1;
}

int fb_error_from_raised(HPyContext *ctx) {
  HPy exception = fb_ext->error_take(ctx);
  if (HPy_IsNull(exception)) {
    TVMFFIErrorSetRaisedFromCStr("SystemError", "a callback returned failure without setting an exception");
    return -1;
  }
  HPy error = fb_hook_call(ctx, FB_HOOK_EXCEPTION_TO_ERROR, &exception, 1);
  HPy_Close(ctx, exception);
  if (HPy_IsNull(error)) { /* what interrupted the translation, a KeyboardInterrupt perhaps, takes its place */
    HPy interruption = fb_ext->error_take(ctx);
    if (!HPy_IsNull(interruption)) {
      error = fb_hook_call(ctx, FB_HOOK_EXCEPTION_TO_ERROR, &interruption, 1);
      HPy_Close(ctx, interruption);
    }
  }
  if (HPy_IsNull(error)) return fail_untranslated(ctx);
  fb_error_set_pending(ctx, error);
  HPy_Close(ctx, error);
  return -1;
}

/* --- class Error ---------------------------------------------------------------------------------------------------- */

/* The owned handle of an optional argument: None gives NULL. Returns 0, or -1 with TypeError. */
static int optional_handle(HPyContext *ctx, HPy value, const char *what, TVMFFIObject **out) {
  *out = NULL;
  if (HPy_Is(ctx, value, ctx->h_None)) return 0;
  *out = fb_object_take(ctx, value);
  if (*out != NULL) return 0;
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, "Error() argument '%s' must be an object or None, not %s", what,
           fb_type_name(ctx, value, given, sizeof(given)));
  return -1;
}

/* The optional arguments of Error(), owned. Returns 0, or -1 with TypeError. */
static int context_args(HPyContext *ctx, const HPy *args, HPy_ssize_t nargs, TVMFFIObject *out[2]) {
  out[0] = out[1] = NULL;
  if (nargs > 3 && optional_handle(ctx, args[3], "cause", &out[0]) != 0) return -1;
  if (out[0] != NULL && out[0]->type_index != kTVMFFIError) {
    fb_raise(ctx, ctx->h_TypeError, "Error() argument 'cause' must be an Error or None");
    return -1;
  }
  return nargs > 4 ? optional_handle(ctx, args[4], "extra_context", &out[1]) : 0;
}

HPyDef_SLOT(error_init, HPy_tp_init)
static int error_init_impl(HPyContext *ctx, HPy self, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs < 3 || nargs > 5) {
    fb_raise(ctx, ctx->h_TypeError,
             "Error() takes kind, message, backtrace[, cause[, extra_context]], got %zd arguments", nargs);
    return -1;
  }
  static const char *const what[] = {"Error() argument 'kind'", "Error() argument 'message'",
                                     "Error() argument 'backtrace'"};
  TVMFFIByteArray text[3];
  for (int i = 0; i < 3; i++) {
    HPy_ssize_t n;
    text[i].data = fb_text_arg(ctx, args[i], what[i], &n);
    if (text[i].data == NULL) return -1;
    text[i].size = (size_t)n;
  }
  TVMFFIObject *context[2];
  TVMFFIObjectHandle made = NULL;
  int rc = context_args(ctx, args, nargs, context);
  if (rc == 0 &&
      TVMFFIErrorCreateWithCauseAndExtraContext(&text[0], &text[1], &text[2], context[0], context[1], &made)) {
    HPyErr_NoMemory(ctx);
    rc = -1;
  }
  for (int i = 0; i < 2; i++) {
    if (context[i] != NULL) TVMFFIObjectDecRef(context[i]);
  }
  return rc == 0 ? fb_object_put(ctx, self, made) : -1;
}

/* The text at an offset of the cell. */
static HPy read_text(HPyContext *ctx, HPy self, size_t offset) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (place == NULL) return HPy_NULL;
  const TVMFFIByteArray *text = (const TVMFFIByteArray *)((const char *)cell_of(place->handle) + offset);
  HPy result = fb_text_new(ctx, text->data, text->size);
  fb_place_unuse(place);
  return result;
}

/* The object that the error owns at an offset of the cell; None for NULL. */
static HPy read_object(HPyContext *ctx, HPy self, size_t offset) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (place == NULL) return HPy_NULL;
  TVMFFIObjectHandle handle;
  memcpy(&handle, (const char *)cell_of(place->handle) + offset, sizeof(handle));
  if (handle != NULL) TVMFFIObjectIncRef(handle);
  fb_place_unuse(place);
  return handle == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_object_result(ctx, handle);
}

HPyDef_GET(error_kind, "kind", .doc = "Kind of the error: the name of an exception class.")
static HPy error_kind_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_text(ctx, self, offsetof(TVMFFIErrorCell, kind));
}

HPyDef_GET(error_message, "message", .doc = "What went wrong.")
static HPy error_message_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_text(ctx, self, offsetof(TVMFFIErrorCell, message));
}

HPyDef_GET(error_backtrace, "backtrace", .doc = "Frames, most recent call first.")
static HPy error_backtrace_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_text(ctx, self, offsetof(TVMFFIErrorCell, backtrace));
}

HPyDef_GET(error_cause, "cause", .doc = "The error that led to this one, or None.")
static HPy error_cause_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_object(ctx, self, offsetof(TVMFFIErrorCell, cause_chain));
}

HPyDef_GET(error_extra, "extra_context", .doc = "A value attached to the error, or None.")
static HPy error_extra_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_object(ctx, self, offsetof(TVMFFIErrorCell, extra_context));
}

HPyDef_METH(error_update, "update_backtrace", HPyFunc_VARARGS, .doc = "Replace the backtrace, or append to it.")
static HPy error_update_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  if (nargs < 1 || nargs > 2) return fb_raise(ctx, ctx->h_TypeError, "update_backtrace() takes text[, append]");
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, args[0], "update_backtrace() argument 1", &n);
  if (text == NULL) return HPy_NULL;
  int append = nargs > 1 ? HPy_IsTrue(ctx, args[1]) : 0;
  if (append < 0) return HPy_NULL;
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFIError, 1);
  if (place == NULL) return HPy_NULL;
  TVMFFIByteArray bytes = {text, (size_t)n};
  cell_of(place->handle)
      ->update_backtrace(place->handle, &bytes,
                         append ? kTVMFFIBacktraceUpdateModeAppend : kTVMFFIBacktraceUpdateModeReplace);
  fb_place_unuse(place);
  return HPy_Dup(ctx, ctx->h_None);
}

FB_OBJECT_NEW(error)

HPy fb_error_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&error_new,   &error_init,  &error_kind,   &error_message, &error_backtrace,
                              &error_cause, &error_extra, &error_update, NULL,           NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.Error",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "A native error value (not an exception).",
  };
  return fb_object_derive(ctx, &spec, base, &error_type);
}
