/* Thread states: releasing and reacquiring the GIL, and attaching threads.
 *
 * With the extension, the runtime attaches threads (thread.h calls it). Without it each thread records in call_state
 * the innermost native call that runs on it, and a callback on such a thread continues with the context of that call. A
 * thread without a native call attaches by functions of the interpreter (PyGILState) or of our debug mode, which accept
 * foreign threads and threads that are attached already. */
#include "thread.h"

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"

/* Set by fb_thread_mark_finalizing, and never reset. */
static bool finalizing;
/* The number of attached foreign threads, for contexts whose extension does not count them. Sequentially consistent
 * with `finalizing`: either the thread sees that finalization has begun, or fb_thread_mark_finalizing sees the
 * thread. */
static int n_inside;
static FH_THREAD_LOCAL int n_of_thread; /* this thread's share of n_inside */

/* Other threads that were attached when this process was forked never detach. */
static void forget_other_threads(void) { fh_atomic_store_seq_cst(&n_inside, n_of_thread); }
FH_FORK_CHILD(forget_other_threads);

/* Adds 1 or -1. The thread's own share is kept for forget_other_threads. */
static void count_inside(int change) {
  n_of_thread += change;
  fh_atomic_add_seq_cst(&n_inside, change);
}

/* The state of the calling thread without the extension. ctx is NULL while neither a native call nor an attached
 * callback runs on the thread. */
static FH_THREAD_LOCAL FbThreadState call_state;

bool fb_thread_has_cffi_backend;
static FH_THREAD_LOCAL HPyContext *held; /* context of the native call on this thread that keeps the GIL */

void fb_thread_use_cffi_backend(void) { fb_thread_has_cffi_backend = true; }

HPyContext *fb_thread_held_take(void) {
  HPyContext *ctx = held;
  held = NULL;
  return ctx;
}

void fb_thread_held_put(HPyContext *ctx) { held = ctx; }

/* The functions that attach a thread where the context has no extension: our debug mode has its own; other contexts use
 * the interpreter's. CPython and PyPy name these differently, so they are looked up at run time, possibly by several
 * unattached threads at once. gil_ensure is stored last (release) and loaded first (acquire): a thread that sees it
 * also sees gil_release. */
typedef int (*GilEnsure)(void);
typedef int (*GilCheck)(void);
typedef void (*GilRelease)(int);
static GilRelease gil_release;
static GilEnsure gil_ensure;

static void set_gil_functions(GilEnsure ensure, GilRelease release) {
  fh_atomic_store_relaxed(&gil_release, release);
  fh_atomic_store_release(&gil_ensure, ensure); /* pairs with gil_ensure_get */
}

/* Leaves both pointers NULL if the process has neither pair of functions. */
static void find_gil_functions(void) {
  const FhpyThreads *threads = fhpy_threads_find(fb_ctx);
  if (threads != NULL) {
    set_gil_functions(threads->attach, threads->detach);
    return;
  }
  static const char *const names[][2] = {{"PyPyGILState_Ensure", "PyPyGILState_Release"},
                                         {"PyGILState_Ensure", "PyGILState_Release"}};
  for (int i = 0; i < 2; ++i) {
    void *symbols[2] = {fh_loader_find_anywhere(names[i][0]), fh_loader_find_anywhere(names[i][1])};
    if (symbols[0] == NULL || symbols[1] == NULL) continue;
    /* ISO C has no cast from an object pointer, which the loader returns, to a function pointer. */
    GilEnsure ensure;
    GilRelease release;
    memcpy(&ensure, &symbols[0], sizeof(ensure));
    memcpy(&release, &symbols[1], sizeof(release));
    set_gil_functions(ensure, release);
    return;
  }
}

/* Returns NULL while the interpreter has no such function: PyPy has it once its cpyext module was imported. */
static GilEnsure gil_ensure_get(void) {
  if (fh_atomic_load_acquire(&gil_ensure) == NULL) find_gil_functions();
  return fh_atomic_load_acquire(&gil_ensure);
}

/* Without the extension the code that asks is cffi's on PyPy 7.3, and Python code within a native call. */
bool fb_thread_has_gil(void) {
  static GilCheck check;
  if (fb_ext != NULL) {
    void *state;
    return fb_ext->thread_state(&state) == FHPY_THREAD_ATTACHED;
  }
  GilCheck found = fh_atomic_load_relaxed(&check);
  if (found == NULL) {
    void *symbol = fh_loader_find_anywhere("PyPyGILState_Check");
    if (symbol == NULL) symbol = fh_loader_find_anywhere("PyGILState_Check");
    if (symbol == NULL) return !call_state.is_released;
    memcpy(&found, &symbol, sizeof(found));
    fh_atomic_store_relaxed(&check, found);
  }
  return found() != 0;
}

