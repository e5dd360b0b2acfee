/* Native types defined in Python: registration through the C ABI.
 *
 * type_define assigns an index to a key. fields_define follows when the annotations of the class can be resolved. The
 * definition takes a row per field, made by the package (row_of_declared in ffi_hpy/_types/field.py), with the offset
 * that a C++ compiler would assign. All rows are converted into drafts before the first is registered, because a
 * registration cannot be undone. */
#include "record.h"

#include <stdlib.h>

#include "field.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/error/error.h"
#include "hpy_module/schema/convert.h"
#include "hpy_module/schema/schema_type.h"

/* --- reading arguments -------------------------------------------------------------------------------------------- */

/* Copies of strings, in a list, kept until a definition ends: a handle's string may be freed with the handle. */
typedef struct Copy {
  struct Copy *next;
  char text[];
} Copy;

/* Reads item(sequence, i) as a string that lives until copies_end; None is "". Returns 0, or -1 with an exception
 * raised. */
static int text_item(HPyContext *ctx, HPy sequence, HPy_ssize_t i, const char *what, Copy **copies,
                     TVMFFIByteArray *out) {
  HPy item = HPy_GetItem_i(ctx, sequence, i);
  if (HPy_IsNull(item)) return -1;
  HPy_ssize_t n = 0;
  const char *text = fb_context_is_same(ctx, item, ctx->h_None) ? "" : fb_text_arg(ctx, item, what, &n);
  Copy *copy = text == NULL ? NULL : malloc(sizeof(*copy) + (size_t)n + 1);
  if (copy != NULL) {
    memcpy(copy->text, text, (size_t)n + 1);
    *out = (TVMFFIByteArray){copy->text, (size_t)n};
    copy->next = *copies;
    *copies = copy;
  } else if (text != NULL) {
    HPyErr_NoMemory(ctx);
  }
  HPy_Close(ctx, item);
  return copy == NULL ? -1 : 0;
}

static void copies_end(Copy *copies) {
  while (copies != NULL) {
    Copy *next = copies->next;
    free(copies);
    copies = next;
  }
}

/* Reads item(sequence, i) as an int. Returns 0, or -1 with an exception raised. */
static int int_item(HPyContext *ctx, HPy sequence, HPy_ssize_t i, int64_t *out) {
  HPy item = HPy_GetItem_i(ctx, sequence, i);
  if (HPy_IsNull(item)) return -1;
  *out = HPyLong_AsInt64_t(ctx, item);
  HPy_Close(ctx, item);
  return *out == -1 && HPyErr_Occurred(ctx) ? -1 : 0;
}

/* Reads the tree of item(sequence, i), a Schema; trees are never freed. Returns 0, or -1 with an exception raised. */
static int schema_item(HPyContext *ctx, HPy sequence, HPy_ssize_t i, const FbSchema **out) {
  HPy item = HPy_GetItem_i(ctx, sequence, i);
  *out = HPy_IsNull(item) ? NULL : fb_schema_type_get(ctx, item);
  if (!HPy_IsNull(item)) HPy_Close(ctx, item);
  return *out == NULL ? -1 : 0;
}

/* Returns the type of an index; NULL with an exception raised. */
static const TVMFFITypeInfo *type_arg(HPyContext *ctx, HPy h) {
  int32_t index = fb_int32_read(ctx, h);
  if (index == -1 && HPyErr_Occurred(ctx)) return NULL;
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(index);
  if (type == NULL) {
    fb_error_slot_clear();
    fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
  }
  return type;
}

/* --- type_define -------------------------------------------------------------------------------------------------- */

