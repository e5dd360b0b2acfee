/* Context entries: calls of Python objects. Handles are object pointers, so an array of handles is passed on unchanged.
 *
 * On PyPy each call first checks the stack (pypy_stack.h); elsewhere the check is free. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/abi/pypy_stack.h"

/* A call with keyword names on 3.9 and 3.10, which export no function that takes a tuple of names: the keywords are
 * passed in a dict. The values follow the nargs positional arguments. */
static PyObject *call_with_names_before_311(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names) {
  PyObject *kw = PyDict_New();
  if (kw == NULL) return NULL;
  Py_ssize_t n_names = PyTuple_Size(names);
  PyObject *result = NULL;
  for (Py_ssize_t i = 0; i < n_names; i++)
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

static HPy call_object(HPyContext *ctx, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  PyObject *f = to_py(callable);
  PyObject *const *items = to_py_array(args);
  if (!fhpy_pypy_stack_has_room()) return HPy_NULL;
  if (!HPy_IsNull(kwnames)) return call_with_names(f, items, nargs, kwnames);
  if (fhpy_optional.PyObject_Vectorcall != NULL)
    return to_hpy(fhpy_optional.PyObject_Vectorcall(f, items, nargs, NULL));
  return to_hpy(PyObject_VectorcallDict(f, items, nargs, NULL));
}

/* args[0] is the receiver of the method and is included in nargs. */
static HPy call_method(HPyContext *ctx, HPy name, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  if (!fhpy_pypy_stack_has_room() || !is_names_or_null(kwnames, "HPy_CallMethod")) return HPy_NULL;
  return to_hpy(PyObject_VectorcallMethod(to_py(name), to_py_array(args), nargs, to_py(kwnames)));
}

/* PyObject_Call checks neither the tuple nor the dict, and needs a tuple even without arguments. */
static HPy call_tuple_dict(HPyContext *ctx, HPy callable, HPy args, HPy kw) {
  (void)ctx;
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

static int callable_check(HPyContext *ctx, HPy h) { return (void)ctx, PyCallable_Check(to_py(h)); }

void fhpy_ctx_call_fill(HPyContext *ctx) {
  ctx->ctx_Call = call_object;
  ctx->ctx_CallMethod = call_method;
  ctx->ctx_CallTupleDict = call_tuple_dict;
  ctx->ctx_Callable_Check = callable_check;
}
