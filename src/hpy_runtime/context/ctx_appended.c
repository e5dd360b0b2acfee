/* Context entries that HPy's master has added after 0.9.0 (appended.h has their contracts). All except AsStruct_Dict
 * pass their arguments on to the corresponding function of the interpreter. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static void *as_struct_dict(HPyContext *ctx, HPy h) {
  return (void)ctx, (char *)to_py(h) + fhpy_layout.data_offset[FHPY_BUILTIN_SHAPE_DICT];
}

static int list_insert(HPyContext *ctx, HPy list, HPy_ssize_t index, HPy item) {
  return (void)ctx, PyList_Insert(to_py(list), index, to_py(item));
}

static HPy get_slice(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end) {
  return (void)ctx, to_hpy(PySequence_GetSlice(to_py(sequence), start, end));
}
static int set_slice(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end, HPy value) {
  return (void)ctx, PySequence_SetSlice(to_py(sequence), start, end, to_py(value));
}
static int del_slice(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end) {
  return (void)ctx, PySequence_DelSlice(to_py(sequence), start, end);
}

static HPy get_iter(HPyContext *ctx, HPy h) { return (void)ctx, to_hpy(PyObject_GetIter(to_py(h))); }

/* PyIter_Next calls tp_iternext without a check that it exists. At the end it returns NULL without an exception, like
 * HPy's entry. */
static HPy iter_next(HPyContext *ctx, HPy iterator) {
  (void)ctx;
  if (PyIter_Check(to_py(iterator))) return to_hpy(PyIter_Next(to_py(iterator)));
  PyErr_Format(PyExc_TypeError, "HPyIter_Next expects an iterator, got %R", type_of(to_py(iterator)));
  return HPy_NULL;
}
static int iter_check(HPyContext *ctx, HPy h) { return (void)ctx, PyIter_Check(to_py(h)); }

static HPy slice_new(HPyContext *ctx, HPy start, HPy stop, HPy step) {
  return (void)ctx, to_hpy(PySlice_New(to_py(start), to_py(stop), to_py(step)));
}

void fhpy_ctx_appended_fill(FhpyContext *ctx) {
  ctx->h_DictType = to_hpy(&PyDict_Type);
  ctx->ctx_AsStruct_Dict = as_struct_dict;
  ctx->ctx_List_Insert = list_insert;
  ctx->ctx_GetSlice = get_slice;
  ctx->ctx_SetSlice = set_slice;
  ctx->ctx_DelSlice = del_slice;
  ctx->ctx_GetIter = get_iter;
  ctx->ctx_Iter_Next = iter_next;
  ctx->ctx_Iter_Check = iter_check;
  ctx->ctx_Slice_New = slice_new;
}
