/* Debug mode: the context. Most entries are made from the list debug_entries.def; the rest is written out. */
#include <string.h>

#include "debug.h"
#include "extension.h"

/* ---- kinds ---- */

typedef bool T_boolean;
typedef HPyCapsule_Destructor *T_capsule_destructor;
typedef _HPyCapsule_key T_capsule_key;
typedef double T_double;
typedef HPyField T_field;
typedef HPyField *T_field_address;
typedef HPyGlobal T_global;
typedef HPyGlobal *T_global_address;
typedef HPy T_handle;
typedef HPy_hash_t T_hash;
typedef int T_int;
typedef int32_t T_int32;
typedef int64_t T_int64;
typedef HPyListBuilder T_list_builder;
typedef void T_none;
typedef cpy_PyObject *T_object;
typedef void *T_pointer;
typedef void **T_pointer_address;
typedef HPyType_BuiltinShape T_shape;
typedef size_t T_size;
typedef HPy_SourceKind T_source_kind;
typedef HPy_ssize_t T_ssize;
typedef HPy_ssize_t *T_ssize_address;
typedef const char *T_text;
typedef HPyThreadState T_thread_state;
typedef HPyTupleBuilder T_tuple_builder;
typedef HPy_UCS4 T_ucs4;
typedef uint32_t T_uint32;
typedef uint64_t T_uint64;
typedef const wchar_t *T_wide;

static HPyContext *const real = &fhpy_context.base;

static HPy unwrap(HPy h, const char *entry) { return to_hpy(fhpy_debug_get(h, entry)); }
static HPy wrap(HPy object) { return fhpy_debug_open(to_py(object), HANDLE_OWNED); }

/* A builder's word is a handle of its own kind. */
static HPyListBuilder unwrap_list(HPyListBuilder builder, const char *entry) {
  return (HPyListBuilder){(intptr_t)fhpy_debug_get_builder((HPy){builder._lst}, entry)};
}
static HPyTupleBuilder unwrap_tuple(HPyTupleBuilder builder, const char *entry) {
  return (HPyTupleBuilder){(intptr_t)fhpy_debug_get_builder((HPy){builder._tup}, entry)};
}
static HPyListBuilder wrap_list(HPyListBuilder builder) {
  return (HPyListBuilder){fhpy_debug_open((PyObject *)builder._lst, HANDLE_BUILDER)._i};
}
static HPyTupleBuilder wrap_tuple(HPyTupleBuilder builder) {
  return (HPyTupleBuilder){fhpy_debug_open((PyObject *)builder._tup, HANDLE_BUILDER)._i};
}

/* What an argument becomes for the real entry. */
#define U_handle(x, entry) unwrap(x, entry)
#define U_boolean(x, entry) x
#define U_capsule_destructor(x, entry) x
#define U_capsule_key(x, entry) x
#define U_double(x, entry) x
#define U_field(x, entry) x
#define U_field_address(x, entry) x
#define U_global(x, entry) x
#define U_global_address(x, entry) x
#define U_int(x, entry) x
#define U_int32(x, entry) x
#define U_int64(x, entry) x
#define U_list_builder(x, entry) unwrap_list(x, entry)
#define U_object(x, entry) x
#define U_pointer(x, entry) x
#define U_pointer_address(x, entry) x
#define U_size(x, entry) x
#define U_source_kind(x, entry) x
#define U_ssize(x, entry) x
#define U_ssize_address(x, entry) x
#define U_text(x, entry) x
#define U_thread_state(x, entry) x
#define U_tuple_builder(x, entry) unwrap_tuple(x, entry)
#define U_uint32(x, entry) x
#define U_uint64(x, entry) x
#define U_wide(x, entry) x

/* What is done with the real entry's result. */
#define R_handle(call) return wrap(call);
#define R_none(call) call;
#define R_boolean(call) return call;
#define R_double(call) return call;
#define R_hash(call) return call;
#define R_int(call) return call;
#define R_int32(call) return call;
#define R_int64(call) return call;
#define R_list_builder(call) return wrap_list(call);
#define R_object(call) return call;
#define R_pointer(call) return call;
#define R_shape(call) return call;
#define R_size(call) return call;
#define R_ssize(call) return call;
#define R_text(call) return call;
#define R_thread_state(call) return call;
#define R_tuple_builder(call) return wrap_tuple(call);
#define R_ucs4(call) return call;
#define R_uint32(call) return call;
#define R_uint64(call) return call;

