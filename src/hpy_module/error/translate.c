/* Python exceptions as native errors: payloads, which are the exception itself in a hold, and error objects.
 *
 * A payload is the cheap way: no message and no backtrace is made unless native code asks (payload_make). An error
 * object is made by a hook of the package; if that fails, mostly because stack or memory is used up, it is made here
 * without Python's help. What takes or restores a raised exception needs the extension: elsewhere the exception arrives
 * as an _core.Error, which guard.c got from the package, at fb_translate_set. */
#include "translate.h"

#include "error.h"
#include "hpy_module/context/attr.h"
#include "hpy_module/context/hold.h"
#include "hpy_module/context/raised.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/opaque.h"
#include "hpy_module/object/wrap.h"

/* --- error objects ------------------------------------------------------------------------------------------------ */

/* An error object without Python's help, owned; NULL without memory. */
static TVMFFIObject *plain_error(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIObject *context) {
  const TVMFFIByteArray none = {"", 0};
  TVMFFIObjectHandle error = NULL;
  if (TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &none, NULL, context, &error) != 0) return NULL;
  return error;
}

/* An error in the binding's own words, owned; NULL without memory. */
static TVMFFIObject *text_error(const char *kind, const char *message) {
  return plain_error((TVMFFIByteArray){kind, strlen(kind)}, (TVMFFIByteArray){message, strlen(message)}, NULL);
}

/* The error object behind an _core.Error, owned, with the native frames between the callback and its caller. */
static TVMFFIObject *object_of(HPyContext *ctx, HPy error) {
  TVMFFIObject *object = fb_object_take(ctx, error);
  if (object == NULL || object->type_index != kTVMFFIError) {
    if (object != NULL) TVMFFIObjectDecRef(object);
    return text_error("RuntimeError", "a callback failed, and its error could not be translated");
  }
  const TVMFFIByteArray *frames = TVMFFIBacktrace(NULL, 0, NULL, 0); /* none, unless the environment asks for them */
  if (frames != NULL && frames->size != 0) {
    fb_error_update_backtrace(object, frames, true);
  }
  return object;
}

/* The error object of an exception when there is no stack or memory left for Python to translate it: owned, NULL
 * without memory. The exception itself is the context of the error, so that it comes back as it is (carried_by in
 * error.c). The message is the first of its `args` if that is a str: str(exception) might run Python code. */
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

/* Takes what a hook has raised: an interruption, KeyboardInterrupt perhaps, or HPy_NULL for lack of stack or memory. */
static HPy take_interruption(HPyContext *ctx) {
  if (!fb_error_is_exhaustion(ctx)) return fb_ext->error_take(ctx);
  HPyErr_Clear(ctx);
  return HPy_NULL;
}

/* Calls a hook that translates an exception, with the moment at which the callback began. Returns the _core.Error. If
 * the hook fails it returns HPy_NULL, and *other is the exception that the hook raised; HPy_NULL for lack of stack or
 * memory. */
static HPy translate(HPyContext *ctx, FbHook hook, HPy exception, uint64_t began, HPy *other) {
  HPy error = fb_error_call_hook(ctx, hook, exception, began);
  *other = HPy_NULL;
  if (FH_UNLIKELY(HPy_IsNull(error))) *other = take_interruption(ctx);
  return error;
}

/* An interruption takes the place of an exception. Both are taken; returns the interruption. */
static HPy replace(HPyContext *ctx, HPy exception, HPy interruption) {
  HPy_Close(ctx, exception);
  return interruption;
}

/* The error object of an exception, which is taken: owned, NULL without memory. */
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

/* Takes an error object; NULL stands for missing memory. Returns -1. */
static int put_object(TVMFFIObject *error) {
  if (error != NULL) {
    fb_error_slot_put_object(error);
  } else {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", "a callback failed, and there is no memory for its exception");
  }
  return -1;
}

int fb_translate_set(HPyContext *ctx, HPy error) { return put_object(object_of(ctx, error)); }

/* --- payloads ----------------------------------------------------------------------------------------------------- */

/* `make` of a payload (error_deferred.h): native code asks for the error object of an exception. It may do so on a
 * thread on which another exception is raised; the hook must not run on top of that. The moment 0 is not looked at by
 * this hook. */
static TVMFFIObject *payload_make(void *payload) {
  FbThread thread;
  if (fb_thread_attach(&thread) != 0)
    return text_error("RuntimeError", "an exception, but the interpreter is going away");
  HPyContext *ctx = thread.ctx;
  FbRaised raised;
  fb_raised_take(&raised);
  TVMFFIObject *error = error_of(ctx, FB_HOOK_EXCEPTION_ASKED_FOR, fb_hold_take(ctx, payload), 0);
  fb_raised_put(&raised);
  fb_thread_detach(&thread);
  return error;
}

static const fh_error_payload_operations exceptions = {payload_make, fb_hold_drop};

/* Whether an exception has nothing in its __dict__, so that it comes through native code for the first time: the
 * package would have left its native error or its way there (ffi_hpy/_errors/reraise.py). */
static bool is_new(HPyContext *ctx, HPy exception) {
  HPy dict = HPy_GetAttr_s(ctx, exception, "__dict__");
  HPy_ssize_t n = HPy_IsNull(dict) ? -1 : HPy_Length(ctx, dict);
  if (!HPy_IsNull(dict)) HPy_Close(ctx, dict);
  if (n < 0) HPyErr_Clear(ctx);
  return n == 0;
}

/* Whether an exception may be the pending error as it is. The hook notes what belongs to this way in its traceback. If
 * an interruption comes meanwhile it is *other. */
static bool may_be_payload(HPyContext *ctx, HPy exception, uint64_t began, HPy *other) {
  if (!fb_error_slot_takes_payloads()) return false;
  if (FH_LIKELY(is_new(ctx, exception))) return true;
  HPy answer = fb_error_call_hook(ctx, FB_HOOK_EXCEPTION_LEAVES, exception, began);
  if (HPy_IsNull(answer)) return *other = take_interruption(ctx), false;
  bool may = fb_context_is_same(ctx, answer, ctx->h_True);
  HPy_Close(ctx, answer);
  return may;
}

/* Makes an exception the pending error as it is; false, and nothing done, if that is not possible. An interruption that
 * has come instead is *other. */
static bool put_payload(HPyContext *ctx, HPy exception, uint64_t began, HPy *other) {
  if (!may_be_payload(ctx, exception, began, other)) return false;
  FbHold *hold = fb_hold_new(ctx, exception);
  if (hold == NULL) return HPyErr_Clear(ctx), false;
  fb_error_slot_put((FbPendingError){.payload = hold});
  return true;
}

/* Asks the package about an error that it made, or that native code made. What the hook raises instead of an answer is
 * an interruption, which takes the place of the error. */
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
  if (fb_error_is_exhaustion(ctx)) { /* the error itself may say that */
    HPyErr_Clear(ctx);
    return true;
  }
  TVMFFIObjectDecRef(pending->error);
  *pending = (FbPendingError){.error = text_error("EnvErrorAlreadySet", "")};
  return true;
}

bool fb_translate_interrupts(HPyContext *ctx, FbPendingError *pending) {
  HPy exception = pending->payload != NULL ? fb_ref_load(ctx, &((const FbHold *)pending->payload)->ref)
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
