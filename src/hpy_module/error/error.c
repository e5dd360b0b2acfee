/* Converts the contents of the error slot to a Python exception.
 *
 * The cases, in the order of the checks: an unchanged exception (a payload); nothing, or an error that stands for an
 * exception that is raised already; an error object that carries its exception; any other error object, for which the
 * package finds or makes an exception. */
#include "error.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/wrap.h"

uint64_t fb_error_n_raised;

FH_LOCK(backtraces, "backtraces", FH_RANK_PLAIN);

void fb_error_lock_backtraces(void) { fh_mutex_lock(&backtraces); }
void fb_error_unlock_backtraces(void) { fh_mutex_unlock(&backtraces); }

void fb_error_update_backtrace(TVMFFIObjectHandle error, const TVMFFIByteArray *text, bool is_appended) {
  fb_error_lock_backtraces();
  TVMFFIErrorGetCellPtr(error)->update_backtrace(
      error, text, is_appended ? kTVMFFIBacktraceUpdateModeAppend : kTVMFFIBacktraceUpdateModeReplace);
  fb_error_unlock_backtraces();
}

bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind) {
  const TVMFFIByteArray *have = &TVMFFIErrorGetCellPtr(error)->kind;
  return have->size == strlen(kind) && memcmp(have->data, kind, have->size) == 0;
}

HPy fb_error_call_hook(HPyContext *ctx, FbHook hook, HPy subject, uint64_t moment) {
  HPy args[2] = {subject, HPyLong_FromUInt64_t(ctx, moment)};
  if (HPy_IsNull(args[1])) return HPy_NULL;
  HPy result = fb_hook_call(ctx, hook, args, 2);
  HPy_Close(ctx, args[1]);
  return result;
}

/* Raises an exception and steals it. Returns HPy_NULL. A context without the extension may lose the traceback; there
 * the package's hook raises by itself (raise_for_error in ffi_hpy/error.py). */
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

HPy fb_error_carried_by(HPyContext *ctx, TVMFFIObjectHandle error) {
  /* acquire: pairs with context_of in visit_context.c */
  TVMFFIObject *context = fh_atomic_load_acquire(&TVMFFIErrorGetCellPtr(error)->extra_context);
  if (context == NULL || context->type_index != kTVMFFIOpaquePyObject) return HPy_NULL;
  HPy inside = fb_opaque_unwrap(ctx, context);
  if (HPy_IsNull(inside) || HPy_TypeCheck(ctx, inside, ctx->h_BaseException)) return inside;
  HPy_Close(ctx, inside);
  return HPy_NULL;
}

/* The moment of an exception that is about to be raised. Relaxed: only the number matters. */
static uint64_t next_moment(void) { return fh_atomic_add_relaxed(&fb_error_n_raised, 1) + 1; }

/* Raises an exception that passed through native code unchanged. Steals the owner. The hook records where the native
 * part of its traceback ends. If the hook fails because stack or memory is exhausted, the exception is raised without
 * that record. */
static HPy raise_own(HPyContext *ctx, FbPyOwner *owner) {
  HPy exception = fb_py_owner_take(ctx, owner);
  HPy noted = fb_error_call_hook(ctx, FB_HOOK_EXCEPTION_ARRIVES, exception, next_moment());
  if (FH_LIKELY(!HPy_IsNull(noted))) {
    HPy_Close(ctx, noted);
    return raise_exception(ctx, exception);
  }
  if (fb_error_is_exhaustion(ctx)) {
    HPyErr_Clear(ctx);
    return raise_exception(ctx, exception);
  }
  HPy_Close(ctx, exception); /* an interruption replaces it */
  return HPy_NULL;
}

/* Whether an exception is raised on this thread. The cffi backend keeps the exception of a signal handler until it is
 * asked for it. */
static bool is_raised(HPyContext *ctx) {
  if (HPyErr_Occurred(ctx)) return true;
  if (!fb_thread_has_cffi_backend) return false;
  HPy nothing = fb_hook_call(ctx, FB_HOOK_CHECK_SIGNALS, NULL, 0);
  if (HPy_IsNull(nothing)) return true;
  HPy_Close(ctx, nothing);
  return false;
}

/* Whether an error only says that an iteration has ended. */
static bool is_end_of_iteration(TVMFFIObject *error) {
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  return cell->message.size == 0 && cell->backtrace.size == 0 && cell->cause_chain == NULL &&
         fh_atomic_load_acquire(&cell->extra_context) == NULL && fb_error_is_kind(error, "StopIteration");
}

