/* Context entries: ListBuilder and TupleBuilder. A builder is the unfinished list or tuple itself, so Build is free.
 *
 * If the list or tuple could not be made, the builder is 0: Set and Cancel ignore it, Build raises MemoryError. New
 * raises nothing, because the calls that make the items must not run with a raised exception. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

/* Returns the word of a new builder, which steals the list or tuple; 0 for NULL. */
static intptr_t take_started(PyObject *made) {
  if (made == NULL) PyErr_Clear();
  return (intptr_t)made;
}

/* Returns the finished list or tuple, owned by the caller; NULL with MemoryError raised for 0. */
static PyObject *take_built(intptr_t builder) {
  if (builder == 0) PyErr_NoMemory();
  return (PyObject *)builder;
}

/* Lists and tuples with the layout that layout.c measures. Used only if fhpy_layout.list_items and tuple_items equal
 * these offsets. */
typedef struct {
  Py_ssize_t refcount;
  PyObject *type;
  size_t n_items;
} PlainHead;
typedef struct {
  PlainHead head;
  PyObject **items;
} PlainList;
typedef struct {
  PlainHead head;
  PyObject *items[];
} PlainTuple;

/* Stores a new reference in an empty slot, without a call. Returns false for a filled slot or a null item; the
 * interpreter's function must then be called. Used only where reference counts are plain. */
static inline bool fill_plain(PyObject **slot, PyObject *item) {
  if (*slot != NULL || item == NULL) return false;
  *slot = item;
  ++*(Py_ssize_t *)item;
  return true;
}

static HPyListBuilder list_builder_new(HPyContext *ctx, HPy_ssize_t n_items) {
  return (void)ctx, (HPyListBuilder){take_started(PyList_New(n_items))};
}
/* PyList_SetItem and PyTuple_SetItem steal the reference even if the index is out of range. HPy's Set cannot report
 * that error, so the exception stays raised for the caller's next check. */
static FH_NOINLINE void list_builder_set(HPyContext *ctx, HPyListBuilder builder, HPy_ssize_t i, HPy item) {
  (void)ctx;
  if (builder._lst == 0) return;
  take_reference(to_py(item));
  PyList_SetItem((PyObject *)builder._lst, i, to_py(item));
}
/* The cast makes a negative index too large. */
static void plain_list_builder_set(HPyContext *ctx, HPyListBuilder builder, HPy_ssize_t i, HPy item) {
  PlainList *list = (PlainList *)builder._lst;
  if (list != NULL && (size_t)i < list->head.n_items && fill_plain(list->items + i, to_py(item))) return;
  list_builder_set(ctx, builder, i, item);
}
static HPy list_builder_build(HPyContext *ctx, HPyListBuilder builder) {
  return (void)ctx, to_hpy(take_built(builder._lst));
}
static void list_builder_cancel(HPyContext *ctx, HPyListBuilder builder) {
  (void)ctx, Py_DecRef((PyObject *)builder._lst);
}

static HPyTupleBuilder tuple_builder_new(HPyContext *ctx, HPy_ssize_t n_items) {
  return (void)ctx, (HPyTupleBuilder){take_started(PyTuple_New(n_items))};
}
static FH_NOINLINE void tuple_builder_set(HPyContext *ctx, HPyTupleBuilder builder, HPy_ssize_t i, HPy item) {
  (void)ctx;
  if (builder._tup == 0) return;
  take_reference(to_py(item));
  PyTuple_SetItem((PyObject *)builder._tup, i, to_py(item));
}
static void plain_tuple_builder_set(HPyContext *ctx, HPyTupleBuilder builder, HPy_ssize_t i, HPy item) {
  PlainTuple *tuple = (PlainTuple *)builder._tup;
  if (tuple != NULL && (size_t)i < tuple->head.n_items && fill_plain(tuple->items + i, to_py(item))) return;
  tuple_builder_set(ctx, builder, i, item);
}
static HPy tuple_builder_build(HPyContext *ctx, HPyTupleBuilder builder) {
  return (void)ctx, to_hpy(take_built(builder._tup));
}
static void tuple_builder_cancel(HPyContext *ctx, HPyTupleBuilder builder) {
  (void)ctx, Py_DecRef((PyObject *)builder._tup);
}

void fhpy_ctx_builder_fill(HPyContext *ctx) {
  bool is_plain = fhpy_layout.plain_refcounts && fhpy_layout.tuple_items == offsetof(PlainTuple, items);
  ctx->ctx_ListBuilder_New = list_builder_new;
  ctx->ctx_ListBuilder_Set =
      fhpy_layout.list_items == offsetof(PlainList, items) ? plain_list_builder_set : list_builder_set;
  ctx->ctx_ListBuilder_Build = list_builder_build;
  ctx->ctx_ListBuilder_Cancel = list_builder_cancel;
  ctx->ctx_TupleBuilder_New = tuple_builder_new;
  ctx->ctx_TupleBuilder_Set = is_plain ? plain_tuple_builder_set : tuple_builder_set;
  ctx->ctx_TupleBuilder_Build = tuple_builder_build;
  ctx->ctx_TupleBuilder_Cancel = tuple_builder_cancel;
}
