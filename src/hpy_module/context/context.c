/* Which HPy implementation runs, and the way to it from any thread. */
#include "context.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#include "core/platform/fork.h"

HPyContext *fb_ctx;
const FhpyExtension *fb_ext;
bool fb_contexts_are_lasting, fb_handles_are_lasting, fb_is_pypy;
ptrdiff_t fb_data_offset, fb_type_offset, fb_tuple_items;
size_t fb_late_shift;

static atomic_bool finalizing;
/* Threads from outside that are inside, counted where the context has no extension that does it. Sequentially consistent
 * with `finalizing`: either the thread sees that it comes too late, or fb_mark_finalizing sees the thread. */
static atomic_int n_inside;
static FB_THREAD_LOCAL int n_of_thread; /* what this thread has added to it */

/* Other threads that were inside when this process was forked never leave. */
static void forget_other_threads(void) { atomic_store(&n_inside, n_of_thread); }
FH_FORK_CHILD(forget_other_threads);

static void count_inside(int change) {
  n_of_thread += change;
  atomic_fetch_add(&n_inside, change);
}

static FB_THREAD_LOCAL FbCallState call_state;

/* Used where the context has no extension. Found at run time because the two interpreters name them differently; on PyPy
 * perhaps by several unattached threads at once. Release and acquire of the second one: who sees it sees the first. */
typedef int (*GilEnsure)(void);
typedef void (*GilRelease)(int);
static _Atomic(GilRelease) gil_release;
static _Atomic(GilEnsure) gil_ensure;

static void find_gil_functions(void) {
  static const char *const names[][2] = {{"PyPyGILState_Ensure", "PyPyGILState_Release"},
                                         {"PyGILState_Ensure", "PyGILState_Release"}};
  for (int i = 0; i < 2; i++) {
    void *symbols[2] = {dlsym(RTLD_DEFAULT, names[i][0]), dlsym(RTLD_DEFAULT, names[i][1])};
    if (symbols[0] == NULL || symbols[1] == NULL) continue;
    GilEnsure ensure;
    GilRelease release;
    memcpy(&ensure, &symbols[0], sizeof(ensure));
    memcpy(&release, &symbols[1], sizeof(release));
    atomic_store_explicit(&gil_release, release, memory_order_relaxed);
    atomic_store_explicit(&gil_ensure, ensure, memory_order_release); /* pairs with gil_ensure_get */
    return;
  }
}

/* NULL while the interpreter has none: PyPy has them once its cpyext module was imported. */
static GilEnsure gil_ensure_get(void) {
  if (atomic_load_explicit(&gil_ensure, memory_order_acquire) == NULL) find_gil_functions();
  return atomic_load_explicit(&gil_ensure, memory_order_acquire);
}

int fb_context_init(HPyContext *ctx) {
  fb_ctx = ctx;
  fb_ext = fhpy_extension_find(ctx);
  /* PyPy 7.3.18 inserted the constant h_DictType before ctx_Capsule_New. Constants are small numbers there (indices of a
   * handle table), functions are addresses: the word at that place tells which of the two layouts this is. */
  uintptr_t word;
  memcpy(&word, &ctx->ctx_Capsule_New, sizeof(word));
  fb_late_shift = word < 0x10000 ? sizeof(HPy) : 0;
  fb_is_pypy = fb_ext == NULL && strstr(ctx->name, "PyPy") != NULL;
  fb_handles_are_lasting = fb_ext != NULL || fb_is_pypy;
  fb_contexts_are_lasting = fb_handles_are_lasting || strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) == 0;
  if (fb_ext == NULL) {
    find_gil_functions();
  } else {
    fb_data_offset = fb_ext->data_offset;
    fb_type_offset = fb_ext->type_offset;
    if (FHPY_EXTENSION_HAS(fb_ext, tuple_items)) fb_tuple_items = fb_ext->tuple_items;
  }
  return 0;
}

/* --- threads ---------------------------------------------------------------------------------------------------- */

void fb_call_enter(HPyContext *ctx, bool release, FbCallState *outer) {
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

void fb_call_leave(const FbCallState *outer) {
  if (fb_ext != NULL) {
    if (outer->is_released) HPy_ReenterPythonExecution(outer->ctx, outer->released);
    return;
  }
  if (call_state.is_released) HPy_ReenterPythonExecution(call_state.ctx, call_state.released);
  call_state = *outer;
}

enum { ATTACH_REENTER, ATTACH_HELD, ATTACH_GIL_STATE };

int fb_attach_without_extension(FbAttach *out) {
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
  if (!fb_contexts_are_lasting) return -1;
  GilEnsure ensure = gil_ensure_get();
  if (ensure == NULL) return -1;
  count_inside(1);
  if (atomic_load(&finalizing)) {
    count_inside(-1);
    return -1;
  }
  out->ctx = fb_ctx;
  out->how = ATTACH_GIL_STATE;
  out->token = ensure();
  call_state = (FbCallState){.ctx = fb_ctx};
  return 0;
}

void fb_detach_without_extension(FbAttach *attach) {
  switch (attach->how) {
  case ATTACH_REENTER:
    call_state.released = HPy_LeavePythonExecution(attach->ctx);
    call_state.is_released = true;
    break;
  case ATTACH_GIL_STATE:
    call_state = (FbCallState){.ctx = NULL};
    atomic_load_explicit(&gil_release, memory_order_relaxed)(attach->token);
    count_inside(-1);
    break;
  default: break;
  }
}

bool fb_is_finalizing(void) {
  return atomic_load_explicit(&finalizing, memory_order_relaxed) || (fb_ext != NULL && fb_ext->is_finalizing());
}

void fb_mark_finalizing(HPyContext *ctx) {
  enum { TRIES = 1000, NANOSECONDS = 1000000 };
  atomic_store(&finalizing, true);
  if (fb_ext != NULL) {
    fb_ext->threads_close();
  } else if (atomic_load(&n_inside) != 0) { /* a thread that is still inside when the interpreter goes would be ended */
    HPyThreadState state = HPy_LeavePythonExecution(ctx);
    for (int i = 0; i < TRIES && atomic_load(&n_inside) != 0; i++)
      nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
    HPy_ReenterPythonExecution(ctx, state);
  }
}

/* --- small helpers ------------------------------------------------------------------------------------------------ */

HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) {
  char message[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof(message), format, list);
  va_end(list);
  HPyErr_SetString(ctx, h_type, message);
  return HPy_NULL;
}

HPy fb_attr_find(HPyContext *ctx, HPy h, const char *name) {
  HPy found = HPy_GetAttr_s(ctx, h, name);
  if (HPy_IsNull(found) && HPyErr_ExceptionMatches(ctx, ctx->h_AttributeError)) HPyErr_Clear(ctx);
  return found;
}

const char *fb_type_name(HPyContext *ctx, HPy h, char *buffer, size_t size) {
  snprintf(buffer, size, "object");
  HPy type = HPy_Type(ctx, h);
  HPy name = HPy_IsNull(type) ? HPy_NULL : HPy_GetAttr_s(ctx, type, "__name__");
  HPy_ssize_t n;
  const char *text = HPy_IsNull(name) ? NULL : HPyUnicode_AsUTF8AndSize(ctx, name, &n);
  if (text != NULL) snprintf(buffer, size, "%s", text);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  if (!HPy_IsNull(name)) HPy_Close(ctx, name);
  if (!HPy_IsNull(type)) HPy_Close(ctx, type);
  return buffer;
}
