/* The core's registries, and the table of classes, as functions of the module. */
#include <stdlib.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/function/function.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/preserve.h"
#include "hpy_module/object/type_tag.h"
#include "parts.h"

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* class_register(), class_offer(): access from Python to the table of classes. */

/* Returns 1 if a type of the binding is in cls.__mro__; 0 if not, or if cls is not a class; -1 with an exception
 * raised. Does not call issubclass(), which a metaclass may override. */
static int derives_from(HPyContext *ctx, HPy cls, const FbRef *type) {
  if (!HPy_TypeCheck(ctx, cls, ctx->h_TypeType)) return 0;
  HPy mro = HPy_GetAttr_s(ctx, cls, "__mro__");
  if (HPy_IsNull(mro)) return -1;
  HPy base = fb_ref_load(ctx, type);
  int found = HPy_Contains(ctx, mro, base);
  HPy_Close(ctx, base);
  HPy_Close(ctx, mro);
  return found;
}

/* Stores args[1] for the type index args[0]. Returns the index, or -1 with an exception raised. */
static int32_t store_args(HPyContext *ctx, const char *name, const HPy *args, size_t nargs, bool replaces) {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "%s() takes 2 arguments, got %zu", name, nargs), -1;
  int32_t index = fb_int32_read(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return -1;
  /* Code that gets a wrapper relies on CObject's struct at its beginning. A call of a Function does not check the type
   * of its handle, so a class of functions must not be the class of another type. */
  int derives = derives_from(ctx, args[1], &fb_own_class_object);
  int is_function = derives > 0 && index != kTVMFFIFunction ? derives_from(ctx, args[1], &fb_own_class_function) : 0;
  if (derives < 0 || is_function < 0) return -1;
  if (derives == 0) return fb_raise(ctx, ctx->h_TypeError, "%s() argument 2 must derive from CObject", name), -1;
  if (is_function != 0) {
    return fb_raise(ctx, ctx->h_TypeError, "a class that derives from Function is for functions only"), -1;
  }
  if (index < 0 || index >= FB_CLASS_TABLE_MAX)
    return fb_raise(ctx, ctx->h_ValueError, "%d is not a type index", (int)index), -1;
  if (fb_class_table_store(ctx, index, args[1], replaces) != 0) return -1;
  fb_preserve_watch(args[1], true);
  return index;
}

FB_METHOD_O(fb_classes_made, "class_made", cls,
            "Watch the end of instances of a class that was made, or has got __del__.") {
  int derives = derives_from(ctx, cls, &fb_own_class_object);
  if (derives < 0) return HPy_NULL;
  if (derives == 0) return fb_raise(ctx, ctx->h_TypeError, "class_made() argument must derive from CObject");
  fb_preserve_watch(cls, false);
  return HPy_Dup(ctx, ctx->h_None);
}

