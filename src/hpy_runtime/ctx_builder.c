/* Context entries: ListBuilder and TupleBuilder, which are the unfinished list or tuple itself.
 *
 * A builder that could not be made is 0: Set and Cancel ignore it, Build reports the failure. */
#include "context.h"

static PyObject *build(intptr_t builder) {
  if (builder == 0 && PyErr_Occurred() == NULL) PyErr_NoMemory();
  return (PyObject *)builder;
}

static bool is_index(PyObject *sequence, HPy_ssize_t i) {
  return (size_t)i < *(size_t *)((char *)sequence + fhpy_layout.header_size);
}

/* Takes over the reference to item. The slot of a fresh builder is empty; one that was set before is replaced. */
static void put(PyObject **slot, PyObject *item) {
  PyObject *old = *slot;
  *slot = item;
  drop_reference(old);
}

/* Setting takes over the reference that it is given, also when the index is out of range; HPy's Set cannot report
 * that, so the exception stays raised for the caller's next check. */
static HPyListBuilder list_builder_new(HPyContext *ctx, HPy_ssize_t n_items) {
  return (void)ctx, (HPyListBuilder){(intptr_t)PyList_New(n_items)};
}
static void list_builder_set(HPyContext *ctx, HPyListBuilder builder, HPy_ssize_t i, HPy item) {
  (void)ctx;
  if (builder._lst == 0) return;
  take_reference(to_py(item));
  if (fhpy_layout.list_items != 0 && is_index((PyObject *)builder._lst, i)) {
    put(*(PyObject ***)(builder._lst + fhpy_layout.list_items) + i, to_py(item));
    return;
  }
  PyList_SetItem((PyObject *)builder._lst, i, to_py(item));
}
static HPy list_builder_build(HPyContext *ctx, HPyListBuilder builder) {
  return (void)ctx, to_hpy(build(builder._lst));
}
static void list_builder_cancel(HPyContext *ctx, HPyListBuilder builder) {
  (void)ctx, Py_DecRef((PyObject *)builder._lst);
}

static HPyTupleBuilder tuple_builder_new(HPyContext *ctx, HPy_ssize_t n_items) {
  return (void)ctx, (HPyTupleBuilder){(intptr_t)PyTuple_New(n_items)};
}
static void tuple_builder_set(HPyContext *ctx, HPyTupleBuilder builder, HPy_ssize_t i, HPy item) {
  (void)ctx;
  if (builder._tup == 0) return;
  take_reference(to_py(item));
  if (fhpy_layout.tuple_items != 0 && is_index((PyObject *)builder._tup, i)) {
    put((PyObject **)(builder._tup + fhpy_layout.tuple_items) + i, to_py(item));
    return;
  }
  PyTuple_SetItem((PyObject *)builder._tup, i, to_py(item));
}
static HPy tuple_builder_build(HPyContext *ctx, HPyTupleBuilder builder) {
  return (void)ctx, to_hpy(build(builder._tup));
}
static void tuple_builder_cancel(HPyContext *ctx, HPyTupleBuilder builder) {
  (void)ctx, Py_DecRef((PyObject *)builder._tup);
}

void fhpy_builder_fill(HPyContext *ctx) {
  ctx->ctx_ListBuilder_New = list_builder_new;
  ctx->ctx_ListBuilder_Set = list_builder_set;
  ctx->ctx_ListBuilder_Build = list_builder_build;
  ctx->ctx_ListBuilder_Cancel = list_builder_cancel;
  ctx->ctx_TupleBuilder_New = tuple_builder_new;
  ctx->ctx_TupleBuilder_Set = tuple_builder_set;
  ctx->ctx_TupleBuilder_Build = tuple_builder_build;
  ctx->ctx_TupleBuilder_Cancel = tuple_builder_cancel;
}
