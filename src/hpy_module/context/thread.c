/* Native calls and the interpreter. */
#include "thread.h"

#include <dlfcn.h>
#include <time.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"

static bool finalizing;
/* Threads from outside that are inside, counted where the context has no extension that does it. Sequentially
 * consistent with `finalizing`: either the thread sees that it comes too late, or fb_thread_mark_finalizing sees the
 * thread. */
static int n_inside;
static FH_THREAD_LOCAL int n_of_thread; /* what this thread has added to it */

/* Other threads that were inside when this process was forked never leave. */
static void forget_other_threads(void) { fh_atomic_store_seq_cst(&n_inside, n_of_thread); }
FH_FORK_CHILD(forget_other_threads);

static void count_inside(int change) {
  n_of_thread += change;
  fh_atomic_add_seq_cst(&n_inside, change);
}

static FH_THREAD_LOCAL FbThreadState call_state;

/* How a thread attaches where the context has no extension: our debug mode has functions for it, other contexts take
 * the interpreter's. Those are found at run time because the two interpreters name them differently; on PyPy perhaps by
 * several unattached threads at once. Release and acquire of the second one: a thread that sees it sees the first. */
typedef int (*GilEnsure)(void);
typedef void (*GilRelease)(int);
static GilRelease gil_release;
static GilEnsure gil_ensure;

static void set_gil_functions(GilEnsure ensure, GilRelease release) {
  fh_atomic_store_relaxed(&gil_release, release);
  fh_atomic_store_release(&gil_ensure, ensure); /* pairs with gil_ensure_get */
}

static void find_gil_functions(void) {
  const FhpyThreads *threads = fhpy_threads_find(fb_ctx);
  if (threads != NULL) {
    set_gil_functions(threads->attach, threads->detach);
    return;
  }
  static const char *const names[][2] = {{"PyPyGILState_Ensure", "PyPyGILState_Release"},
                                         {"PyGILState_Ensure", "PyGILState_Release"}};
  for (int i = 0; i < 2; i++) {
    void *symbols[2] = {dlsym(RTLD_DEFAULT, names[i][0]), dlsym(RTLD_DEFAULT, names[i][1])};
    if (symbols[0] == NULL || symbols[1] == NULL) continue;
    GilEnsure ensure;
    GilRelease release;
    memcpy(&ensure, &symbols[0], sizeof(ensure));
    memcpy(&release, &symbols[1], sizeof(release));
    set_gil_functions(ensure, release);
    return;
  }
}

/* NULL while the interpreter has none: PyPy has them once its cpyext module was imported. */
static GilEnsure gil_ensure_get(void) {
  if (fh_atomic_load_acquire(&gil_ensure) == NULL) find_gil_functions();
  return fh_atomic_load_acquire(&gil_ensure);
}

void fb_thread_enter(HPyContext *ctx, bool release, FbThreadState *outer) {
  if (fb_ext != NULL) { /* attach finds out by itself: only the release needs remembering */
    outer->is_released = release;
    if (release) outer->released = HPy_LeavePythonExecution(ctx);
    outer->ctx = ctx;
    return;
  }
  *outer = call_state;
  call_state.ctx = ctx;
  call_state.is_released = release;
  if (release) call_state.released = HPy_LeavePythonExecution(ctx);
}

void fb_thread_leave(const FbThreadState *outer) {
  if (fb_ext != NULL) {
    if (outer->is_released) HPy_ReenterPythonExecution(outer->ctx, outer->released);
    return;
  }
  if (call_state.is_released) HPy_ReenterPythonExecution(call_state.ctx, call_state.released);
  call_state = *outer;
}

enum { ATTACH_REENTER, ATTACH_HELD, ATTACH_GIL_STATE };

int fb_thread_attach_slow(FbThread *out) {
  if (call_state.ctx != NULL) {
    out->ctx = call_state.ctx;
    out->how = call_state.is_released ? ATTACH_REENTER : ATTACH_HELD;
    if (call_state.is_released) {
      HPy_ReenterPythonExecution(call_state.ctx, call_state.released);
      call_state.is_released = false;
    }
    return 0;
  }
  /* hpy's debug mode has a context per call, and none for a thread that comes from outside. */
  if (!fb_context_is_lasting) return -1;
  GilEnsure ensure = gil_ensure_get();
  if (ensure == NULL) return -1;
  count_inside(1);
  out->token = fh_atomic_load_seq_cst(&finalizing) ? -1 : ensure();
  if (out->token < 0) {
    count_inside(-1);
    return -1;
  }
  out->ctx = fb_ctx;
  out->how = ATTACH_GIL_STATE;
  call_state = (FbThreadState){.ctx = fb_ctx};
  return 0;
}

void fb_thread_detach_slow(FbThread *attach) {
  switch (attach->how) {
  case ATTACH_REENTER:
    call_state.released = HPy_LeavePythonExecution(attach->ctx);
    call_state.is_released = true;
    break;
  case ATTACH_GIL_STATE:
    call_state = (FbThreadState){.ctx = NULL};
    fh_atomic_load_relaxed (&gil_release)(attach->token);
    count_inside(-1);
    break;
  default: break;
  }
}

bool fb_thread_is_finalizing(void) {
  return fh_atomic_load_relaxed(&finalizing) || (fb_ext != NULL && fb_ext->is_finalizing());
}

void fb_thread_mark_finalizing(HPyContext *ctx) {
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  fh_atomic_store_seq_cst(&finalizing, true);
  if (fb_ext != NULL) {
    fb_ext->threads_close();
  } else if (fh_atomic_load_seq_cst(&n_inside) !=
             0) { /* a thread that is still inside when the interpreter goes would be ended */
    HPyThreadState state = HPy_LeavePythonExecution(ctx);
    for (int i = 0; i < TRIES && fh_atomic_load_seq_cst(&n_inside) != 0; i++)
      nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
    HPy_ReenterPythonExecution(ctx, state);
  }
}
