/* Guarded calls: a function of the package makes the call and returns the exception that it caught. Also counts the
 * nested calls of each thread that may call back here. */
#include "guard.h"

#include "error.h"
#include "hpy_module/context/raise.h"

enum { DEPTH_LIMIT = 100 }; /* a quarter of the depth that PyPy's default stack allows */
static FH_THREAD_LOCAL int depth;

bool fb_guard_enter(HPyContext *ctx) {
  if (fb_ext != NULL) return true;
  if (depth < DEPTH_LIMIT) {
    depth++;
    return true;
  }
  fb_raise(ctx, ctx->h_RecursionError, "maximum recursion depth exceeded: callbacks within callbacks");
  return false;
}

void fb_guard_leave(void) {
  if (fb_ext == NULL) depth--;
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
  for (int i = 1; i < 3; i++) {
    if (!HPy_IsNull(parts[i])) HPy_Close(ctx, parts[i]);
  }
  fb_guard_leave();
  if (HPy_IsNull(answer)) return FB_GUARDED_BROKEN;
  FbGuarded state = read_answer(ctx, answer, out);
  HPy_Close(ctx, answer);
  return state;
}
