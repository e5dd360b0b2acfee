/* Debug mode: entries whose arguments neither the interpreter nor C checks. An argument of the wrong kind is reported;
 * if the report returns, the entry fails, or returns false. HPy's own tests check the messages. */
#include "debug.h"

#include <stdio.h>
#include <string.h>

#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/types/type.h"

static HPyContext *const real = &fhpy_context.base;

/* Reports an object that violates a rule, with its type. */
static void report_object(PyObject *o, const char *rule) {
  const char *type = o != NULL ? real->ctx_Type_GetName(real, to_hpy(type_of(o))) : NULL;
  if (o != NULL && type == NULL) PyErr_Clear();
  fhpy_debug_report("%s: %s, got %s%s", debug_words(fhpy_debug_name_running), rule,
                    o == NULL ? "a null handle" : "an object of type ", type != NULL ? type : "");
}

/* Whether o is a type; reports it if not. */
static bool expect_type(PyObject *o, const char *rule) {
  if (o != NULL && is_type(o)) return true;
  report_object(o, rule);
  return false;
}

/* ---- types and str ---- */

static int type_check(CTX, HPy h, HPy type) {
  PyObject *o = fhpy_debug_handle_get(h, "TypeCheck"), *t = fhpy_debug_handle_get(type, "TypeCheck");
  if (!expect_type(t, "HPy_TypeCheck arg 2 must be a type")) return 0;
  if (o != NULL) return real->ctx_TypeCheck(real, to_hpy(o), to_hpy(t));
  report_object(o, "HPy_TypeCheck arg 1 must be an object");
  return 0;
}

static int type_is_subtype(CTX, HPy sub, HPy type) {
  PyObject *s = fhpy_debug_handle_get(sub, "Type_IsSubtype"), *t = fhpy_debug_handle_get(type, "Type_IsSubtype");
  return expect_type(s, "HPyType_IsSubtype arg 1 must be a type") &&
         expect_type(t, "HPyType_IsSubtype arg 2 must be a type") &&
         real->ctx_Type_IsSubtype(real, to_hpy(s), to_hpy(t));
}

static const char *type_get_name(CTX, HPy h) {
  PyObject *type = fhpy_debug_handle_get(h, "Type_GetName");
  if (!expect_type(type, "HPyType_GetName arg must be a type")) {
    PyErr_SetString(PyExc_TypeError, "HPyType_GetName expects a type");
    return NULL;
  }
  const char *name = real->ctx_Type_GetName(real, to_hpy(type));
  return name != NULL ? fhpy_debug_record_keep_text(h, name, strlen(name) + 1) : NULL;
}

static HPy unicode_substring(CTX, HPy h, HPy_ssize_t start, HPy_ssize_t end) {
  PyObject *o = fhpy_debug_handle_get(h, "Unicode_Substring");
  if (o != NULL && type_has_flag(type_of(o), TYPE_FLAG_UNICODE_SUBCLASS))
    return debug_wrap(real->ctx_Unicode_Substring(real, to_hpy(o), start, end));
  report_object(o, "HPyUnicode_Substring arg 1 must be a Unicode object");
  PyErr_SetString(PyExc_TypeError, "HPyUnicode_Substring expects a str");
  return HPy_NULL;
}

/* ---- structs ---- */

/* Whether the object has a struct of the shape. The legacy struct is the object itself, so every object has it. */
static bool has_shape(PyObject *o, HPyType_BuiltinShape shape) {
  if (shape == HPyType_BuiltinShape_Legacy) return true;
  const FhpyType *note = type_nearest_note(type_of(o));
  return note != NULL && note->shape == shape;
}

/* Returns the struct of an object of the given shape. After a report that returned, the struct is missing; zeroes do
 * less harm than the memory after another object. */
static void *checked_struct(void *(*as_struct)(HPyContext *, HPy), HPy h, HPyType_BuiltinShape shape,
                            const char *shape_name) {
  static _Alignas(16) char nothing[4096];
  char words[96];
  snprintf(words, sizeof(words), "AsStruct_%s", shape_name);
  PyObject *o = fhpy_debug_handle_get(h, words);
  if (o != NULL && has_shape(o, shape)) return as_struct(real, to_hpy(o));
  snprintf(words, sizeof(words), "Invalid usage of _HPy_AsStruct_%s. Expected an object of that shape", shape_name);
  /* None usually replaces a handle that fhpy_debug_handle_get has reported already. */
  if (o != &_Py_NoneStruct) report_object(o, words);
  return nothing;
}
#define STRUCTS(X) X(Object) X(Legacy) X(Type) X(Long) X(Float) X(Unicode) X(Tuple) X(List)
#define DEFINE_AS_STRUCT(shape)                                                                 \
  static void *as_struct_##shape(CTX, HPy h) {                                                  \
    return checked_struct(real->ctx_AsStruct_##shape, h, HPyType_BuiltinShape_##shape, #shape); \
  }
STRUCTS(DEFINE_AS_STRUCT)
static void *as_struct_dict(CTX, HPy h) {
  return checked_struct(fhpy_context.ctx_AsStruct_Dict, h, FHPY_BUILTIN_SHAPE_DICT, "Dict");
}

void fhpy_debug_check_fill(FhpyContext *table) {
  HPyContext *ctx = &table->base;
  ctx->ctx_TypeCheck = type_check;
  ctx->ctx_Type_IsSubtype = type_is_subtype;
  ctx->ctx_Type_GetName = type_get_name;
  ctx->ctx_Unicode_Substring = unicode_substring;
#define SET_AS_STRUCT(shape) ctx->ctx_AsStruct_##shape = as_struct_##shape;
  STRUCTS(SET_AS_STRUCT)
  table->ctx_AsStruct_Dict = as_struct_dict;
}