FB_METHOD(fb_define_type, "type_define", "The index of a type key below a parent type.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "type_define() takes key, parent");
  HPy_ssize_t n;
  const char *text = fb_text_arg(ctx, args[0], "type key", &n);
  if (text == NULL) return HPy_NULL;
  const TVMFFITypeInfo *parent = type_arg(ctx, args[1]);
  if (parent == NULL) return HPy_NULL;
  TVMFFIByteArray key = {text, (size_t)n};
  /* Any free index (-1). No indices are reserved for subtypes (0), and subtypes may have other indices (1). */
  int32_t index = TVMFFITypeGetOrAllocIndex(&key, -1, parent->type_depth + 1, 0, 1, parent->type_index);
  if (index < 0) return fb_error_raise_pending(ctx, "type_define");
  /* A key keeps its index and its ancestors, even if its first class no longer exists. */
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(index), *its_parent = NULL;
  if (info->type_depth > 0) its_parent = info->type_ancestors[info->type_depth - 1];
  if (its_parent == parent) return HPyLong_FromInt32_t(ctx, index);
  /* The root has no parent: "none". */
  return fb_raise(ctx, ctx->h_ValueError, "type key '%.*s' is taken: it was registered below %.*s, not below %.*s",
                  (int)n, text, its_parent == NULL ? 4 : (int)its_parent->type_key.size,
                  its_parent == NULL ? "none" : its_parent->type_key.data, (int)parent->type_key.size,
                  parent->type_key.data);
}

/* --- fields_define ------------------------------------------------------------------------------------------------ */

static FbCoreFunction make_setter = {.name = "ffi.MakeFieldSetter"},
                      register_record = {.name = "ffi._PyClassRegisterTypeAttrColumns"};

/* Calls a function of the core with ints; the result is an int or an object. Returns 0, or -1 with an exception
 * raised. */
static int core_call(HPyContext *ctx, FbCoreFunction *function, const int64_t *numbers, int32_t n, TVMFFIAny *result) {
  TVMFFIAny args[3] = {{0}};
  for (int32_t i = 0; i < n; ++i) {
    args[i].type_index = kTVMFFIInt;
    args[i].v_int64 = numbers[i];
  }
  if (fb_core_function_call(function, args, n, result) == 0) return 0;
  fb_error_raise_pending(ctx, function->name);
  return -1;
}

/* Makes getter and setter for native code, for the form of the field's memory. The setter converts by the schema. */
static int make_accessors(HPyContext *ctx, FbField *field) {
  const int64_t parts[3] = {field->static_index, (int64_t)(uintptr_t)field->schema,
                            (int64_t)(uintptr_t)&fb_convert_for_setter};
  TVMFFIAny made;
  field->getter = fb_field_access->getter(field->static_index);
  if (field->getter == NULL) {
    fb_raise(ctx, ctx->h_ValueError, "%s: fields cannot have the static type %d", field->name,
             (int)field->static_index);
    return -1;
  }
  if (core_call(ctx, &make_setter, parts, 3, &made) != 0) return -1;
  field->setter_function = made.v_obj;
  return 0;
}

/* Positions in a row. */
enum { NAME, DOC, METADATA, FLAGS, SIZE, ALIGNMENT, OFFSET, STATIC_INDEX, SCHEMA, INITIAL };

/* A field that is to be registered. */
typedef struct Draft {
  TVMFFIFieldInfo info; /* its default is owned */
  FbField *field;
} Draft;

/* Reads a row. After a failure the draft has the parts made so far, for draft_end. */
static int draft_read(HPyContext *ctx, HPy item, const TVMFFITypeInfo *type, Copy **copies, Draft *out) {
  TVMFFIFieldInfo *info = &out->info;
  int64_t static_index;
  if (text_item(ctx, item, NAME, "name of a field", copies, &info->name) != 0) return -1;
  if (text_item(ctx, item, DOC, "doc of a field", copies, &info->doc) != 0) return -1;
  if (text_item(ctx, item, METADATA, "metadata of a field", copies, &info->metadata) != 0) return -1;
  if (int_item(ctx, item, FLAGS, &info->flags) != 0 || int_item(ctx, item, SIZE, &info->size) != 0) return -1;
  if (int_item(ctx, item, ALIGNMENT, &info->alignment) != 0 || int_item(ctx, item, OFFSET, &info->offset) != 0)
    return -1;
  if (int_item(ctx, item, STATIC_INDEX, &static_index) != 0) return -1;
  FbField *field = fb_field_new(ctx, type, &info->name);
  if (field == NULL) return -1;
  out->field = field;
  field->is_laid_out = true;
  field->offset = info->offset;
  field->static_index = info->field_static_type_index = (int32_t)static_index;
  if (schema_item(ctx, item, SCHEMA, &field->schema) != 0 || make_accessors(ctx, field) != 0) return -1;
  info->getter = field->getter;
  info->setter = field->setter_function;
  if ((info->flags & kTVMFFIFieldFlagBitMaskHasDefault) == 0) return 0;
  /* Stored twice: as a Python object, for our initialisers, and as a native value, for the core's constructors. */
  HPy initial = HPy_GetItem_i(ctx, item, INITIAL);
  if (HPy_IsNull(initial)) return -1;
  fb_ref_store(ctx, &field->initial, initial);
  int rc = fb_argument_convert_owned(ctx, initial, &info->default_value_or_factory, field->name);
  HPy_Close(ctx, initial);
  return rc;
}

