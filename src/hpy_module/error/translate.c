/* Conversion of Python exceptions to native errors: payloads, which own the exception itself (FbPyOwner), and error
 * objects.
 *
 * A payload is cheap: neither a message nor a backtrace is made until native code asks for them (payload_make). A hook
 * of the package makes an error object; if the hook fails, usually because stack or memory is exhausted, this file
 * makes the error object without Python. Code that takes or restores a raised exception needs the extension. Elsewhere
 * the exception reaches fb_translate_set as a _core.Error, which error.c got from the package. */
#include "translate.h"

#include "error.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/wrap.h"

/* --- error objects ------------------------------------------------------------------------------------------------ */

/* Makes an error object without Python, owned; NULL if memory is exhausted. */
static TVMFFIObject *plain_error(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIObject *context) {
  const TVMFFIByteArray none = {"", 0};
  TVMFFIObjectHandle error = NULL;
  if (TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &none, NULL, context, &error) != 0) return NULL;
  return error;
}

/* Makes an error with a message of the binding, owned; NULL if memory is exhausted. */
static TVMFFIObject *text_error(const char *kind, const char *message) {
  return plain_error((TVMFFIByteArray){kind, strlen(kind)}, (TVMFFIByteArray){message, strlen(message)}, NULL);
}

/* Returns the error object of a _core.Error, owned, with the native frames between the callback and its caller. */
static TVMFFIObject *object_of(HPyContext *ctx, HPy error) {
  TVMFFIObject *object = fb_object_take(ctx, error);
  if (object == NULL || object->type_index != kTVMFFIError) {
    if (object != NULL) TVMFFIObjectDecRef(object);
    return text_error("RuntimeError", "a callback failed, and its error could not be translated");
  }
  const TVMFFIByteArray *frames = TVMFFIBacktrace(NULL, 0, NULL, 0); /* none, unless the environment enables them */
  if (frames != NULL && frames->size != 0) {
    fb_error_update_backtrace(object, frames, true);
  }
  return object;
}

/* Makes the error object of an exception when stack or memory does not suffice for Python code: owned, NULL if memory
 * is exhausted. The exception itself is the context of the error, so that it returns to Python unchanged
 * (fb_error_carried_by). The message is the first of its `args` if that is a str, because str(exception) might run
 * Python code. */
static TVMFFIObject *carrying_error(HPyContext *ctx, HPy exception) {
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
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* the message could not be read */
  TVMFFIByteArray kind_text = {kind, strlen(kind)}, message = {said, (size_t)n};
  TVMFFIObject *error = context == NULL ? NULL : plain_error(kind_text, message, context);
  if (context != NULL) TVMFFIObjectDecRef(context);
  if (!HPy_IsNull(first)) HPy_Close(ctx, first);
  if (!HPy_IsNull(args)) HPy_Close(ctx, args);
  return error;
}

/* Takes the exception of a hook: an interruption, for example KeyboardInterrupt; HPy_NULL if stack or memory is
 * exhausted. */
static HPy take_interruption(HPyContext *ctx) {
  if (!fb_error_is_exhaustion(ctx)) return fb_ext->error_take(ctx);
  HPyErr_Clear(ctx);
  return HPy_NULL;
}

/* Calls a hook that converts an exception, with the moment at which the callback began. Returns the _core.Error. If the
 * hook fails, returns HPy_NULL, and *other is the hook's exception, or HPy_NULL if stack or memory is exhausted. */
static HPy translate(HPyContext *ctx, FbHook hook, HPy exception, uint64_t began, HPy *other) {
  HPy error = fb_error_call_hook(ctx, hook, exception, began);
  *other = HPy_NULL;
  if (FH_UNLIKELY(HPy_IsNull(error))) *other = take_interruption(ctx);
  return error;
}

/* Replaces an exception by an interruption. Steals both; returns the interruption. */
static HPy replace(HPyContext *ctx, HPy exception, HPy interruption) {
  HPy_Close(ctx, exception);
  return interruption;
}

/* Makes the error object of an exception (stolen): owned, NULL if memory is exhausted. */
static TVMFFIObject *error_of(HPyContext *ctx, FbHook hook, HPy exception, uint64_t began) {
  HPy other, error = translate(ctx, hook, exception, began, &other);
  if (!HPy_IsNull(other)) {
    exception = replace(ctx, exception, other);
    error = translate(ctx, hook, exception, began, &other);
  }
  if (!HPy_IsNull(other)) exception = replace(ctx, exception, other);
  TVMFFIObject *object = HPy_IsNull(error) ? carrying_error(ctx, exception) : object_of(ctx, error);
  if (!HPy_IsNull(error)) HPy_Close(ctx, error);
  HPy_Close(ctx, exception);
  return object;
}

/* Makes an error object (stolen) the pending error; NULL means that memory was exhausted. Returns -1. */
static int put_object(TVMFFIObject *error) {
  if (error != NULL) {
    fb_error_slot_put_object(error);
  } else {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "a callback failed, and memory for its exception is missing");
  }
  return -1;
}

int fb_translate_set(HPyContext *ctx, HPy error) { return put_object(object_of(ctx, error)); }

/* --- payloads ----------------------------------------------------------------------------------------------------- */

/* `make` of a payload (error_deferred.h): native code requests the error object of an exception. Another exception may
 * be raised on the thread, and the hook must not run with it. This hook ignores its moment, 0. */