HPy fb_error_raise(HPyContext *ctx, FbPendingError pending, const char *callee) {
  if (pending.payload != NULL) return raise_own(ctx, pending.payload);
  TVMFFIObject *raised = pending.error;
  if (raised == NULL) {
    if (is_raised(ctx)) return HPy_NULL; /* native code raised by the interpreter's own functions */
    return fb_raise(ctx, ctx->h_RuntimeError, FB_MESSAGE_NO_ERROR,
                    callee != NULL && *callee ? callee : "native function");
  }
  /* By convention this kind means that the exception is raised on this thread already. Usually a signal handler raised
   * it, and native code learned of it by TVMFFIEnvCheckSignals. */
  if (fb_error_is_kind(raised, "EnvErrorAlreadySet")) {
    TVMFFIObjectDecRef(raised);
    if (is_raised(ctx)) return HPy_NULL;
    return fb_raise(ctx, ctx->h_RuntimeError, FB_MESSAGE_NO_EXCEPTION);
  }
  if (is_end_of_iteration(raised)) {
    TVMFFIObjectDecRef(raised);
    return HPyErr_SetObject(ctx, ctx->h_StopIteration, ctx->h_None), HPy_NULL;
  }
  HPy carried = fb_error_carried_by(ctx, raised);
  if (FH_UNLIKELY(!HPy_IsNull(carried))) {
    TVMFFIObjectDecRef(raised);
    return raise_exception(ctx, carried);
  }
  HPy error = fb_wrap_object(ctx, raised);
  if (HPy_IsNull(error)) return HPy_NULL;
  HPy exception = fb_error_call_hook(ctx, FB_HOOK_ERROR_TO_EXCEPTION, error, next_moment());
  HPy_Close(ctx, error);
  return HPy_IsNull(exception) ? HPy_NULL : raise_exception(ctx, exception);
}

HPy fb_error_raise_pending(HPyContext *ctx, const char *callee) {
  return fb_error_raise(ctx, fb_error_slot_take_pending(ctx), callee);
}

/* The error with another message (stolen) and without a context; NULL with an exception raised. */
static TVMFFIObjectHandle with_message(HPyContext *ctx, const TVMFFIErrorCell *cell, HPy message) {
  TVMFFIObjectHandle made = NULL;
  HPy_ssize_t n;
  const char *data = HPy_IsNull(message) ? NULL : fb_text_get(ctx, message, &n);
  if (data != NULL) {
    TVMFFIByteArray text = {data, (size_t)n};
    fb_error_lock_backtraces();
    int rc =
        TVMFFIErrorCreateWithCauseAndExtraContext(&cell->kind, &text, &cell->backtrace, cell->cause_chain, NULL, &made);
    fb_error_unlock_backtraces();
    if (rc != 0) HPyErr_NoMemory(ctx);
  }
  if (!HPy_IsNull(message)) HPy_Close(ctx, message);
  return made;
}

void fb_error_name_classes(HPyContext *ctx, TVMFFIObjectHandle *error, const TVMFFIAny *args, const HPy *objects,
                           size_t n) {
  const TVMFFIErrorCell *cell = *error == NULL ? NULL : TVMFFIErrorGetCellPtr(*error);
  /* acquire: pairs with context_of in visit_context.c */
  TVMFFIObjectHandle context = cell == NULL ? NULL : fh_atomic_load_acquire(&cell->extra_context);
  if (!ffi_hpy_is_class_places(context)) return;
  const TVMFFIByteArray *places = TVMFFIBytesGetByteArrayPtr(context);
  HPy parts[] = {HPyBytes_FromStringAndSize(ctx, cell->message.data, (HPy_ssize_t)cell->message.size),
                 HPyBytes_FromStringAndSize(ctx, places->data, (HPy_ssize_t)places->size),
                 HPyLong_FromSize_t(ctx, (uintptr_t)args),
                 HPyTuple_FromArray(ctx, (HPy *)(uintptr_t)objects, (HPy_ssize_t)n)};
  bool is_complete = true;
  for (int k = 0; k < 4; ++k) is_complete &= !HPy_IsNull(parts[k]);
  HPy message = is_complete ? fb_hook_call(ctx, FB_HOOK_NAME_CLASSES, parts, 4) : HPy_NULL;
  TVMFFIObjectHandle named = with_message(ctx, cell, message);
  for (int k = 0; k < 4; ++k) {
    if (!HPy_IsNull(parts[k])) HPy_Close(ctx, parts[k]);
  }
  TVMFFIObjectDecRef(*error);
  *error = named;
}

bool fb_error_is_interruption(HPyContext *ctx, HPy exception) {
  return !HPy_TypeCheck(ctx, exception, ctx->h_Exception) || HPy_TypeCheck(ctx, exception, ctx->h_RecursionError) ||
         HPy_TypeCheck(ctx, exception, ctx->h_MemoryError);
}

bool fb_error_forget(HPyContext *ctx) {
  if (!HPyErr_Occurred(ctx)) return true;
  if (!HPyErr_ExceptionMatches(ctx, ctx->h_Exception)) return false;
  HPyErr_Clear(ctx);
  return true;
}