/* ---- the entries of the list ---- */

#define ENTRY0(R, name)                \
  static T_##R name(HPyContext *ctx) { \
    (void)ctx;                         \
    R_##R(real->ctx_##name(real))      \
  }
#define ENTRY1(R, name, A)                         \
  static T_##R name(HPyContext *ctx, T_##A a) {    \
    (void)ctx;                                     \
    R_##R(real->ctx_##name(real, U_##A(a, #name))) \
  }
#define ENTRY2(R, name, A, B)                                       \
  static T_##R name(HPyContext *ctx, T_##A a, T_##B b) {            \
    (void)ctx;                                                      \
    R_##R(real->ctx_##name(real, U_##A(a, #name), U_##B(b, #name))) \
  }
#define ENTRY3(R, name, A, B, C)                                                     \
  static T_##R name(HPyContext *ctx, T_##A a, T_##B b, T_##C c) {                    \
    (void)ctx;                                                                       \
    R_##R(real->ctx_##name(real, U_##A(a, #name), U_##B(b, #name), U_##C(c, #name))) \
  }
#define ENTRY4(R, name, A, B, C, D)                                                                   \
  static T_##R name(HPyContext *ctx, T_##A a, T_##B b, T_##C c, T_##D d) {                            \
    (void)ctx;                                                                                        \
    R_##R(real->ctx_##name(real, U_##A(a, #name), U_##B(b, #name), U_##C(c, #name), U_##D(d, #name))) \
  }
#include "debug_entries.def"
#undef ENTRY0
#undef ENTRY1
#undef ENTRY2
#undef ENTRY3
#undef ENTRY4

/* ---- entries that do more ---- */

static void close_handle(HPyContext *ctx, HPy h) { (void)ctx, fhpy_debug_close(h); }

/* These end a builder; a null one is one that could not be made, which the real entries know. */
static HPy refuse_ended_builder(void) {
  PyErr_SetString(PyExc_SystemError, "a builder was used after its end");
  return HPy_NULL;
}
static HPy list_builder_build(HPyContext *ctx, HPyListBuilder builder) {
  (void)ctx;
  PyObject *list = fhpy_debug_take_builder((HPy){builder._lst}, "ListBuilder_Build");
  if (list == NULL && builder._lst != 0) return refuse_ended_builder();
  return wrap(real->ctx_ListBuilder_Build(real, (HPyListBuilder){(intptr_t)list}));
}
static void list_builder_cancel(HPyContext *ctx, HPyListBuilder builder) {
  (void)ctx;
  PyObject *list = fhpy_debug_take_builder((HPy){builder._lst}, "ListBuilder_Cancel");
  real->ctx_ListBuilder_Cancel(real, (HPyListBuilder){(intptr_t)list});
}
static HPy tuple_builder_build(HPyContext *ctx, HPyTupleBuilder builder) {
  (void)ctx;
  PyObject *tuple = fhpy_debug_take_builder((HPy){builder._tup}, "TupleBuilder_Build");
  if (tuple == NULL && builder._tup != 0) return refuse_ended_builder();
  return wrap(real->ctx_TupleBuilder_Build(real, (HPyTupleBuilder){(intptr_t)tuple}));
}
static void tuple_builder_cancel(HPyContext *ctx, HPyTupleBuilder builder) {
  (void)ctx;
  PyObject *tuple = fhpy_debug_take_builder((HPy){builder._tup}, "TupleBuilder_Cancel");
  real->ctx_TupleBuilder_Cancel(real, (HPyTupleBuilder){(intptr_t)tuple});
}