void fb_thread_enter(HPyContext *ctx, bool release, FbThreadState *outer) {
  /* Calls nest through callbacks: `outer` keeps the state of the call around this one. */
  *outer = call_state;
  outer->held = held;
  held = release ? NULL : ctx;
  if (fb_ext != NULL) { /* attaching needs no record: only the release is recorded */
    outer->is_released = release;
    if (release) outer->released = HPy_LeavePythonExecution(ctx);
    outer->ctx = ctx;
    return;
  }
  call_state.ctx = ctx;
  call_state.is_released = release;
  if (release) call_state.released = HPy_LeavePythonExecution(ctx);
}

void fb_thread_leave(const FbThreadState *outer) {
  held = outer->held;
  if (fb_ext != NULL) {
    if (outer->is_released) HPy_ReenterPythonExecution(outer->ctx, outer->released);
    return;
  }
  /* `released` may differ from the value that fb_thread_enter stored: a callback that ended since then has released the
   * GIL again (ATTACH_REENTER). */
  if (call_state.is_released) HPy_ReenterPythonExecution(call_state.ctx, call_state.released);
  call_state = *outer;
}

/* The action of fb_thread_attach_slow, which fb_thread_detach_slow undoes. REENTER: reacquired the GIL, which the
 * native call on this thread had released. HELD: nothing, because the thread holds the GIL. GIL_STATE: called the
 * function in gil_ensure. */
enum { ATTACH_REENTER, ATTACH_HELD, ATTACH_GIL_STATE };

int fb_thread_attach_slow(FbThread *out) {
  out->held = fb_thread_held_take();
  out->outer = call_state.ctx;
  /* Python code within a native call may have called native code that releases the GIL, by cffi; and a callback of cffi
   * or ctypes may have reacquired the GIL that the native call released. */
  bool is_released = call_state.is_released;
  bool has_gil = fb_thread_has_cffi_backend || is_released ? fb_thread_has_gil() : true;
  if (call_state.ctx != NULL && (has_gil || is_released)) {
    out->ctx = call_state.ctx;
    out->how = has_gil ? ATTACH_HELD : ATTACH_REENTER;
    if (!has_gil) {
      HPy_ReenterPythonExecution(call_state.ctx, call_state.released);
      call_state.is_released = false; /* a callback within this one finds the GIL held */
    }
    return 0;
  }
  /* hpy's debug mode has a context per call, and none for a foreign thread. */
  if (!fb_context_is_lasting) return -1;
  GilEnsure ensure = gil_ensure_get();
  if (ensure == NULL) return -1;
  /* The thread is counted before `finalizing` is checked: see n_inside. */
  count_inside(1);
  out->token = fh_atomic_load_seq_cst(&finalizing) ? -1 : ensure();
  if (out->token < 0) {
    count_inside(-1);
    return -1;
  }
  out->ctx = fb_ctx;
  out->how = ATTACH_GIL_STATE;
  /* A nested attach on this thread is ATTACH_HELD. */
  call_state = (FbThreadState){.ctx = fb_ctx};
  return 0;
}

void fb_thread_detach_slow(FbThread *attach) {
  fb_thread_held_put(attach->held);
  switch (attach->how) {
  case ATTACH_REENTER:
    call_state.released = HPy_LeavePythonExecution(attach->ctx);
    call_state.is_released = true;
    break;
  case ATTACH_GIL_STATE:
    /* Cleared before the release: the next callback on this thread must attach again. The count is decreased last,
     * because fb_thread_mark_finalizing waits until the thread has released the GIL. */
    call_state = (FbThreadState){.ctx = attach->outer};
    fh_atomic_load_relaxed (&gil_release)(attach->token);
    count_inside(-1);
    break;
  default: break;
  }
}

int fb_thread_unwound(int version, int actions, uint64_t class_of_exception, void *exception, void *context) {
  (void)version, (void)class_of_exception, (void)exception, (void)context;
  return fh_unwind_answer(actions, fb_thread_is_finalizing());
}

bool fb_thread_is_finalizing(void) {
  /* relaxed: an early check; the callers attach next, and the attach is decisive for foreign threads */
  return fh_atomic_load_relaxed(&finalizing) || (fb_ext != NULL && fb_ext->is_finalizing());
}

bool fb_thread_is_refused(void) {
  FbThread attach;
  if (FH_LIKELY(!fh_atomic_load_relaxed(&finalizing))) return false; /* as above */
  if (fb_thread_attach(&attach) != 0) return true;
  fb_thread_detach(&attach);
  return false;
}

void fb_thread_mark_finalizing(HPyContext *ctx) {
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  fh_atomic_store_seq_cst(&finalizing, true);
  if (fb_ext != NULL) {
    fb_ext->threads_close();
  } else if (fh_atomic_load_seq_cst(&n_inside) != 0) {
    /* The interpreter ends threads that are still attached when it exits. This thread waits detached, so that they can
     * run, and polls, because the wait must end after a second even if a thread never detaches. */
    HPyThreadState state = HPy_LeavePythonExecution(ctx);
    for (int i = 0; i < TRIES && fh_atomic_load_seq_cst(&n_inside) != 0; ++i) fh_clock_sleep(NANOSECONDS);
    HPy_ReenterPythonExecution(ctx, state);
  }
}
