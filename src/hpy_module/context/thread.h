/* Thread states: native calls that release the GIL, and callbacks that attach threads.
 *
 * A native call may release the GIL while it runs, and native code may call back from any thread. An attached thread
 * has a context; a thread is attached between fb_thread_attach and fb_thread_detach. */
#pragma once

#include "context.h"
#include "core/platform/unwind.h"

/* The state of a native call on this thread. Without the extension each thread stores the state of its innermost call,
 * for callbacks, which arrive without a context. With the extension only the caller of fb_thread_enter has it, to
 * reacquire the GIL. */
typedef struct FbThreadState {
  HPyContext *ctx; /* context of the innermost native call on this thread; NULL: no native call is running */
  HPyThreadState released;
  HPyContext *held; /* the previous result of fb_thread_held_take */
  bool is_released; /* the call released the GIL; `released` reacquires it */
} FbThreadState;

/* Whether the cffi backend may receive callbacks (function/cffi_backend.c). Each thread then records whether it is in a
 * native call that keeps the GIL. Written once during the import. */
extern FB_HIDDEN bool fb_thread_has_cffi_backend;
void fb_thread_use_cffi_backend(void);
/* Takes the context of a native call that keeps the GIL on this thread; NULL if there is none. Until fb_thread_held_put
 * further calls return NULL. Python code may run within such a call and release the GIL: fb_thread_has_gil. */
HPyContext *fb_thread_held_take(void);
void fb_thread_held_put(HPyContext *held);
/* Whether this thread holds the GIL, by the interpreter's own record. Only for a thread within a native call. */
bool fb_thread_has_gil(void);

/* Whether native calls that keep the GIL must save the thread state. */
FH_INLINE bool fb_thread_saves_state(void) { return FH_UNLIKELY(fb_ext == NULL || fb_thread_has_cffi_backend); }

/* Save and restore the thread state around native code: release the GIL if `release` is set, and let callbacks find the
 * context. */
void fb_thread_enter(HPyContext *ctx, bool release, FbThreadState *outer);
void fb_thread_leave(const FbThreadState *outer);

/* Like fb_thread_enter and fb_thread_leave, for native code that runs within a method and keeps the GIL, but may call
 * back. */
FH_INLINE void fb_thread_enter_held(HPyContext *ctx, FbThreadState *outer) {
  if (fb_thread_saves_state()) fb_thread_enter(ctx, false, outer);
}
FH_INLINE void fb_thread_leave_held(const FbThreadState *outer) {
  if (fb_thread_saves_state()) fb_thread_leave(outer);
}

/* An attached thread. */
typedef struct FbThread {
  HPyContext *ctx; /* valid until fb_thread_detach */
  HPyContext *held; /* with the cffi backend: the result of fb_thread_held_take */
  HPyContext *outer; /* of the native call around this thread's Python code; only set by fb_thread_attach_slow */
  int how; /* the result of thread_state; without the extension a value set by fb_thread_attach_slow */
  int token; /* result of the attach function, for the detach function */
} FbThread;

int fb_thread_attach_slow(FbThread *out);
void fb_thread_detach_slow(FbThread *attach);

/* Called when pthread_exit unwinds a thread and a marked frame is next (unwind.h). CPython up to 3.13 ends threads that
 * request the GIL during finalization in this way. */
extern FB_HIDDEN fh_unwind_function fb_thread_unwound;
/* Marks the frame of the enclosing function: a thread that the interpreter ends stops there, and does not unwind the
 * frames of the native caller. */
FH_INLINE void fb_thread_mark_frame(void) { FH_UNWIND_MARK(fb_thread_unwound); }

/* Makes the context usable on the calling thread. Returns 0, or -1 if the interpreter is finalizing; then no object may
 * be touched and fb_thread_detach must not be called. Marks the caller's frame, as does fb_thread_detach. */
FH_INLINE int fb_thread_attach(FbThread *out) {
  fb_thread_mark_frame();
  if (FH_UNLIKELY(fb_ext == NULL)) return fb_thread_attach_slow(out);
  void *state;
  out->ctx = fb_ctx;
  out->how = fb_ext->thread_state(&state);
  if (out->how == FHPY_THREAD_DETACHED) {
    fb_ext->reenter(state);
  } else if (out->how == FHPY_THREAD_OTHER) {
    out->token = fb_ext->thread_attach();
    if (FH_UNLIKELY(out->token < 0)) return -1;
  }
  if (FH_UNLIKELY(fb_thread_has_cffi_backend)) out->held = fb_thread_held_take();
  return 0;
}
FH_INLINE void fb_thread_detach(FbThread *attach) {
  fb_thread_mark_frame();
  if (FH_UNLIKELY(fb_ext == NULL)) {
    fb_thread_detach_slow(attach);
    return;
  }
  if (FH_UNLIKELY(fb_thread_has_cffi_backend)) fb_thread_held_put(attach->held);
  if (attach->how == FHPY_THREAD_DETACHED) {
    (void)fb_ext->leave();
  } else if (attach->how == FHPY_THREAD_OTHER) {
    fb_ext->thread_detach(attach->token);
  }
}

/* Whether the interpreter is finalizing, so that Python objects must not be touched. */
bool fb_thread_is_finalizing(void);
/* Whether the interpreter has begun to exit and refuses to attach the calling thread. */
bool fb_thread_is_refused(void);
/* From now on no foreign thread can attach. Waits for foreign threads that are attached, about a second at most. */
void fb_thread_mark_finalizing(HPyContext *ctx);