/* The objects of an array of handles. To be freed with PyMem_Free; never NULL. */
static HPy *unwrap_array(const HPy *items, size_t n_items, const char *entry) {
  HPy *objects = PyMem_Malloc((n_items + 1) * sizeof(HPy));
  if (objects == NULL) Py_FatalError("ffi_hpy debug mode: no memory for the arguments of a call");
  for (size_t i = 0; i < n_items; i++) objects[i] = unwrap(items[i], entry);
  return objects;
}

/* Arguments and, after them, the values of keywords. What is no tuple is refused by the real entry. */
static HPy *unwrap_arguments(const HPy *args, size_t nargs, HPy names, const char *entry) {
  PyObject *tuple = to_py(names);
  if (tuple != NULL && type_has_flag(type_of(tuple), TYPE_FLAG_TUPLE_SUBCLASS)) nargs += (size_t)PyTuple_Size(tuple);
  return unwrap_array(args, nargs, entry);
}

static HPy call(HPyContext *ctx, HPy callable, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  HPy names = unwrap(kwnames, "Call");
  HPy *objects = unwrap_arguments(args, nargs, names, "Call");
  HPy result = real->ctx_Call(real, unwrap(callable, "Call"), objects, nargs, names);
  PyMem_Free(objects);
  return wrap(result);
}

static HPy call_method(HPyContext *ctx, HPy name, const HPy *args, size_t nargs, HPy kwnames) {
  (void)ctx;
  HPy names = unwrap(kwnames, "CallMethod");
  HPy *objects = unwrap_arguments(args, nargs, names, "CallMethod");
  HPy result = real->ctx_CallMethod(real, unwrap(name, "CallMethod"), objects, nargs, names);
  PyMem_Free(objects);
  return wrap(result);
}

static HPy tuple_from_array(HPyContext *ctx, HPy items[], HPy_ssize_t n_items) {
  (void)ctx;
  HPy *objects = unwrap_array(items, n_items > 0 ? (size_t)n_items : 0, "Tuple_FromArray");
  HPy result = real->ctx_Tuple_FromArray(real, objects, n_items);
  PyMem_Free(objects);
  return wrap(result);
}

static HPy type_generic_new(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)ctx;
  HPy *objects = unwrap_array(args, args != NULL && nargs > 0 ? (size_t)nargs : 0, "Type_GenericNew");
  HPy result =
      real->ctx_Type_GenericNew(real, unwrap(type, "Type_GenericNew"), objects, nargs, unwrap(kw, "Type_GenericNew"));
  PyMem_Free(objects);
  return wrap(result);
}

static HPy type_from_spec(HPyContext *ctx, HPyType_Spec *spec, HPyType_SpecParam *params) {
  (void)ctx;
  size_t n_params = 0;
  while (params != NULL && params[n_params].kind != 0) n_params++;
  HPyType_SpecParam *unwrapped = PyMem_Calloc(n_params + 1, sizeof(HPyType_SpecParam)); /* ends with kind 0 */
  if (unwrapped == NULL) {
    PyErr_NoMemory();
    return HPy_NULL;
  }
  for (size_t i = 0; i < n_params; i++)
    unwrapped[i] = (HPyType_SpecParam){params[i].kind, unwrap(params[i].object, "Type_FromSpec")};
  if (spec->name != NULL) fhpy_debug_name_defines(spec->name, spec->defines);
  HPy result = real->ctx_Type_FromSpec(real, spec, unwrapped);
  PyMem_Free(unwrapped);
  return wrap(result);
}

static int32_t context_var_get(HPyContext *ctx, HPy var, HPy default_value, HPy *result) {
  (void)ctx;
  int32_t rc =
      real->ctx_ContextVar_Get(real, unwrap(var, "ContextVar_Get"), unwrap(default_value, "ContextVar_Get"), result);
  *result = wrap(*result);
  return rc;
}

static int set_call_function(HPyContext *ctx, HPy h, HPyCallFunction *function) {
  (void)ctx;
  HPy object = unwrap(h, "SetCallFunction");
  const char *type = real->ctx_Type_GetName(real, to_hpy(type_of(to_py(object))));
  if (type == NULL) return -1;
  fhpy_debug_name_add((HPyCFunction)(void (*)(void))function->impl, type, "(call function)");
  return real->ctx_SetCallFunction(real, object, function);
}

