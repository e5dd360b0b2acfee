/* Context entries: types and instances. types/ implements them; this file checks the arguments. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/types/type_instance.h"
#include "hpy_runtime/types/type_spec.h"

static HPy type_from_spec(CTX, HPyType_Spec *spec, HPyType_SpecParam *params) {
  return to_hpy(fhpy_type_spec_make(spec, params));
}

static HPy new_instance(CTX, HPy type, void **data) { return to_hpy(fhpy_type_instance_make(to_py(type), data)); }

/* Whether o is a type; raises TypeError if not. */
static bool expect_type(PyObject *o, const char *entry) {
  if (is_type(o)) return true;
  PyErr_Format(PyExc_TypeError, "%s expects a type, got %R", entry, o);
  return false;
}

/* Makes an instance like tp_new and ignores the arguments. Also accepts types that HPy did not make, whose instances
 * have no struct. */
static HPy generic_new(CTX, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)args, (void)nargs, (void)kw; /* unused: the signature of tp_new */
  if (!expect_type(to_py(type), "HPyType_GenericNew")) return HPy_NULL;
  if (type_nearest_note(to_py(type)) == NULL) return to_hpy(fhpy_type_instance_make_bare(to_py(type)));
  void *data;
  return to_hpy(fhpy_type_instance_make(to_py(type), &data));
}

static HPy get_type(CTX, HPy h) { return new_reference(type_of(to_py(h))); }
/* In the most frequent case the type is exactly the object's type, which needs no call. */
static int type_check(CTX, HPy h, HPy type) {
  return type_of(to_py(h)) == to_py(type) || PyType_IsSubtype(type_of(to_py(h)), to_py(type));
}
static int type_is_subtype(CTX, HPy sub, HPy type) { return PyType_IsSubtype(to_py(sub), to_py(type)); }

/* The string must outlive the call, and HPy gives it no owner. A heap type keeps its name object alive, and the name
 * object its UTF-8 data. The name of a static type is made again for each request, so one interned copy is never
 * freed. */
static const char *type_get_name(CTX, HPy h) {
  PyObject *type = to_py(h);
  if (!expect_type(type, "HPyType_GetName")) return NULL;
  PyObject *name = PyObject_GetAttrString(type, "__name__");
  if (name == NULL) return NULL;
  bool is_heap = type_has_flag(type, TYPE_FLAG_HEAPTYPE);
  if (!is_heap) PyUnicode_InternInPlace(&name);
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (is_heap) Py_DecRef(name);
  return text;
}

static HPyType_BuiltinShape type_get_builtin_shape(CTX, HPy type) {
  if (!expect_type(to_py(type), "HPyType_GetBuiltinShape"))
    return (HPyType_BuiltinShape)-2; /* not a shape: -1 is Legacy */
  const FhpyType *note = type_note(to_py(type));
  return note != NULL ? note->shape : HPyType_BuiltinShape_Legacy; /* a type that HPy did not make is legacy */
}

/* Not checked: the caller guarantees that the object has the shape. Debug mode checks it (debug_check.c). */
#define AS_STRUCT(name)                                                             \
  static void *as_struct_##name(CTX, HPy h) {                                       \
    return (char *)to_py(h) + fhpy_layout.data_offset[HPyType_BuiltinShape_##name]; \
  }
AS_STRUCT(Object)
#ifdef FHPY_PYPY
static void *as_struct_Type(CTX, HPy h) { return fhpy_type_get_meta_struct(to_py(h)); }
#else
AS_STRUCT(Type)
#endif
AS_STRUCT(Long)
AS_STRUCT(Float)
AS_STRUCT(Unicode)
AS_STRUCT(Tuple)
AS_STRUCT(List)
static void *as_struct_Legacy(CTX, HPy h) { return to_py(h); }

/* Only an instance with a vectorcall word can store the function. */
static int set_call_function(CTX, HPy h, HPyCallFunction *function) {
  PyObject *o = to_py(h);
  const FhpyType *note = type_nearest_note(type_of(o));
  if (note == NULL || note->vectorcall_offset == 0) {
    PyErr_Format(PyExc_TypeError, "HPy_SetCallFunction expects an instance of a type with HPy_tp_call, got %R",
                 type_of(o));
    return -1;
  }
  type_instance_set_vectorcall(o, note, (vectorcall_fn)(void (*)(void))function->cpy_trampoline);
  return 0;
}

void fhpy_ctx_type_fill(HPyContext *ctx) {
  ctx->ctx_Type_FromSpec = type_from_spec;
  ctx->ctx_Type_GenericNew = generic_new;
  ctx->ctx_New = new_instance;
  ctx->ctx_Type = get_type;
  ctx->ctx_TypeCheck = type_check;
  ctx->ctx_Type_IsSubtype = type_is_subtype;
  ctx->ctx_Type_GetName = type_get_name;
  ctx->ctx_Type_GetBuiltinShape = type_get_builtin_shape;
  ctx->ctx_AsStruct_Object = as_struct_Object;
  ctx->ctx_AsStruct_Legacy = as_struct_Legacy;
  ctx->ctx_AsStruct_Type = as_struct_Type;
  ctx->ctx_AsStruct_Long = as_struct_Long;
  ctx->ctx_AsStruct_Float = as_struct_Float;
  ctx->ctx_AsStruct_Unicode = as_struct_Unicode;
  ctx->ctx_AsStruct_Tuple = as_struct_Tuple;
  ctx->ctx_AsStruct_List = as_struct_List;
  ctx->ctx_SetCallFunction = set_call_function;
}
