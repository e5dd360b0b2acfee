/* Debug mode: trackers. A tracker's word is a record's word, so its misuse is detected like a handle's. The plain
 * context's tracker stores handles of the debug context; they are looked up only when the tracker closes them. */
#include "debug_entries.h"
#include "debug_handle.h"
#include "debug_name.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"

static HPyContext *const real = &fhpy_context.base;

static HPyTracker tracker_new(HPyContext *ctx, HPy_ssize_t n_expected) {
  (void)ctx;
  return (HPyTracker){fhpy_debug_record_open((void *)real->ctx_Tracker_New(real, n_expected)._i, HANDLE_TRACKER)._i};
}

/* Returns the plain context's tracker; null after a report. */
static HPyTracker get_tracker(HPyTracker tracker, const char *entry) {
  if (tracker._i == 0)
    fhpy_debug_report("%s passed to %s a tracker that could not be made", debug_words(fhpy_debug_name_running), entry);
  return (HPyTracker){(intptr_t)fhpy_debug_handle_get_as((HPy){tracker._i}, HANDLE_TRACKER, entry)};
}

static int tracker_add(HPyContext *ctx, HPyTracker tracker, HPy h) {
  (void)ctx;
  HPyTracker t = get_tracker(tracker, "Tracker_Add");
  if (t._i != 0) return real->ctx_Tracker_Add(real, t, h);
  PyErr_SetString(PyExc_SystemError, "HPyTracker_Add expects an open tracker");
  return -1;
}

static void tracker_forget_all(HPyContext *ctx, HPyTracker tracker) {
  (void)ctx;
  HPyTracker t = get_tracker(tracker, "Tracker_ForgetAll");
  if (t._i != 0) real->ctx_Tracker_ForgetAll(real, t);
}

/* A null tracker may be closed. The plain context's entry closes the handles through `ctx`, which is the debug
 * context. */
static void tracker_close(HPyContext *ctx, HPyTracker tracker) {
  void *t = fhpy_debug_handle_take_as((HPy){tracker._i}, HANDLE_TRACKER, "Tracker_Close");
  real->ctx_Tracker_Close(ctx, (HPyTracker){(intptr_t)t});
}

void fhpy_debug_tracker_fill(HPyContext *ctx) {
  ctx->ctx_Tracker_New = tracker_new;
  ctx->ctx_Tracker_Add = tracker_add;
  ctx->ctx_Tracker_ForgetAll = tracker_forget_all;
  ctx->ctx_Tracker_Close = tracker_close;
}
