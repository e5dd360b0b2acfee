/* Context entries: handles, and the object protocol. A handle is an object pointer (extension.h), so duplicating a
 * handle takes a reference and closing a handle releases it. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/abi/pypy_functions.h"

/* The most frequent entries know how to count references. */
static HPy dup_by_call(CTX, HPy h) { return take_reference_by(FHPY_COUNT_CALLS, to_py(h)), h; }
static HPy dup_in_word(CTX, HPy h) { return take_reference_by(FHPY_COUNT_WORD, to_py(h)), h; }
static HPy dup_in_half(CTX, HPy h) { return take_reference_by(FHPY_COUNT_HALF, to_py(h)), h; }
static void close_by_call(CTX, HPy h) { drop_reference_by(FHPY_COUNT_CALLS, to_py(h)); }
static void close_in_word(CTX, HPy h) { drop_reference_by(FHPY_COUNT_WORD, to_py(h)); }
static void close_in_half(CTX, HPy h) { drop_reference_by(FHPY_COUNT_HALF, to_py(h)); }

/* Both return a new reference and borrow their argument. */
static HPy from_py_object(CTX, cpy_PyObject *o) { return new_reference((PyObject *)o); }
static cpy_PyObject *as_py_object(CTX, HPy h) {
  Py_IncRef(to_py(h));
  return (cpy_PyObject *)to_py(h);
}

static int is_same(CTX, HPy a, HPy b) { return a._i == b._i; }

/* ---- attributes ---- */

/* Whether the attribute was found. HPy_HasAttr cannot fail: any exception means no. PyObject_HasAttr is not used,
 * because from 3.13 on it prints the exception. */
static int take_is_present(PyObject *value) {
  if (value == NULL) PyErr_Clear();
  Py_DecRef(value);
  return value != NULL;
}
static int has_attr(CTX, HPy o, HPy name) { return take_is_present(PyObject_GetAttr(to_py(o), to_py(name))); }
static int has_attr_s(CTX, HPy o, const char *name) { return take_is_present(PyObject_GetAttrString(to_py(o), name)); }

/* ---- items by index and by name, for which the key is made here ---- */

/* These three steal the new key. NULL means that making the key failed, and an exception is raised. */
static HPy get_item_take_key(HPy o, PyObject *key) {
  if (key == NULL) return HPy_NULL;
  PyObject *result = PyObject_GetItem(to_py(o), key);
  Py_DecRef(key);
  return to_hpy(result);
}
static int set_item_take_key(HPy o, PyObject *key, HPy value) {
  if (key == NULL) return -1;
  int rc = PyObject_SetItem(to_py(o), key, to_py(value));
  Py_DecRef(key);
  return rc;
}
static int del_item_take_key(HPy o, PyObject *key) {
  if (key == NULL) return -1;
  int rc = PyObject_DelItem(to_py(o), key);
  Py_DecRef(key);
  return rc;
}

/* Returns a new reference to an item of a list or tuple, read in place. NULL without an exception if the item
 * does not exist, or if the offset of the items is unknown. The offset of a list's items is known only with a GIL,
 * which prevents concurrent changes of the list. */
static PyObject *item_in_place(PyObject *o, PyObject *type, HPy_ssize_t i) {
  const char *body = (const char *)o;
  PyObject *const *items;
  if (type == &PyList_Type && fhpy_layout.list_items != 0)
    items = *(PyObject *const *const *)(const void *)(body + fhpy_layout.list_items);
  else if (type == &PyTuple_Type && fhpy_layout.tuple_items != 0)
    items = (PyObject *const *)(const void *)(body + fhpy_layout.tuple_items);
  else
    return NULL;
  Py_ssize_t n = *(const Py_ssize_t *)(const void *)(body + fhpy_layout.header_size);
  if (i < 0 || i >= n) return NULL;
  take_reference(items[i]);
  return items[i];
}

/* Exact lists and tuples are the most frequent and are read without an int as the key. A subclass may override
 * __getitem__, so it is handled like any other object. PySequence_GetItem raises the IndexError, and counts a negative
 * index from the end. */
static HPy get_item_i(CTX, HPy o, HPy_ssize_t i) {
  PyObject *type = type_of(to_py(o));
  PyObject *item = item_in_place(to_py(o), type, i);
  if (item != NULL) return to_hpy(item);
  if (type == &PyList_Type || type == &PyTuple_Type) return to_hpy(PySequence_GetItem(to_py(o), i));
  return get_item_take_key(o, PyLong_FromSsize_t(i));
}
static HPy get_item_s(CTX, HPy o, const char *name) { return get_item_take_key(o, PyUnicode_FromString(name)); }
static int set_item_i(CTX, HPy o, HPy_ssize_t i, HPy value) {
  return set_item_take_key(o, PyLong_FromSsize_t(i), value);
}
static int set_item_s(CTX, HPy o, const char *name, HPy value) {
  return set_item_take_key(o, PyUnicode_FromString(name), value);
}
static int del_item_i(CTX, HPy o, HPy_ssize_t i) { return del_item_take_key(o, PyLong_FromSsize_t(i)); }
static int del_item_s(CTX, HPy o, const char *name) { return del_item_take_key(o, PyUnicode_FromString(name)); }

