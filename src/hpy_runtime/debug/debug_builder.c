/* Debug mode: builders. A builder's word is a record's word, so its misuse is detected like a handle's. A builder
 * records the items that were set, so neither an index out of range nor an unfinished list or tuple reaches the
 * interpreter.
 *
 * A null builder results from a failure of New: Set and Cancel ignore it, Build raises the failure. A builder that has
 * ended counts as a null builder once the report of its misuse has returned. */
#include "debug.h"
#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"

typedef struct {
  PyObject *sequence; /* the plain context's builder, which is the unfinished list or tuple; owned */
  HPy_ssize_t n_items;
  bool is_set[];
} Builder;

typedef struct {
  FhpyHandleKind kind;
  const char *set, *build, *cancel; /* names of the entries */
} Shape;
/* List builders and tuple builders differ in their entries and in their names in reports. */
static const Shape list_shape = {HANDLE_LIST_BUILDER, "ListBuilder_Set", "ListBuilder_Build", "ListBuilder_Cancel"};
static const Shape tuple_shape = {HANDLE_TUPLE_BUILDER, "TupleBuilder_Set", "TupleBuilder_Build",
                                  "TupleBuilder_Cancel"};

static HPyContext *const real = &fhpy_context.base;

/* Makes a builder around a sequence, which it steals, and returns its word. 0 for NULL, and with MemoryError raised on
 * failure. */
static intptr_t make_builder(const Shape *shape, PyObject *sequence, HPy_ssize_t n_items) {
  if (sequence == NULL) return 0;
  Builder *b = PyMem_Calloc(1, sizeof(Builder) + (size_t)n_items * sizeof(bool));
  if (b == NULL) {
    Py_DecRef(sequence);
    PyErr_NoMemory();
    return 0;
  }
  b->sequence = sequence;
  b->n_items = n_items;
  return fhpy_debug_record_open(b, shape->kind)._i;
}

/* Sets an item by the plain context's entry. The index is in range. */
static void set_real_item(const Shape *shape, const Builder *b, HPy_ssize_t i, PyObject *item) {
  intptr_t sequence = (intptr_t)b->sequence;
  if (shape->kind == HANDLE_LIST_BUILDER)
    real->ctx_ListBuilder_Set(real, (HPyListBuilder){sequence}, i, to_hpy(item));
  else
    real->ctx_TupleBuilder_Set(real, (HPyTupleBuilder){sequence}, i, to_hpy(item));
}

/* HPy's Set cannot fail: a mistake is reported, and if the report returns, nothing is set. */
static void set_item(const Shape *shape, intptr_t word, HPy_ssize_t i, HPy h) {
  Builder *b = fhpy_debug_handle_get_as((HPy){word}, shape->kind, shape->set);
  PyObject *item = fhpy_debug_handle_get(h, shape->set);
  if (b == NULL) return;
  const char *running = debug_words(fhpy_debug_name_running);
  if (i < 0 || i >= b->n_items) {
    fhpy_debug_report("%s passed to %s index %zd of a builder for %zd items", running, shape->set, i, b->n_items);
    return;
  }
  if (item == NULL) {
    fhpy_debug_report("%s passed to %s a null handle as item %zd", running, shape->set, i);
    return;
  }
  b->is_set[i] = true;
  set_real_item(shape, b, i, item);
}

/* Reports the first item that was not set, and sets all such items to None. */
static void complete_items(const Shape *shape, const Builder *b) {
  bool is_reported = false;
  for (HPy_ssize_t i = 0; i < b->n_items; ++i) {
    if (b->is_set[i]) continue;
    if (!is_reported)
      fhpy_debug_report("%s passed to %s a builder for %zd items whose item %zd was not set",
                        debug_words(fhpy_debug_name_running), shape->build, b->n_items, i);
    is_reported = true;
    set_real_item(shape, b, i, &_Py_NoneStruct);
  }
}

/* Ends a builder. Returns its sequence, owned; NULL for a null builder, and after a report. */
static PyObject *take_builder(const Shape *shape, intptr_t word, bool is_built) {
  Builder *b = fhpy_debug_handle_take_as((HPy){word}, shape->kind, is_built ? shape->build : shape->cancel);
  if (b == NULL) return NULL;
  PyObject *sequence = b->sequence;
  if (is_built) complete_items(shape, b);
  PyMem_Free(b);
  return sequence;
}

