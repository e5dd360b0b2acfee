/* Native errors and Python exceptions, and the class Error. */
#include "error.h"

#include "convert.h"
#include "hooks.h"
#include "object.h"
#include "text.h"

_Atomic(uint64_t) fb_error_n_raised;

static const char no_error_set[] = "returned failure without setting an error";

static const TVMFFIErrorCell *cell_of(TVMFFIObject *error) { return (const TVMFFIErrorCell *)(error + 1); }

bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind) {
  const TVMFFIByteArray *have = &cell_of(error)->kind;
  return have->size == strlen(kind) && memcmp(have->data, kind, have->size) == 0;
}

/* Calls a hook with an error or exception and a moment. */
static HPy call_hook(HPyContext *ctx, FbHook hook, HPy subject, uint64_t moment) {
  HPy args[2] = {subject, HPyLong_FromUInt64_t(ctx, moment)};
  if (HPy_IsNull(args[1])) return HPy_NULL;
  HPy result = fb_hook_call(ctx, hook, args, 2);
  HPy_Close(ctx, args[1]);
  return result;
}

static HPy raise_exception(HPyContext *ctx, HPy exception) {
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

/* The exception that an error has as its context itself, untranslated (error_carry): new handle, or HPy_NULL. */
static HPy carried_by(HPyContext *ctx, TVMFFIObject *error) {
  TVMFFIObject *context = cell_of(error)->extra_context;
  if (context == NULL || context->type_index != kTVMFFIOpaquePyObject) return HPy_NULL;
  HPy inside = fb_opaque_unwrap(ctx, context);
  if (HPy_IsNull(inside) || HPy_TypeCheck(ctx, inside, ctx->h_BaseException)) return inside;
  HPy_Close(ctx, inside);
  return HPy_NULL;
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
  HPy carried = carried_by(ctx, raised);
  if (FB_UNLIKELY(!HPy_IsNull(carried))) {
    TVMFFIObjectDecRef(raised);
    return raise_exception(ctx, carried);
  }
  HPy error = fb_object_wrap(ctx, raised);
  if (HPy_IsNull(error)) return HPy_NULL;
  uint64_t moment = atomic_fetch_add_explicit(&fb_error_n_raised, 1, memory_order_relaxed) + 1;
  HPy exception = call_hook(ctx, FB_HOOK_ERROR_TO_EXCEPTION, error, moment);
  HPy_Close(ctx, error);
  return HPy_IsNull(exception) ? HPy_NULL : raise_exception(ctx, exception);
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

/* An ffi.OpaquePyObject of an object, owned; NULL without memory. */
static TVMFFIObject *opaque_of(HPyContext *ctx, HPy h) {
  FbHold *hold = fb_hold_new(ctx, h);
  TVMFFIObjectHandle made = NULL;
  if (hold != NULL && TVMFFIObjectCreateOpaque(hold, kTVMFFIOpaquePyObject, fb_hold_drop, &made) != 0) {
    fb_hold_drop(hold);
    fb_error_discard();
  }
  return made;
}

/* Sets a native error for an exception when there is no stack or memory left for Python to translate it. The exception
 * itself is the context of the error, so that it comes back as it is. Nothing here calls Python code. Returns -1. */
static int error_carry(HPyContext *ctx, HPy exception) {
  char kind[128];
  fb_type_name(ctx, exception, kind, sizeof(kind));
  TVMFFIObject *context = opaque_of(ctx, exception);
  if (context == NULL) HPyErr_Clear(ctx);
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

/* The native error of an exception, a new handle; HPy_NULL if it could not be translated, with what stopped that in *why,
 * HPy_NULL too if nothing says. */
static HPy translate(HPyContext *ctx, HPy exception, uint64_t began, HPy *why) {
  HPy error = call_hook(ctx, FB_HOOK_EXCEPTION_TO_ERROR, exception, began);
  *why = HPy_IsNull(error) ? fb_ext->error_take(ctx) : HPy_NULL;
  return error;
}

/* Whether an exception says that the stack or memory is used up. */
static bool is_exhaustion(HPyContext *ctx, HPy exception) {
  return HPy_TypeCheck(ctx, exception, ctx->h_RecursionError) || HPy_TypeCheck(ctx, exception, ctx->h_MemoryError);
}

int fb_error_from_raised(HPyContext *ctx, uint64_t began) {
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
    fb_error_set_pending(ctx, error);
    HPy_Close(ctx, error);
  }
  if (!HPy_IsNull(why)) HPy_Close(ctx, why);
  HPy_Close(ctx, exception);
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
