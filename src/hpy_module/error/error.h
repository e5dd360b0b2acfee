/* Conversion of native errors to Python exceptions. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/hook.h"

/* Raises the error in the thread's error slot, after a native call returned non-zero. If the slot is empty, the message
 * names `callee`, which may be NULL. Always returns HPy_NULL. */
HPy fb_error_raise_pending(HPyContext *ctx, const char *callee);

/* Raises an error that was taken from the slot, and steals it. Always returns HPy_NULL. */
HPy fb_error_raise(HPyContext *ctx, FbPendingError pending, const char *callee);

/* Replaces an error that says where its message names classes (FFI_HPY_CLASS_PLACES) by one that names the classes of n
 * arguments, if it is about these, in Python. Any other error stays, and NULL is accepted. Python code runs; if it
 * raises an exception, the error is released and NULL takes its place. The values of the arguments are not read. */
void fb_error_name_classes(HPyContext *ctx, TVMFFIObjectHandle *error, const TVMFFIAny *args, const HPy *objects,
                           size_t n);

/* A moment: the number of native errors that have become exceptions so far, in all threads. An error that became an
 * exception before a callback began is not a cause of the callback's failure. */
extern uint64_t fb_error_n_raised;
FH_INLINE uint64_t fb_error_moment(void) { return fh_atomic_load_relaxed(&fb_error_n_raised); }

/* Whether the kind of an error, which is not NULL, equals `kind`. */
bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind);

/* Held while the binding reads or changes the backtrace of an error. Native code that changes a backtrace must ensure
 * that no other thread uses the error. */
void fb_error_lock_backtraces(void);
void fb_error_unlock_backtraces(void);
/* Changes the backtrace of an error by the function in its cell: the error's creator owns the string. */
void fb_error_update_backtrace(TVMFFIObjectHandle error, const TVMFFIByteArray *text, bool is_appended);

/* Whether the raised exception reports that the stack or memory is exhausted. */
bool fb_error_is_exhaustion(HPyContext *ctx);

/* Whether an exception is unrelated to the value that is being converted: its class does not derive from Exception
 * (KeyboardInterrupt, asyncio.CancelledError), or it reports that the stack or memory is exhausted. */
bool fb_error_is_interruption(HPyContext *ctx, HPy exception);

/* Clears the raised exception, if there is one, after code whose failure is ignored. Returns false if the class of the
 * exception does not derive from Exception; such an exception stays raised. */
bool fb_error_forget(HPyContext *ctx);

/* Returns the exception that an error has as its context, as a new handle, or HPy_NULL. carrying_error() in translate.c
 * makes such errors. The package's own errors have a context of another class; its hooks handle them. */
HPy fb_error_carried_by(HPyContext *ctx, TVMFFIObjectHandle error);

/* Calls a hook with an error or exception and a moment. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_error_call_hook(HPyContext *ctx, FbHook hook, HPy subject, uint64_t moment);

/* --- guarded calls ----------------------------------------------------------------------------------------------- */

/* Guarded calls of Python code: they return an exception as a value in contexts that cannot (PyPy 7.3's own context and
 * the debug modes). The package's function call_guarded catches the exception. */

typedef enum FbGuarded {
  FB_GUARDED_RETURNED, /* *out is the return value of the callable */
  FB_GUARDED_FAILED, /* *out is the native Error of the callable's exception */
  FB_GUARDED_BROKEN, /* an exception is raised: out of memory, recursion too deep, or an interruption */
} FbGuarded;

/* Makes a guarded call. *out is a new handle, or HPy_NULL with FB_GUARDED_BROKEN. */
FbGuarded fb_guard_call(HPyContext *ctx, HPy callable, const HPy *argv, size_t n, HPy *out);

/* fb_guard_enter and fb_guard_leave surround a call of Python code that may call back here, because PyPy ends the
 * process if its stack is exhausted within an HPy function. Returns false, with RecursionError raised and nothing to
 * leave, if this thread has too many such calls. With the extension the interpreter's own limit applies. */
bool fb_guard_enter(HPyContext *ctx);
void fb_guard_leave(void);

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* Signals that arrive while native code runs: the answer to TVMFFIEnvCheckSignals. */

/* Registers the binding with the core, so that a native call of TVMFFIEnvCheckSignals runs the handler of a waiting
 * signal. An exception of the handler (KeyboardInterrupt) stays raised on the thread until the native call returns. */
void fb_signals_connect(void);