FB_METHOD(fb_classes_register, "class_register", "Native objects of a type become instances of a class from now on.") {
  return store_args(ctx, "class_register", args, nargs, true) >= 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

FB_METHOD(
    fb_classes_offer, "class_offer",
    "Registers a class for a type that has none; None registers nothing. Returns the class of the type, or None.") {
  bool is_offer = nargs != 2 || !HPy_Is(ctx, args[1], ctx->h_None);
  int32_t index = is_offer ? store_args(ctx, "class_offer", args, nargs, false) : fb_int32_read(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const FbRef *cls = fb_class_table_find(index); /* not args[1]: the class that was registered first counts */
  return cls == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_ref_load(ctx, cls);
}

/* --- registries --------------------------------------------------------------------------------------------------- */

/* The core's registries as functions of the module. Each function looks up one entry, copies it into tuples, and keeps
 * no state. ffi_hpy/_core.pyi describes the tuples. */

/* Reads a str argument as bytes that are valid as long as the argument. Returns 0, or -1 with an exception raised. */
static int name_arg(HPyContext *ctx, HPy h, const char *what, TVMFFIByteArray *out) {
  HPy_ssize_t n;
  out->data = fb_text_arg(ctx, h, what, &n);
  if (out->data == NULL) return -1;
  out->size = (size_t)n;
  return 0;
}

FB_METHOD_O(fb_registry_type_index, "type_key_to_index", arg, "Index of a type key, -1 if it is unknown.") {
  TVMFFIByteArray key;
  if (name_arg(ctx, arg, "type key", &key) != 0) return HPy_NULL;
  int32_t index = -1;
  if (TVMFFITypeKeyToIndex(&key, &index) != 0) {
    /* the core's error only says that the key is unknown */
    fb_error_slot_clear();
    index = -1;
  }
  return HPyLong_FromInt32_t(ctx, index);
}

/* --- type_info ---------------------------------------------------------------------------------------------------- */

/* Makes a tuple of `n` handles and steals them. Returns HPy_NULL if one of them is HPy_NULL. */
static HPy tuple_take(HPyContext *ctx, HPy *items, HPy_ssize_t n) {
  bool complete = true;
  for (HPy_ssize_t i = 0; i < n; ++i) complete = complete && !HPy_IsNull(items[i]);
  HPy tuple = complete ? HPyTuple_FromArray(ctx, items, n) : HPy_NULL;
  for (HPy_ssize_t i = 0; i < n; ++i) {
    if (!HPy_IsNull(items[i])) HPy_Close(ctx, items[i]);
  }
  return tuple;
}

/* Makes a str of a string of the core, whose `data` may be NULL if the string is missing. */
static HPy text(HPyContext *ctx, const TVMFFIByteArray *bytes) {
  return bytes->data == NULL ? HPyUnicode_FromString(ctx, "") : fb_text_new(ctx, bytes->data, bytes->size);
}

/* The conversion may run Python code, which must not run with a raised exception. */
static HPy view_unless_raised(HPyContext *ctx, const TVMFFIAny *value) {
  return HPyErr_Occurred(ctx) ? HPy_NULL : fb_result_of_view(ctx, value);
}

/* Describes a field. Returns a new handle, or HPy_NULL with an exception raised. The default comes after the plain
 * values, because its conversion may run Python code. */
static HPy describe(HPyContext *ctx, const TVMFFIFieldInfo *field) {
  HPy items[] = {text(ctx, &field->name),
                 text(ctx, &field->doc),
                 text(ctx, &field->metadata),
                 HPyLong_FromInt64_t(ctx, field->flags),
                 HPyLong_FromInt64_t(ctx, field->size),
                 HPyLong_FromInt64_t(ctx, field->offset),
                 HPyLong_FromInt32_t(ctx, field->field_static_type_index),
                 HPyLong_FromInt64_t(ctx, field->alignment),
                 HPy_NULL};
  items[8] = view_unless_raised(ctx, &field->default_value_or_factory);
  return tuple_take(ctx, items, 9);
}

static HPy field_tuple(HPyContext *ctx, const TVMFFITypeInfo *info, int32_t i) {
  return describe(ctx, &info->fields[i]);
}
/* Describes the i'th method of a type in the form of a field: it has no size, offset, type or alignment. */
static HPy method_tuple(HPyContext *ctx, const TVMFFITypeInfo *info, int32_t i) {
  const TVMFFIMethodInfo *method = &info->methods[i];
  TVMFFIFieldInfo field = {.name = method->name, .doc = method->doc, .metadata = method->metadata};
  field.flags = method->flags;
  field.default_value_or_factory = method->method;
  return describe(ctx, &field);
}

/* Appends an item to a list and steals the item. Returns 0, or -1 with an exception raised. */
static int append_take(HPyContext *ctx, HPy list, HPy item) {
  if (HPy_IsNull(item)) return -1;
  int rc = HPyList_Append(ctx, list, item);
  HPy_Close(ctx, item);
  return rc;
}

/* Makes a list of make(i) for i from 0 to n - 1. Returns HPy_NULL at once if an exception is raised already. */
static HPy list_of(HPyContext *ctx, const TVMFFITypeInfo *info, int32_t n,
                   HPy (*make)(HPyContext *, const TVMFFITypeInfo *, int32_t)) {
  HPy list = HPyErr_Occurred(ctx) ? HPy_NULL : HPyList_New(ctx, 0);
  int rc = HPy_IsNull(list) ? -1 : 0;
  for (int32_t i = 0; rc == 0 && i < n; ++i) rc = append_take(ctx, list, make(ctx, info, i));
  if (rc == 0) return list;
  if (!HPy_IsNull(list)) HPy_Close(ctx, list);
  return HPy_NULL;
}

/* Type indices of the ancestors, from the root. */
static HPy ancestor_tuple(HPyContext *ctx, const TVMFFITypeInfo *info) {
  /* One more than needed, because malloc(0) may return NULL. */
  int64_t *indices = malloc(((size_t)info->type_depth + 1) * sizeof(*indices));
  if (indices == NULL) return HPyErr_NoMemory(ctx);
  for (int32_t i = 0; i < info->type_depth; ++i) indices[i] = info->type_ancestors[i]->type_index;
  HPy tuple = fb_tuple_of_ints(ctx, indices, info->type_depth);
  free(indices);
  return tuple;
}

FB_METHOD_O(fb_registry_type_info, "type_info", arg, "The registered data of a type index.") {
  int32_t index = fb_int32_read(ctx, arg);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(index);
  if (info == NULL) {
    fb_error_slot_clear();
    return fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
  }
  static const TVMFFIByteArray nothing = {"", 0};
  int32_t parent = info->type_depth == 0 ? -1 : info->type_ancestors[info->type_depth - 1]->type_index;
  /* A part that fails becomes HPy_NULL, which makes tuple_take fail. Only parts that may run Python code check for a
   * raised exception. */
  HPy items[] = {text(ctx, &info->type_key),
                 HPyLong_FromInt32_t(ctx, parent),
                 text(ctx, info->metadata == NULL ? &nothing : &info->metadata->doc),
                 HPyLong_FromInt32_t(ctx, info->metadata == NULL ? 0 : info->metadata->total_size),
                 list_of(ctx, info, info->num_fields, field_tuple),
                 list_of(ctx, info, info->num_methods, method_tuple),
                 ancestor_tuple(ctx, info)};
  return tuple_take(ctx, items, 7);
}

FB_METHOD(fb_registry_type_attr, "type_attr", "A type's own value in an attribute column, or None.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "type_attr() takes index, name");
  int32_t index = fb_int32_read(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  TVMFFIByteArray name;
  if (name_arg(ctx, args[1], "type_attr() argument 'name'", &name) != 0) return HPy_NULL;
  const TVMFFIAny *value = fb_type_attr_find(index, &name);
  return value == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_result_of_view(ctx, value);
}

/* --- global functions --------------------------------------------------------------------------------------------- */

FB_METHOD_O(fb_registry_get_global, "global_get", arg, "The global function of a name, or None.") {
  TVMFFIByteArray name;
  if (name_arg(ctx, arg, "name of a global function", &name) != 0) return HPy_NULL;
  TVMFFIObjectHandle handle = NULL;
  if (TVMFFIFunctionGetGlobal(&name, &handle) != 0) return fb_error_raise_pending(ctx, "global_get");
  /* The wrapper gets the name, which messages need. */
  return handle == NULL ? HPy_Dup(ctx, ctx->h_None) : fb_function_wrap(ctx, handle, name.data);
}

FB_METHOD(fb_registry_global_metadata, "global_metadata",
          "The metadata of a global function, if they contain a word, or None.") {
  static FbCoreFunction get = {"ffi.GetGlobalFuncMetadata", NULL};
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "global_metadata() takes name, word");
  TVMFFIByteArray name, word;
  if (name_arg(ctx, args[0], "name of a global function", &name) != 0) return HPy_NULL;
  if (name_arg(ctx, args[1], "word", &word) != 0) return HPy_NULL;
  TVMFFIAny arg = {.type_index = kTVMFFIRawStr}, found;
  arg.v_c_str = name.data;
  if (strlen(name.data) != name.size) return HPy_Dup(ctx, ctx->h_None);
  if (fb_core_function_call(&get, &arg, 1, &found) != 0) { /* another thread has removed the function */
    fb_error_slot_clear();
    return HPy_Dup(ctx, ctx->h_None);
  }
  const TVMFFIByteArray small = TVMFFISmallBytesGetContentByteArray(&found);
  const TVMFFIByteArray *text = found.type_index == kTVMFFIStr ? TVMFFIBytesGetByteArrayPtr(found.v_obj) : &small;
  bool has_word = strstr(text->data, word.data) != NULL; /* both are NUL-terminated */
  if (has_word) return fb_result_make(ctx, &found);
  fb_any_drop(&found);
  return HPy_Dup(ctx, ctx->h_None);
}

FB_METHOD(fb_registry_set_global, "global_set", "Register a global function.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "global_set() takes name, fn, override");
  TVMFFIByteArray name;
  if (name_arg(ctx, args[0], "name of a global function", &name) != 0) return HPy_NULL;
  if (!fb_own_class_check(ctx, args[1], &fb_own_class_function)) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "global_set() argument 'fn' must be a Function, not %s",
                    fb_attr_type_name(ctx, args[1], given, sizeof(given)));
  }
  int override = HPy_IsTrue(ctx, args[2]);
  if (override < 0) return HPy_NULL;
  TVMFFIObject *handle = fb_object_take(ctx, args[1]);
  if (handle == NULL) return fb_object_raise_no_handle(ctx, args[1]);
  /* stores its own reference */
  int rc = TVMFFIFunctionSetGlobal(&name, handle, override);
  if (rc != 0) fb_error_raise_pending(ctx, "global_set");
  fb_drop_object(handle, rc);
  if (rc != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}