/* Frees a draft that was not registered. A registered field lives as long as the process, and so does the draft's
 * reference to the default value: cores differ in whether the registry steals that reference or adds another. */
static void draft_end(HPyContext *ctx, Draft *draft) {
  TVMFFIAny *initial = &draft->info.default_value_or_factory;
  fb_drop_any(initial, FB_DROP_UNKNOWN);
  FbField *field = draft->field;
  if (field == NULL) return;
  fb_ref_clear(ctx, &field->initial);
  fb_drop_object(field->setter_function, FB_DROP_UNKNOWN);
  free(field);
}

/* Registers the size of the type, its constructors and copy functions, which need the fields, and its structural
 * kind. */
static int register_layout(HPyContext *ctx, int32_t index, int64_t n_bytes, int64_t kind) {
  const int64_t parts[2] = {index, n_bytes};
  TVMFFIAny result;
  if (core_call(ctx, &register_record, parts, 2, &result) != 0) return -1;
  if (kind == kTVMFFISEqHashKindUnsupported) return 0;
  TVMFFITypeMetadata metadata = {.total_size = (int32_t)n_bytes, .structural_eq_hash_kind = (TVMFFISEqHashKind)kind};
  if (TVMFFITypeRegisterMetadata(index, &metadata) == 0) return 0;
  fb_error_raise_pending(ctx, "fields_define");
  return -1;
}

/* Registers the drafts; their fields move to the table. The field names are distinct, like the package's rows, so only
 * exhausted memory stops the loop. The remaining drafts are then freed, and the earlier ones stay registered. */
static int register_drafts(HPyContext *ctx, int32_t index, Draft *drafts, FbFieldTable *table) {
  for (int32_t i = 0; i < table->n_fields; ++i) {
    if (TVMFFITypeRegisterField(index, &drafts[i].info) != 0) {
      fb_error_raise_pending(ctx, "fields_define");
      for (; i < table->n_fields; ++i) draft_end(ctx, &drafts[i]);
      return -1;
    }
    table->fields[i] = drafts[i].field;
  }
  fb_field_table_publish(table);
  return 0;
}

/* Reads all rows. After a failure every draft is freed. */
static int read_drafts(HPyContext *ctx, HPy fields, const TVMFFITypeInfo *type, Copy **copies, Draft *drafts,
                       HPy_ssize_t n) {
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy item = HPy_GetItem_i(ctx, fields, i);
    int rc = HPy_IsNull(item) ? -1 : draft_read(ctx, item, type, copies, &drafts[i]);
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
    if (rc == 0) continue;
    for (HPy_ssize_t k = 0; k <= i; ++k) draft_end(ctx, &drafts[k]);
    return -1;
  }
  return 0;
}

