/* Context entries: Tracker, a growing array of handles that are closed together. One thread uses a tracker at a time.
 * The debug context also uses these entries, so they never dereference a handle. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

typedef struct {
  size_t n_handles;
  size_t capacity; /* always more than n_handles */
  HPy *handles;
} Tracker;

static Tracker *get_tracker(HPyTracker t) { return (Tracker *)t._i; }

/* Returns a null tracker with an exception raised if memory is exhausted or the size is negative. */
static HPyTracker tracker_new(HPyContext *ctx, HPy_ssize_t n_expected) {
  (void)ctx;
  if (n_expected < 0) {
    PyErr_Format(PyExc_ValueError, "HPyTracker_New expects a size of at least 0, got %zd", n_expected);
    return (HPyTracker){0};
  }
  Tracker *t = PyMem_Malloc(sizeof(Tracker));
  size_t capacity = (n_expected == 0 ? 4 : (size_t)n_expected) + 1;
  HPy *handles = PyMem_Calloc(capacity, sizeof(HPy));
  if (t == NULL || handles == NULL) {
    PyMem_Free(t), PyMem_Free(handles);
    PyErr_NoMemory();
    return (HPyTracker){0};
  }
  *t = (Tracker){0, capacity, handles};
  return (HPyTracker){(intptr_t)t};
}

/* The handle is stored before the array grows, so it is closed with the others even if Add fails. */
static int tracker_add(HPyContext *ctx, HPyTracker tracker, HPy h) {
  (void)ctx;
  Tracker *t = get_tracker(tracker);
  t->handles[t->n_handles++] = h;
  if (t->n_handles < t->capacity) return 0;
  size_t capacity = t->capacity * 2;
  HPy *handles = PyMem_Realloc(t->handles, capacity * sizeof(HPy));
  if (handles == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  t->handles = handles;
  t->capacity = capacity;
  return 0;
}

static void tracker_forget_all(HPyContext *ctx, HPyTracker tracker) { (void)ctx, get_tracker(tracker)->n_handles = 0; }

/* Closes through `ctx`: in debug mode these are handles of the debug context. */
static void tracker_close(HPyContext *ctx, HPyTracker tracker) {
  Tracker *t = get_tracker(tracker);
  if (t == NULL) return;
  for (size_t i = 0; i < t->n_handles; i++) ctx->ctx_Close(ctx, t->handles[i]);
  PyMem_Free(t->handles);
  PyMem_Free(t);
}

void fhpy_ctx_tracker_fill(HPyContext *ctx) {
  ctx->ctx_Tracker_New = tracker_new;
  ctx->ctx_Tracker_Add = tracker_add;
  ctx->ctx_Tracker_ForgetAll = tracker_forget_all;
  ctx->ctx_Tracker_Close = tracker_close;
}