bool fb_error_is_exhaustion(HPyContext *ctx) {
  return HPyErr_ExceptionMatches(ctx, ctx->h_RecursionError) || HPyErr_ExceptionMatches(ctx, ctx->h_MemoryError);
}

/* --- guarded calls ----------------------------------------------------------------------------------------------- */

/* Guarded calls: a function of the package makes the call and returns the exception that it caught. Also counts the
 * nested calls of each thread that may call back here. */

enum { DEPTH_LIMIT = 100 }; /* a quarter of the depth that PyPy's default stack allows */
static FH_THREAD_LOCAL int depth;

/* Whether the extension counts the calls. */
FH_INLINE bool is_counted(void) {
  return FHPY_EXTENSION_HAS(fb_ext, recursion_leave) && fb_ext->recursion_enter != NULL;
}

bool fb_guard_enter(HPyContext *ctx) {
  if (fb_ext != NULL) return !is_counted() || fb_ext->recursion_enter(" in native code") == 0;
  if (depth < DEPTH_LIMIT) {
    ++depth;
    return true;
  }
  fb_raise(ctx, ctx->h_RecursionError, "maximum recursion depth exceeded: callbacks within callbacks");
  return false;
}

void fb_guard_leave(void) {
  if (fb_ext == NULL) {
    --depth;
  } else if (is_counted()) {
    fb_ext->recursion_leave();
  }
}

/* Reads the result of the hook: (True, value) or (False, Error). */
static FbGuarded read_answer(HPyContext *ctx, HPy answer, HPy *out) {
  HPy ok = HPy_GetItem_i(ctx, answer, 0);
  if (HPy_IsNull(ok)) return FB_GUARDED_BROKEN;
  bool returned = fb_context_is_same(ctx, ok, ctx->h_True);
  HPy_Close(ctx, ok);
  *out = HPy_GetItem_i(ctx, answer, 1);
  if (HPy_IsNull(*out)) return FB_GUARDED_BROKEN;
  return returned ? FB_GUARDED_RETURNED : FB_GUARDED_FAILED;
}

FbGuarded fb_guard_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, HPy *out) {
  *out = HPy_NULL;
  if (!fb_guard_enter(ctx)) return FB_GUARDED_BROKEN;
  /* call_guarded(callable, arguments, moment). HPy's headers require the cast, because their item array is not
   * const. */
  HPy parts[3] = {callable, HPyTuple_FromArray(ctx, (HPy *)argv, (HPy_ssize_t)n), HPy_NULL};
  if (!HPy_IsNull(parts[1])) parts[2] = HPyLong_FromUInt64_t(ctx, fb_error_moment());
  HPy answer = HPy_IsNull(parts[2]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_CALL_GUARDED, parts, 3);
  for (int i = 1; i < 3; ++i) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  fb_guard_leave();
  if (HPy_IsNull(answer)) return FB_GUARDED_BROKEN;
  FbGuarded state = read_answer(ctx, answer, out);
  HPy_Close(ctx, answer);
  return state;
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* Signals that arrive while native code runs: the function that the core calls for TVMFFIEnvCheckSignals. */

/* The interpreter's PyErr_CheckSignals. NULL on PyPy, whose function of that name does nothing: PyPy runs handlers
 * between two steps of any Python code. Written once during the import. */
static int (*check_in_interpreter)(void);

/* Calls a function of the package that runs a few steps of Python code, between which PyPy calls signal handlers.
 * Returns 0, or -1 with the exception of a handler raised. */
static int check_in_python(HPyContext *ctx) {
  HPy result = fb_hook_call(ctx, FB_HOOK_CHECK_SIGNALS, NULL, 0);
  if (HPy_IsNull(result)) return -1;
  HPy_Close(ctx, result);
  return 0;
}

/* Runs on any thread, attached or not. Interpreters run handlers on their main thread only; on other threads there is
 * nothing to run. */
static int check_signals(void) {
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) return 0; /* the interpreter is about to exit and delivers no more signals */
  int rc = 0;
  if (HPyErr_Occurred(attach.ctx)) {
    rc = -1; /* usually the exception of an earlier check in this call */
  } else {
    rc = check_in_interpreter != NULL ? check_in_interpreter() : check_in_python(attach.ctx);
  }
  fb_thread_detach(&attach);
  return rc == 0 ? 0 : -1;
}

void fb_signals_connect(void) {
  void *symbol = fh_loader_find_anywhere("PyErr_CheckSignals");
  if (symbol != NULL && !fb_context_is_pypy) memcpy(&check_in_interpreter, &symbol, sizeof(symbol));
  /* PyGILState_Ensure and PyGILState_Release, which the core would call around the check, are not registered:
   * check_signals attaches by itself. */
  TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)&check_signals);
}