FB_METHOD(fb_define_fields, "fields_define", "Register the fields of a type, once.") {
  if (nargs != 4) return fb_raise(ctx, ctx->h_TypeError, "fields_define() takes index, fields, total_size, kind");
  const TVMFFITypeInfo *type = type_arg(ctx, args[0]);
  if (type == NULL) return HPy_NULL;
  int64_t n_bytes = HPyLong_AsInt64_t(ctx, args[2]), kind = HPyLong_AsInt64_t(ctx, args[3]);
  HPy_ssize_t n = HPy_Length(ctx, args[1]);
  if (n < 0 || HPyErr_Occurred(ctx)) return HPy_NULL;
  if (type->num_fields != 0) {
    return fb_raise(ctx, ctx->h_RuntimeError, "type %.*s has its fields already", (int)type->type_key.size,
                    type->type_key.data);
  }
  /* One more than needed, because calloc(0, ...) may return NULL. */
  Draft *drafts = calloc((size_t)n + 1, sizeof(*drafts));
  FbFieldTable *table = calloc(1, sizeof(*table) + (size_t)n * sizeof(table->fields[0]));
  Copy *copies = NULL;
  int rc = -1;
  if (drafts == NULL || table == NULL) {
    HPyErr_NoMemory(ctx);
  } else if (read_drafts(ctx, args[1], type, &copies, drafts, n) == 0) {
    table->type_index = type->type_index;
    table->n_fields = (int32_t)n;
    rc = register_drafts(ctx, type->type_index, drafts, table);
    if (rc == 0) table = NULL; /* published */
    if (rc == 0) rc = register_layout(ctx, type->type_index, n_bytes, kind);
  }
  copies_end(copies);
  free(drafts);
  free(table);
  return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

/* --- methods and attributes --------------------------------------------------------------------------------------- */

/* Registers a value under a name. Returns 0, or -1 with a native error pending. Methods and attributes share the struct
 * of a method: name, value, metadata, flags. */
typedef int (*RegisterValue)(int32_t index, TVMFFIMethodInfo *info);

static int register_method(int32_t index, TVMFFIMethodInfo *info) { return TVMFFITypeRegisterMethod(index, info); }

static int register_attr(int32_t index, TVMFFIMethodInfo *info) {
  /* The type index kTVMFFINone only makes the column, if it does not exist. */
  TVMFFIAny nothing = {0};
  if (TVMFFITypeRegisterAttr(kTVMFFINone, &info->name, &nothing) != 0) return -1;
  return TVMFFITypeRegisterAttr(index, &info->name, &info->method);
}

/* args: index, name, value; for methods also metadata and flags. */
static HPy define_value(HPyContext *ctx, const char *what, const HPy *args, size_t nargs, RegisterValue apply) {
  const TVMFFITypeInfo *type = type_arg(ctx, args[0]);
  if (type == NULL) return HPy_NULL;
  TVMFFIMethodInfo info = {0};
  Copy *copies = NULL;
  /* As a tuple, which text_item can read. */
  HPy texts = HPyTuple_FromArray(ctx, (HPy *)args, (HPy_ssize_t)nargs);
  if (HPy_IsNull(texts)) return texts;
  int rc = text_item(ctx, texts, 1, "name of an attribute", &copies, &info.name);
  if (rc == 0 && nargs > 3) rc = text_item(ctx, texts, 3, "metadata of a method", &copies, &info.metadata);
  if (rc == 0 && nargs > 4) rc = int_item(ctx, texts, 4, &info.flags);
  if (rc == 0) rc = fb_argument_convert_owned(ctx, args[2], &info.method, what);
  if (rc == 0) {
    rc = apply(type->type_index, &info);
    if (rc != 0) fb_error_raise_pending(ctx, what);
    fb_drop_any(&info.method, rc);
  }
  HPy_Close(ctx, texts);
  copies_end(copies);
  return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

FB_METHOD(fb_define_method, "method_define", "Register a method of a type.") {
  if (nargs != 5) return fb_raise(ctx, ctx->h_TypeError, "method_define() takes index, name, fn, metadata, flags");
  return define_value(ctx, "method_define", args, nargs, register_method);
}

FB_METHOD(fb_define_type_attr, "type_attr_define", "Give a type a value in a column.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "type_attr_define() takes index, name, value");
  return define_value(ctx, "type_attr_define", args, nargs, register_attr);
}
