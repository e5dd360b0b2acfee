/* Context entries: list, tuple, dict, slice. Types are checked by a flag, which includes subclasses. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

static int list_check(HPyContext *ctx, HPy h) {
  return (void)ctx, type_has_flag(type_of(to_py(h)), TYPE_FLAG_LIST_SUBCLASS);
}
static int list_append(HPyContext *ctx, HPy list, HPy item) {
  return (void)ctx, PyList_Append(to_py(list), to_py(item));
}

/* PyList_New makes a list of nulls, which Python code must never see. The extension may expose the list before it has
 * set all items, so they are initialised with None. */
static HPy list_new(HPyContext *ctx, HPy_ssize_t n_items) {
  (void)ctx;
  PyObject *list = PyList_New(n_items);
  if (list == NULL) return HPy_NULL;
  for (HPy_ssize_t i = 0; i < n_items; i++) {
    Py_IncRef(&_Py_NoneStruct);
    PyList_SetItem(list, i, &_Py_NoneStruct);
  }
  return to_hpy(list);
}

static int dict_check(HPyContext *ctx, HPy h) {
  return (void)ctx, type_has_flag(type_of(to_py(h)), TYPE_FLAG_DICT_SUBCLASS);
}
static HPy dict_new(HPyContext *ctx) { return (void)ctx, to_hpy(PyDict_New()); }

/* Whether the handle is a dict; raises SystemError if not, like CPython's functions. Their own check does not suffice:
 * free-threaded 3.13 locks the object before it checks whether the object is a dict. */
static bool expect_dict(HPy h, const char *entry) {
  if (!HPy_IsNull(h) && type_has_flag(type_of(to_py(h)), TYPE_FLAG_DICT_SUBCLASS)) return true;
  if (HPy_IsNull(h))
    PyErr_Format(PyExc_SystemError, "%s expects a dict, got a null handle", entry);
  else
    PyErr_Format(PyExc_SystemError, "%s expects a dict, got %R", entry, type_of(to_py(h)));
  return false;
}
static HPy dict_keys(HPyContext *ctx, HPy h) {
  (void)ctx;
  return expect_dict(h, "HPyDict_Keys") ? to_hpy(PyDict_Keys(to_py(h))) : HPy_NULL;
}
static HPy dict_copy(HPyContext *ctx, HPy h) {
  (void)ctx;
  return expect_dict(h, "HPyDict_Copy") ? to_hpy(PyDict_Copy(to_py(h))) : HPy_NULL;
}

static int tuple_check(HPyContext *ctx, HPy h) {
  return (void)ctx, type_has_flag(type_of(to_py(h)), TYPE_FLAG_TUPLE_SUBCLASS);
}

/* Borrows the items, like all handle arguments. */
static HPy tuple_from_array(HPyContext *ctx, HPy items[], HPy_ssize_t n_items) {
  (void)ctx;
  PyObject *tuple = PyTuple_New(n_items);
  if (tuple == NULL) return HPy_NULL;
  for (HPy_ssize_t i = 0; i < n_items; i++) {
    Py_IncRef(to_py(items[i]));
    PyTuple_SetItem(tuple, i, to_py(items[i])); /* steals the reference; cannot fail on a fresh tuple */
  }
  return to_hpy(tuple);
}

static int slice_unpack(HPyContext *ctx, HPy slice, HPy_ssize_t *start, HPy_ssize_t *stop, HPy_ssize_t *step) {
  (void)ctx;
  if (type_of(to_py(slice)) != &PySlice_Type) { /* slice cannot be subclassed; CPython's function does not check */
    PyErr_Format(PyExc_SystemError, "HPySlice_Unpack expects a slice, got %R", type_of(to_py(slice)));
    return -1;
  }
  return PySlice_Unpack(to_py(slice), start, stop, step);
}

void fhpy_ctx_container_fill(HPyContext *ctx) {
  ctx->ctx_List_Check = list_check;
  ctx->ctx_List_New = list_new;
  ctx->ctx_List_Append = list_append;
  ctx->ctx_Dict_Check = dict_check;
  ctx->ctx_Dict_New = dict_new;
  ctx->ctx_Dict_Keys = dict_keys;
  ctx->ctx_Dict_Copy = dict_copy;
  ctx->ctx_Tuple_Check = tuple_check;
  ctx->ctx_Tuple_FromArray = tuple_from_array;
  ctx->ctx_Slice_Unpack = slice_unpack;
}