/* ---- entries ---- */

static HPyListBuilder list_builder_new(CTX, HPy_ssize_t n_items) {
  PyObject *list = (PyObject *)real->ctx_ListBuilder_New(real, n_items)._lst;
  return (HPyListBuilder){make_builder(&list_shape, list, n_items)};
}
static void list_builder_set(CTX, HPyListBuilder builder, HPy_ssize_t i, HPy h) {
  set_item(&list_shape, builder._lst, i, h);
}
static HPy list_builder_build(CTX, HPyListBuilder builder) {
  PyObject *list = take_builder(&list_shape, builder._lst, true);
  return debug_wrap(real->ctx_ListBuilder_Build(real, (HPyListBuilder){(intptr_t)list}));
}
static void list_builder_cancel(CTX, HPyListBuilder builder) {
  PyObject *list = take_builder(&list_shape, builder._lst, false);
  real->ctx_ListBuilder_Cancel(real, (HPyListBuilder){(intptr_t)list});
}

static HPyTupleBuilder tuple_builder_new(CTX, HPy_ssize_t n_items) {
  PyObject *tuple = (PyObject *)real->ctx_TupleBuilder_New(real, n_items)._tup;
  return (HPyTupleBuilder){make_builder(&tuple_shape, tuple, n_items)};
}
static void tuple_builder_set(CTX, HPyTupleBuilder builder, HPy_ssize_t i, HPy h) {
  set_item(&tuple_shape, builder._tup, i, h);
}
static HPy tuple_builder_build(CTX, HPyTupleBuilder builder) {
  PyObject *tuple = take_builder(&tuple_shape, builder._tup, true);
  return debug_wrap(real->ctx_TupleBuilder_Build(real, (HPyTupleBuilder){(intptr_t)tuple}));
}
static void tuple_builder_cancel(CTX, HPyTupleBuilder builder) {
  PyObject *tuple = take_builder(&tuple_shape, builder._tup, false);
  real->ctx_TupleBuilder_Cancel(real, (HPyTupleBuilder){(intptr_t)tuple});
}

void fhpy_debug_builder_fill(HPyContext *ctx) {
  ctx->ctx_ListBuilder_New = list_builder_new;
  ctx->ctx_ListBuilder_Set = list_builder_set;
  ctx->ctx_ListBuilder_Build = list_builder_build;
  ctx->ctx_ListBuilder_Cancel = list_builder_cancel;
  ctx->ctx_TupleBuilder_New = tuple_builder_new;
  ctx->ctx_TupleBuilder_Set = tuple_builder_set;
  ctx->ctx_TupleBuilder_Build = tuple_builder_build;
  ctx->ctx_TupleBuilder_Cancel = tuple_builder_cancel;
}

/* --- trackers ---------------------------------------------------------------------------------------------------- */

/* Debug mode: trackers. A tracker's word is a record's word, so its misuse is detected like a handle's. The plain
 * context's tracker stores handles of the debug context; they are looked up only when the tracker closes them. */

static HPyTracker tracker_new(CTX, HPy_ssize_t n_expected) {
  return (HPyTracker){fhpy_debug_record_open((void *)real->ctx_Tracker_New(real, n_expected)._i, HANDLE_TRACKER)._i};
}

/* Returns the plain context's tracker; null after a report. */
static HPyTracker get_tracker(HPyTracker tracker, const char *entry) {
  if (tracker._i == 0)
    fhpy_debug_report("%s passed to %s a tracker that could not be made", debug_words(fhpy_debug_name_running), entry);
  return (HPyTracker){(intptr_t)fhpy_debug_handle_get_as((HPy){tracker._i}, HANDLE_TRACKER, entry)};
}

static int tracker_add(CTX, HPyTracker tracker, HPy h) {
  HPyTracker t = get_tracker(tracker, "Tracker_Add");
  if (t._i != 0) return real->ctx_Tracker_Add(real, t, h);
  PyErr_SetString(PyExc_SystemError, "HPyTracker_Add expects an open tracker");
  return -1;
}

static void tracker_forget_all(CTX, HPyTracker tracker) {
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