void fhpy_ctx_object_fill(HPyContext *ctx) {
  static HPy (*const dup_handle[])(HPyContext *, HPy) = {
      [FHPY_COUNT_CALLS] = dup_by_call, [FHPY_COUNT_WORD] = dup_in_word, [FHPY_COUNT_HALF] = dup_in_half};
  static void (*const close_handle[])(HPyContext *, HPy) = {
      [FHPY_COUNT_CALLS] = close_by_call, [FHPY_COUNT_WORD] = close_in_word, [FHPY_COUNT_HALF] = close_in_half};
  ctx->ctx_Dup = dup_handle[fhpy_layout.counting];
  ctx->ctx_Close = close_handle[fhpy_layout.counting];
  ctx->ctx_FromPyObject = from_py_object;
  ctx->ctx_AsPyObject = as_py_object;
  ctx->ctx_Is = is_same;
  ctx->ctx_HasAttr = has_attr;
  ctx->ctx_HasAttr_s = has_attr_s;
  ctx->ctx_GetItem_i = get_item_i;
  ctx->ctx_GetItem_s = get_item_s;
  ctx->ctx_SetItem_i = set_item_i;
  ctx->ctx_SetItem_s = set_item_s;
  ctx->ctx_DelItem_i = del_item_i;
  ctx->ctx_DelItem_s = del_item_s;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* Context entries: calls of Python objects. Handles are object pointers, so an array of handles is passed on unchanged.
 *
 * On PyPy each call first checks the stack (pypy_functions.h); elsewhere the check is free. */

/* A call with keyword names on 3.9 and 3.10, which export no function that takes a tuple of names: the keywords are
 * passed in a dict. The values follow the nargs positional arguments. */
static PyObject *call_with_names_before_311(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names) {
  PyObject *kw = PyDict_New();
  if (kw == NULL) return NULL;
  Py_ssize_t n_names = PyTuple_Size(names);
  PyObject *result = NULL;
  for (Py_ssize_t i = 0; i < n_names; ++i)
    if (PyDict_SetItem(kw, PyTuple_GetItem(names, i), args[nargs + (size_t)i]) < 0) goto done;
  result = PyObject_VectorcallDict(callable, args, nargs, kw);
done:
  Py_DecRef(kw);
  return result;
}

/* Whether kwnames is null or a tuple; raises TypeError if not, because the interpreter does not check it. */
static bool is_names_or_null(HPy kwnames, const char *entry) {
  if (HPy_IsNull(kwnames) || type_has_flag(type_of(to_py(kwnames)), TYPE_FLAG_TUPLE_SUBCLASS)) return true;
  PyErr_Format(PyExc_TypeError, "%s expects kwnames to be a tuple of str or a null handle, got %R", entry,
               type_of(to_py(kwnames)));
  return false;
}

/* Not inlined into call_object(), so that a call without names needs no stack frame: it ends in a jump. */
static FH_NOINLINE HPy call_with_names(PyObject *callable, PyObject *const *args, size_t nargs, HPy kwnames) {
  if (!is_names_or_null(kwnames, "HPy_Call")) return HPy_NULL;
  if (fhpy_optional.PyObject_Vectorcall != NULL)
    return to_hpy(fhpy_optional.PyObject_Vectorcall(callable, args, nargs, to_py(kwnames)));
  return to_hpy(call_with_names_before_311(callable, args, nargs, to_py(kwnames)));
}

static HPy call_object(CTX, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  PyObject *f = to_py(callable);
  PyObject *const *items = to_py_array(args);
  if (!fhpy_pypy_stack_has_room()) return HPy_NULL;
  if (!HPy_IsNull(kwnames)) return call_with_names(f, items, nargs, kwnames);
  if (fhpy_optional.PyObject_Vectorcall != NULL)
    return to_hpy(fhpy_optional.PyObject_Vectorcall(f, items, nargs, NULL));
  return to_hpy(PyObject_VectorcallDict(f, items, nargs, NULL));
}

/* args[0] is the receiver of the method and is included in nargs. */
static HPy call_method(CTX, HPy name, const HPy *args, size_t nargs, HPy kwnames) {
  if (!fhpy_pypy_stack_has_room() || !is_names_or_null(kwnames, "HPy_CallMethod")) return HPy_NULL;
  return to_hpy(PyObject_VectorcallMethod(to_py(name), to_py_array(args), nargs, to_py(kwnames)));
}

/* PyObject_Call checks neither the tuple nor the dict, and needs a tuple even without arguments. */
static HPy call_tuple_dict(CTX, HPy callable, HPy args, HPy kw) {
  if (!fhpy_pypy_stack_has_room()) return HPy_NULL;
  if (!HPy_IsNull(args) && !type_has_flag(type_of(to_py(args)), TYPE_FLAG_TUPLE_SUBCLASS)) {
    PyErr_Format(PyExc_TypeError, "HPy_CallTupleDict expects a tuple or null in args, got %R", type_of(to_py(args)));
    return HPy_NULL;
  }
  if (!HPy_IsNull(kw) && !type_has_flag(type_of(to_py(kw)), TYPE_FLAG_DICT_SUBCLASS)) {
    PyErr_Format(PyExc_TypeError, "HPy_CallTupleDict expects a dict or null in kw, got %R", type_of(to_py(kw)));
    return HPy_NULL;
  }
  if (HPy_IsNull(kw)) return to_hpy(PyObject_CallObject(to_py(callable), to_py(args)));
  if (!HPy_IsNull(args)) return to_hpy(PyObject_Call(to_py(callable), to_py(args), to_py(kw)));
  PyObject *no_args = PyTuple_New(0);
  if (no_args == NULL) return HPy_NULL;
  PyObject *result = PyObject_Call(to_py(callable), no_args, to_py(kw));
  Py_DecRef(no_args);
  return to_hpy(result);
}

void fhpy_ctx_call_fill(HPyContext *ctx) {
  ctx->ctx_Call = call_object;
  ctx->ctx_CallMethod = call_method;
  ctx->ctx_CallTupleDict = call_tuple_dict;
}
