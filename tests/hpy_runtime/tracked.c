/* A universal HPy module with one tracker for the process: see test_tracked.py. */
#include <alloca.h>
#include <hpy.h>

static HPyTracker tracker;
static HPy tracked;

HPyDef_METH(track, "track", HPyFunc_O)
static HPy track_impl(HPyContext *ctx, HPy self, HPy value) {
  (void)self;
  tracker = HPyTracker_New(ctx, 1);
  tracked = HPy_Dup(ctx, value);
  if (HPyTracker_Add(ctx, tracker, tracked) < 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}
HPyDef_METH(use, "use", HPyFunc_NOARGS)
static HPy use_impl(HPyContext *ctx, HPy self) { return (void)self, HPy_Repr(ctx, tracked); }

HPyDef_METH(end, "end", HPyFunc_NOARGS)
static HPy end_impl(HPyContext *ctx, HPy self) {
  (void)self;
  HPyTracker_Close(ctx, tracker);
  return HPy_Dup(ctx, ctx->h_None);
}

static HPyDef *defines[] = {&track, &use, &end, NULL};
static HPyModuleDef tracked_def = {.doc = "a tracker", .defines = defines};
HPy_MODINIT(tracked, tracked_def)
