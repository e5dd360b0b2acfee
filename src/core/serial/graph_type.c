/* graph_type.c - types for the writer and the reader of graphs: the form in which their objects are written, calls of
 * their hooks, and lookup of the variants of an enum. */
#include "graph.h"

#include "core/container/hashmap.h"
#include "core/fields/builtin.h"
#include "core/fields/enum.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"

/* ---- Forms ---- */

/* Whether the type has that key or descends from the type with that key; 0 while that type is not registered. */
static bool is_kind_of(const TVMFFITypeInfo *info, TVMFFIByteArray key) {
  return fh_type_is_instance(info->type_index, fh_type_find_key(key));
}

/* Whether a reader can make an object without arguments: an object that cannot be read again is not written either. */
static bool can_be_made(const TVMFFITypeInfo *info) {
  const TVMFFITypeMetadata *metadata = fh_type_metadata(info);
  if (metadata != NULL && metadata->creator != NULL) return true;
  const TVMFFIAny *maker = fh_reflect_attr(fh_reflect_column(FH_ATTR_NEW), info->type_index);
  return maker != NULL && maker->type_index == kTVMFFIFunction;
}

/* The operation of the Python package that writes or reads objects of a type; NULL for a type that needs none. The
 * package defines no hooks for these types, because another library may define them, as TVM does for tensors. */
static const char *operation_of(int32_t type_index, bool writes) {
  switch (type_index) {
  case kTVMFFITensor: return writes ? "write_tensor" : "read_tensor";
  case kTVMFFIOpaquePyObject: return writes ? "write_object" : "read_object";
  case kTVMFFIFunction: return writes ? "write_function" : "read_function";
  default: return NULL;
  }
}

int fh_graph_ask_python(const TVMFFITypeInfo *info, bool writes, const TVMFFIAny *value, TVMFFIAny *out) {
  return fh_global_ask_python(operation_of(info->type_index, writes), value, 1, out);
}

fh_graph_form fh_graph_form_of(const TVMFFITypeInfo *info, fh_reflect_attr_id hooks, const TVMFFIAny **hook) {
  *hook = NULL;
  /* Enums come before hooks: a variant exists once, so a reader must find it and must not make another one. */
  if (is_kind_of(info, FH_LITERAL("ffi.IntEnum"))) return FH_GRAPH_INT_ENUM;
  if (is_kind_of(info, FH_LITERAL("ffi.Enum"))) return FH_GRAPH_STR_ENUM;
  *hook = fh_reflect_attr(fh_reflect_column(hooks), info->type_index);
  if (*hook != NULL) return FH_GRAPH_HOOK;
  if (operation_of(info->type_index, true) != NULL) return FH_GRAPH_PYTHON;
  return can_be_made(info) ? FH_GRAPH_FIELDS : FH_GRAPH_UNABLE;
}

bool fh_graph_is_inline(const TVMFFIFieldInfo *field) {
  switch (field->field_static_type_index) {
  case kTVMFFINone:
  case kTVMFFIBool:
  case kTVMFFIInt:
  case kTVMFFIFloat:
  case kTVMFFIDataType: return true;
  default: return false;
  }
}

/* ---- Hooks ---- */

/* A hook that is registered by its address. */
typedef TVMFFIAny (*native_hook)(TVMFFIAny view);

int fh_graph_call_hook(const TVMFFIAny *hook, const char *name, const TVMFFIAny *arg, TVMFFIAny *out) {
  if (hook->type_index == kTVMFFIFunction) return fh_function_call(hook->v_obj, arg, 1, out);
  if (hook->type_index != kTVMFFIOpaquePtr) {
    *out = fh_any_none();
    return fh_error_raise(FH_TYPE_ERROR, "Expected `%s` to be a function but got `%s`", name,
                          fh_type_name(hook->type_index));
  }
  fh_sync_check_unlocked("a hook of JSON graphs");
  *out = ((native_hook)(uintptr_t)hook->v_ptr)(*arg);
  if (out->type_index != kTVMFFIError) return 0;
  fh_error_put(out->v_obj);
  *out = fh_any_none();
  return -1;
}

/* ---- Enums ---- */

TVMFFIAny fh_graph_enum_int(const TVMFFIObject *obj) {
  TVMFFIAny value;
  fh_field_memory_read(&((const fh_enum_object *)obj)->int_index, kTVMFFIInt, &value);
  return value;
}

TVMFFIAny fh_graph_enum_str(const TVMFFIObject *obj) {
  return fh_builtin_get_any(&((const fh_enum_object *)obj)->str_index);
}

/* The Dict of all variants of a class by integer and by string, owned; NULL for a class without it. */
static fh_hashmap_object *indexes_of(const TVMFFITypeInfo *info) {
  const TVMFFIAny *state = fh_reflect_attr(fh_reflect_column(FH_ATTR_ENUM), info->type_index);
  int32_t state_index = fh_type_find_key(FH_LITERAL("ffi.EnumState"));
  if (state == NULL || !fh_type_is_instance(state->type_index, state_index)) return NULL;
  /* its setter only accepts a Dict */
  return fh_builtin_get_object(&((const fh_enum_state_object *)state->v_obj)->indexes);
}

/* The Dict of all variants by string, for a class that a library of 0.1.11 or 0.1.12 has registered; NULL for other
 * classes. Borrowed. */
static const fh_hashmap_object *entries_of(const TVMFFITypeInfo *info) {
  const TVMFFIAny *entries = fh_reflect_attr(fh_reflect_column(FH_ATTR_ENUM_ENTRIES), info->type_index);
  if (entries == NULL || entries->type_index != kTVMFFIDict) return NULL;
  return (const fh_hashmap_object *)(const void *)entries->v_obj;
}

/* `index` is a string or an Int. */
static int raise_no_instance(const TVMFFITypeInfo *info, const TVMFFIAny *index) {
  TVMFFIByteArray text;
  if (fh_str_content(index, &text)) {
    return fh_error_raise(FH_VALUE_ERROR, "Enum `%.*s` has no instance with index %.*s", FH_BYTES_ARGS(info->type_key),
                          FH_BYTES_ARGS(text));
  }
  return fh_error_raise(FH_VALUE_ERROR, "Enum `%.*s` has no instance with index %lld", FH_BYTES_ARGS(info->type_key),
                        (long long)index->v_int64);
}

int fh_graph_enum_find(const TVMFFITypeInfo *info, const TVMFFIAny *index, TVMFFIAny *out) {
  fh_hashmap_object *indexes = indexes_of(info);
  const fh_hashmap_object *entries = entries_of(info);
  *out = fh_any_none();
  int found = indexes != NULL ? fh_hashmap_get(indexes, index, out) : 0;
  fh_object_release(indexes);
  if (found == 0 && entries != NULL) found = fh_hashmap_get(entries, index, out);
  if (found < 0) return -1;
  /* Clients can change the Dict, so its value is checked. */
  if (found && fh_type_is_instance(out->type_index, info->type_index)) return 0;
  fh_any_drop(out);
  return raise_no_instance(info, index);
}
