/* Native calls and the interpreter: which threads may use it, and when.
 *
 * A native call may give up the interpreter while it runs, and native code calls back from any thread. An attached
 * thread has a context; it is attached within fb_thread_attach and fb_thread_detach. */
#ifndef FFI_HPY_CONTEXT_THREAD_H_
#define FFI_HPY_CONTEXT_THREAD_H_

#include "context.h"
#include "core/platform/unwind.h"

/* What a native call on this thread left behind. Without the extension the thread keeps it, for callbacks that arrive
 * without a context; with the extension only the caller of fb_thread_enter does, to take the interpreter back. */
typedef struct FbThreadState {
  HPyContext *ctx; /* context of the innermost native call on this thread; NULL: none is running */
  HPyThreadState released;
  HPyContext *held; /* what fb_thread_held was before */
  bool is_released; /* the call gave up the interpreter; `released` takes it back */
} FbThreadState;

/* Whether callbacks of the half that is written in Python may arrive (function/covered.c): then each thread remembers
 * whether it is in a native call that keeps the interpreter. Written once during the import. */
extern FB_HIDDEN bool fb_thread_is_covered;
void fb_thread_cover(void);
/* The context of such a call on this thread, NULL if there is none. Until fb_thread_held_put there is none. */
HPyContext *fb_thread_held_take(void);
void fb_thread_held_put(HPyContext *held);

/* Whether native calls that keep the interpreter must be bracketed. */
FH_INLINE bool fb_thread_needs_brackets(void) { return FH_UNLIKELY(fb_ext == NULL || fb_thread_is_covered); }

/* Brackets native code where that is needed: gives up the interpreter if asked to, and lets callbacks find their way
 * back. */
void fb_thread_enter(HPyContext *ctx, bool release, FbThreadState *outer);
void fb_thread_leave(const FbThreadState *outer);

/* As fb_thread_enter and fb_thread_leave, for native code that runs within a method and keeps the interpreter, but may
 * call back. */
FH_INLINE void fb_thread_enter_held(HPyContext *ctx, FbThreadState *outer) {
  if (fb_thread_needs_brackets()) fb_thread_enter(ctx, false, outer);
}
FH_INLINE void fb_thread_leave_held(const FbThreadState *outer) {
  if (fb_thread_needs_brackets()) fb_thread_leave(outer);
}

/* An attached thread, from wherever it came. */
typedef struct FbThread {
  HPyContext *ctx; /* valid until fb_thread_detach */
  HPyContext *held; /* where the binding is covered: what fb_thread_held_take gave */
  int how; /* what thread_state said; without the extension what fb_thread_attach_slow did */
  int token; /* of the function that attached, for the one that detaches */
} FbThread;

int fb_thread_attach_slow(FbThread *out);
void fb_thread_detach_slow(FbThread *attach);

/* Called where a thread is ended by pthread_exit and a marked frame is next (unwind.h). Up to 3.13 CPython does that to
 * threads that take the GIL while it goes away. */
extern FB_HIDDEN fh_unwind_function fb_thread_unwound;
/* Marks the frame of the function that this is inlined into: a thread that the interpreter ends stays there, and does
 * not unwind the frames of the native code that called. */
FH_INLINE void fb_thread_mark_frame(void) { FH_UNWIND_MARK(fb_thread_unwound); }

/* Makes the context usable on the calling thread. Returns 0, or -1 if the interpreter is finalizing: then no object may
 * be touched and fb_thread_detach must not be called. Marks the frame of the caller, and so does fb_thread_detach. */
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
  if (FH_UNLIKELY(fb_thread_is_covered)) out->held = fb_thread_held_take();
  return 0;
}
FH_INLINE void fb_thread_detach(FbThread *attach) {
  fb_thread_mark_frame();
  if (FH_UNLIKELY(fb_ext == NULL)) {
    fb_thread_detach_slow(attach);
    return;
  }
  if (FH_UNLIKELY(fb_thread_is_covered)) fb_thread_held_put(attach->held);
  if (attach->how == FHPY_THREAD_DETACHED) {
    (void)fb_ext->leave();
  } else if (attach->how == FHPY_THREAD_OTHER) {
    fb_ext->thread_detach(attach->token);
  }
}

/* Whether Python objects must be left alone because the interpreter is going away. */
bool fb_thread_is_finalizing(void);
/* From now on no thread comes in from outside; waits, about a second at most, for those that are inside. */
void fb_thread_mark_finalizing(HPyContext *ctx);

#endif /* FFI_HPY_CONTEXT_THREAD_H_ */