static TVMFFIObject *payload_make(void *payload) {
  FbThread thread;
  if (fb_thread_attach(&thread) != 0)
    return text_error("RuntimeError", "an exception, but the interpreter is going away");
  HPyContext *ctx = thread.ctx;
  FbRaised raised;
  fb_raised_take(&raised);
  TVMFFIObject *error = error_of(ctx, FB_HOOK_EXCEPTION_ASKED_FOR, fb_py_owner_take(ctx, payload), 0);
  fb_raised_put(&raised);
  fb_thread_detach(&thread);
  return error;
}

/* `copy` of a payload. */
static void *payload_copy(const void *payload) {
  FbThread thread;
  if (fb_thread_attach(&thread) != 0) return NULL;
  FbRaised raised;
  fb_raised_take(&raised);
  HPy exception = fb_ref_load(thread.ctx, &((const FbPyOwner *)payload)->ref);
  FbPyOwner *copy = fb_py_owner_new(thread.ctx, exception);
  if (copy == NULL) HPyErr_Clear(thread.ctx);
  HPy_Close(thread.ctx, exception);
  fb_raised_put(&raised);
  fb_thread_detach(&thread);
  return copy;
}

static const fh_error_payload_operations exceptions = {payload_make, fb_py_owner_drop, payload_copy};

/* Whether the __dict__ of an exception is empty, so that the exception passes through native code for the first time:
 * the package stores the native error or the traceback position there (ffi_hpy/_errors/reraise.py). */
static bool is_new(HPyContext *ctx, HPy exception) {
  HPy dict = HPy_GetAttr_s(ctx, exception, "__dict__");
  HPy_ssize_t n = HPy_IsNull(dict) ? -1 : HPy_Length(ctx, dict);
  if (!HPy_IsNull(dict)) HPy_Close(ctx, dict);
  if (n < 0) HPyErr_Clear(ctx);
  return n == 0;
}

/* Whether an exception may become the pending error unchanged. The hook records the part of the traceback that belongs
 * to this passage. An interruption that arrives in the hook is stored in *other. */
static bool may_be_payload(HPyContext *ctx, HPy exception, uint64_t began, HPy *other) {
  if (!fb_error_slot_takes_payloads()) return false;
  if (FH_LIKELY(is_new(ctx, exception))) return true;
  HPy answer = fb_error_call_hook(ctx, FB_HOOK_EXCEPTION_LEAVES, exception, began);
  if (HPy_IsNull(answer)) return *other = take_interruption(ctx), false;
  bool may = fb_context_is_same(ctx, answer, ctx->h_True);
  HPy_Close(ctx, answer);
  return may;
}

/* Makes an exception the pending error unchanged. Returns false, and does nothing, if that is not possible. An
 * interruption that arrived is stored in *other. */
static bool put_payload(HPyContext *ctx, HPy exception, uint64_t began, HPy *other) {
  if (!may_be_payload(ctx, exception, began, other)) return false;
  FbPyOwner *owner = fb_py_owner_new(ctx, exception);
  if (owner == NULL) return HPyErr_Clear(ctx), false;
  fb_error_slot_put((FbPendingError){.payload = owner});
  return true;
}

/* Asks the package about an error object. If the hook raises, its exception is an interruption, which replaces the
 * error. */
static bool ask_package(HPyContext *ctx, FbPendingError *pending) {
  TVMFFIObjectIncRef(pending->error);
  HPy error = fb_wrap_apart(ctx, pending->error);
  HPy answer = HPy_IsNull(error) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_INTERRUPTS, &error, 1);
  if (!HPy_IsNull(error)) HPy_Close(ctx, error);
  if (!HPy_IsNull(answer)) {
    bool interrupts = fb_context_is_same(ctx, answer, ctx->h_True);
    HPy_Close(ctx, answer);
    return interrupts;
  }
  if (fb_error_is_exhaustion(ctx)) { /* the error itself may report the exhaustion */
    HPyErr_Clear(ctx);
    return true;
  }
  TVMFFIObjectDecRef(pending->error);
  *pending = (FbPendingError){.error = text_error("EnvErrorAlreadySet", "")};
  return true;
}

bool fb_translate_interrupts(HPyContext *ctx, FbPendingError *pending) {
  HPy exception = pending->payload != NULL ? fb_ref_load(ctx, &((const FbPyOwner *)pending->payload)->ref)
                                           : fb_error_carried_by(ctx, pending->error);
  if (HPy_IsNull(exception)) return fb_error_is_kind(pending->error, "EnvErrorAlreadySet") || ask_package(ctx, pending);
  bool interrupts = fb_error_is_interruption(ctx, exception);
  HPy_Close(ctx, exception);
  return interrupts;
}

void fb_translate_init(void) { fb_error_slot_init(&exceptions); }

HPy fb_translate_take(HPyContext *ctx) { return fb_ext->error_take(ctx); }

int fb_translate_put(HPyContext *ctx, HPy exception, uint64_t began) {
  if (HPy_IsNull(exception)) {
    TVMFFIErrorSetRaisedFromCStr("SystemError", "a callback returned failure without setting an exception");
    return -1;
  }
  HPy other = HPy_NULL;
  if (FH_LIKELY(put_payload(ctx, exception, began, &other))) {
    HPy_Close(ctx, exception);
    return -1;
  }
  if (!HPy_IsNull(other)) exception = replace(ctx, exception, other);
  return put_object(error_of(ctx, FB_HOOK_EXCEPTION_TO_ERROR, exception, began));
}

int fb_translate_raised(HPyContext *ctx, uint64_t began) {
  return fb_translate_put(ctx, fb_translate_take(ctx), began);
}