/* After a report that returned there is no struct. Zeros are less harmful than what follows None. */
static void *checked_struct(void *(*as_struct)(HPyContext *, HPy), HPy h, const char *entry) {
  static _Alignas(16) char nothing[4096];
  PyObject *o = fhpy_debug_get(h, entry);
  return o == NULL || o == &_Py_NoneStruct ? nothing : as_struct(real, to_hpy(o));
}
#define STRUCTS(X) X(Object) X(Legacy) X(Type) X(Long) X(Float) X(Unicode) X(Tuple) X(List)
#define DEFINE_AS_STRUCT(shape)                                                          \
  static void *as_struct_##shape(HPyContext *ctx, HPy h) {                               \
    return (void)ctx, checked_struct(real->ctx_AsStruct_##shape, h, "AsStruct_" #shape); \
  }
STRUCTS(DEFINE_AS_STRUCT)

/* ---- the table ---- */

static HPyContext debug_context;
static int lock;
static bool is_complete; /* written under the lock */

/* Constants stand in two rows in the context. */
static void wrap_constants(HPy *first, const void *end) {
  const HPy *from = (const HPy *)(const void *)((const char *)real + ((char *)first - (char *)&debug_context));
  for (HPy *h = first; (const void *)h < end; h++, from++) {
    Py_IncRef(to_py(*from));
    *h = fhpy_debug_open(to_py(*from), HANDLE_CONSTANT);
  }
}

static void fill(HPyContext *ctx) {
  static char no_extension;
  ctx->name = FHPY_DEBUG_CONTEXT_NAME;
  ctx->_private = &no_extension;
  ctx->abi_version = HPY_ABI_VERSION;
  wrap_constants(&ctx->h_None, &ctx->ctx_Dup);
  wrap_constants(&ctx->h_ComplexType, &ctx->ctx_Capsule_New);
#define ENTRY0(R, name) ctx->ctx_##name = name;
#define ENTRY1(R, name, A) ctx->ctx_##name = name;
#define ENTRY2(R, name, A, B) ctx->ctx_##name = name;
#define ENTRY3(R, name, A, B, C) ctx->ctx_##name = name;
#define ENTRY4(R, name, A, B, C, D) ctx->ctx_##name = name;
#include "debug_entries.def"
#define SET_AS_STRUCT(shape) ctx->ctx_AsStruct_##shape = as_struct_##shape;
  STRUCTS(SET_AS_STRUCT)
  ctx->ctx_Close = close_handle;
  ctx->ctx_ListBuilder_Build = list_builder_build;
  ctx->ctx_ListBuilder_Cancel = list_builder_cancel;
  ctx->ctx_TupleBuilder_Build = tuple_builder_build;
  ctx->ctx_TupleBuilder_Cancel = tuple_builder_cancel;
  ctx->ctx_Call = call;
  ctx->ctx_CallMethod = call_method;
  ctx->ctx_Tuple_FromArray = tuple_from_array;
  ctx->ctx_Type_GenericNew = type_generic_new;
  ctx->ctx_Type_FromSpec = type_from_spec;
  ctx->ctx_ContextVar_Get = context_var_get;
  ctx->ctx_SetCallFunction = set_call_function;
  ctx->ctx_CallRealFunctionFromTrampoline = fhpy_debug_call;
  /* they keep handles without looking at them, and close them through their context */
  ctx->ctx_Tracker_New = real->ctx_Tracker_New;
  ctx->ctx_Tracker_Add = real->ctx_Tracker_Add;
  ctx->ctx_Tracker_ForgetAll = real->ctx_Tracker_ForgetAll;
  ctx->ctx_Tracker_Close = real->ctx_Tracker_Close;
}

HPyContext *fhpy_debug_context_get(void) {
  spin_acquire(&lock);
  if (!is_complete) fill(&debug_context);
  is_complete = true;
  spin_release(&lock);
  return fhpy_context_check(&debug_context, sizeof(debug_context)) < 0 ? NULL : &debug_context;
}
