/* Native errors on their way to Python: what a native call left becomes an exception. */
#ifndef FFI_HPY_ERROR_ERROR_H_
#define FFI_HPY_ERROR_ERROR_H_

#include <tvm/ffi/c_api.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/hook.h"

/* Raises what a native call that returned non-zero left in the thread's error slot. `callee` is for the message when it
 * left nothing; may be NULL. Always returns HPy_NULL. */
HPy fb_error_raise_pending(HPyContext *ctx, const char *callee);

/* Raises what was taken from the slot, which is taken. Always returns HPy_NULL. */
HPy fb_error_raise(HPyContext *ctx, FbPendingError pending, const char *callee);

/* A moment: how many native errors have become exceptions so far, in all threads. An error that became one before a
 * callback began is no part of what went wrong in the callback. */
extern uint64_t fb_error_n_raised;
FH_INLINE uint64_t fb_error_moment(void) { return fh_atomic_load_relaxed(&fb_error_n_raised); }

/* Whether the kind of an error, which is not NULL, is that very text. */
bool fb_error_is_kind(TVMFFIObjectHandle error, const char *kind);

/* Held while the backtrace of an error is read or changed by the binding. Native code that changes one sees to it that
 * nobody else uses the error. */
void fb_error_lock_backtraces(void);
void fb_error_unlock_backtraces(void);
/* Changes the backtrace of an error by the function in its cell: the text belongs to whoever made the error. */
void fb_error_update_backtrace(TVMFFIObjectHandle error, const TVMFFIByteArray *text, bool is_appended);

/* Whether the raised exception says that the stack or memory is used up. */
bool fb_error_is_exhaustion(HPyContext *ctx);

/* Whether an exception says nothing about the value that is being converted: its class does not derive from Exception
 * (KeyboardInterrupt, asyncio.CancelledError), or it says that the stack or memory is used up. */
bool fb_error_is_interruption(HPyContext *ctx, HPy exception);

/* Forgets the raised exception, if there is one, of code whose failure does not matter. False for one whose class does
 * not derive from Exception: it stays raised. */
bool fb_error_forget(HPyContext *ctx);

/* The exception that an error has as its context: new handle, or HPy_NULL. carrying_error() in translate.c makes such
 * errors. Those that the package makes have an object of another class there, and are left to its hooks. */
HPy fb_error_carried_by(HPyContext *ctx, TVMFFIObjectHandle error);

/* Calls a hook with an error or exception and a moment: new handle, or HPy_NULL with an exception raised. */
HPy fb_error_call_hook(HPyContext *ctx, FbHook hook, HPy subject, uint64_t moment);

#endif /* FFI_HPY_ERROR_ERROR_H_ */
