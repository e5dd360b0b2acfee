/* Debug mode: entries with an array of handles. The handles are looked up into an array of objects, which is passed to
 * the plain context's entry. */
#include "debug_entries.h"
#include "debug_handle.h"
#include "debug_name.h"
#include "hpy_runtime/context/context.h"

static HPyContext *const real = &fhpy_context.base;

/* Returns the objects of an array of handles, borrowed. Free the array with PyMem_Free. Never NULL: if memory is
 * exhausted, the process ends. */
static HPy *unwrap_array(const HPy *items, size_t n_items, const char *entry) {
  HPy *objects = PyMem_Malloc((n_items + 1) * sizeof(HPy));
  if (objects == NULL) Py_FatalError("ffi_hpy debug mode: no memory for the arguments of a call");
  for (size_t i = 0; i < n_items; i++) objects[i] = debug_unwrap(items[i], entry);
  return objects;
}

/* Returns the objects of arguments, followed by the values of keywords. If `names` is not a tuple there are no values,
 * and the plain context's entry raises the TypeError. */
static HPy *unwrap_arguments(const HPy *args, size_t nargs, HPy names, const char *entry) {
  PyObject *tuple = to_py(names);
  if (tuple != NULL && type_has_flag(type_of(tuple), TYPE_FLAG_TUPLE_SUBCLASS)) nargs += (size_t)PyTuple_Size(tuple);
  return unwrap_array(args, nargs, entry);
}

static HPy call_object(HPyContext *ctx, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  HPy names = debug_unwrap(kwnames, "Call");
  HPy *objects = unwrap_arguments(args, nargs, names, "Call");
  HPy result = real->ctx_Call(real, debug_unwrap(callable, "Call"), objects, nargs, names);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy call_method(HPyContext *ctx, HPy name, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  HPy names = debug_unwrap(kwnames, "CallMethod");
  HPy *objects = unwrap_arguments(args, nargs, names, "CallMethod");
  HPy result = real->ctx_CallMethod(real, debug_unwrap(name, "CallMethod"), objects, nargs, names);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy tuple_from_array(HPyContext *ctx, HPy items[], HPy_ssize_t n_items) {
  (void)ctx;
  HPy *objects = unwrap_array(items, n_items > 0 ? (size_t)n_items : 0, "Tuple_FromArray");
  HPy result = real->ctx_Tuple_FromArray(real, objects, n_items);
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy type_generic_new(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)ctx;
  HPy *objects = unwrap_array(args, args != NULL && nargs > 0 ? (size_t)nargs : 0, "Type_GenericNew");
  HPy result = real->ctx_Type_GenericNew(real, debug_unwrap(type, "Type_GenericNew"), objects, nargs,
                                         debug_unwrap(kw, "Type_GenericNew"));
  PyMem_Free(objects);
  return debug_wrap(result);
}

static HPy type_from_spec(HPyContext *ctx, HPyType_Spec *spec, HPyType_SpecParam *params) {
  (void)ctx;
  size_t n_params = 0;
  while (params != NULL && params[n_params].kind != 0) n_params++;
  /* One more, zeroed, because kind 0 ends the array. */
  HPyType_SpecParam *unwrapped = PyMem_Calloc(n_params + 1, sizeof(HPyType_SpecParam));
  if (unwrapped == NULL) {
    PyErr_NoMemory();
    return HPy_NULL;
  }
  for (size_t i = 0; i < n_params; i++)
    unwrapped[i] = (HPyType_SpecParam){params[i].kind, debug_unwrap(params[i].object, "Type_FromSpec")};
  /* Before the type exists, so that the first call of one of its functions finds the name. */
  if (spec->name != NULL) fhpy_debug_name_defines(spec->name, spec->defines);
  HPy result = real->ctx_Type_FromSpec(real, spec, unwrapped);
  PyMem_Free(unwrapped);
  return debug_wrap(result);
}

void fhpy_debug_array_fill(HPyContext *ctx) {
  ctx->ctx_Call = call_object;
  ctx->ctx_CallMethod = call_method;
  ctx->ctx_Tuple_FromArray = tuple_from_array;
  ctx->ctx_Type_GenericNew = type_generic_new;
  ctx->ctx_Type_FromSpec = type_from_spec;
}
