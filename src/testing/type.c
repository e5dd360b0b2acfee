/* type.c - parses types from strings, and describes them in metadata. */
#include "type.h"

#include <stdlib.h>

#define MAX_ARGS 8

static const struct {
  const char *name;
  ft_kind kind;
  int32_t type_index;
  const char *key; /* in metadata */
} names[] = {
    {"Any", FT_ANY, -1, "Any"},
    {"AnyView", FT_ANY, -1, "Any"},
    {"void", FT_VOID, -1, "None"},
    {"int", FT_INT, kTVMFFIInt, "int"},
    {"bool", FT_BOOL, kTVMFFIBool, "bool"},
    {"float", FT_FLOAT, kTVMFFIFloat, "float"},
    {"str", FT_STR, -1, "ffi.String"},
    {"bytes", FT_BYTES, -1, "ffi.Bytes"},
    {"Device", FT_DEVICE, kTVMFFIDevice, "Device"},
    {"DataType", FT_DTYPE, kTVMFFIDataType, "DataType"},
    {"DLTensor*", FT_DLTENSOR, kTVMFFIDLTensorPtr, "DLTensor*"},
    {"Optional", FT_OPTIONAL, -1, "Optional"},
    {"Variant", FT_VARIANT, -1, "Variant"},
    {"Array", FT_SEQUENCE, kTVMFFIArray, "ffi.Array"},
    {"List", FT_SEQUENCE, kTVMFFIList, "ffi.List"},
    {"Map", FT_MAPPING, kTVMFFIMap, "ffi.Map"},
    {"Dict", FT_MAPPING, kTVMFFIDict, "ffi.Dict"},
};

/* ---- Parsing ---- */

static int read_one(const char **at, ft_type *out);

static int complain(const char *at) {
  return ft_raise("ValueError", "Expected a type but got `", at, "`", (char *)NULL);
}

static bool skip(const char **at, const char *text) {
  size_t size = strlen(text);
  if (strncmp(*at, text, size) != 0) return false;
  *at += size;
  return true;
}

static int keep_args(ft_type *out, const ft_type *args, int32_t n_args) {
  out->args = (ft_type *)malloc(sizeof(*args) * (size_t)n_args);
  if (out->args == NULL) return ft_no_memory("a type");
  memcpy(out->args, args, sizeof(*args) * (size_t)n_args);
  out->n_args = n_args;
  return 0;
}

/* Parses `(0: int, 1: str) -> int`, after its `(`. */
static int read_callable(const char **at, ft_type *out) {
  ft_type args[MAX_ARGS];
  int32_t n_args = 1;
  out->kind = FT_CALLABLE;
  out->type_index = kTVMFFIFunction;
  out->takes_none = 1;
  while (!skip(at, ")")) {
    char *behind;
    if (n_args == MAX_ARGS || (n_args > 1 && !skip(at, ", "))) return complain(*at);
    if (strtol(*at, &behind, 10) != n_args - 1 || behind == *at) return complain(*at);
    *at = behind;
    if (!skip(at, ": ")) return complain(*at);
    if (read_one(at, &args[n_args++]) != 0) return -1;
  }
  if (!skip(at, " -> ")) return complain(*at);
  return read_one(at, &args[0]) != 0 ? -1 : keep_args(out, args, n_args);
}

/* Parses the arguments of `Map<str, int>`, after its `<`. */
static int read_args(const char **at, ft_type *out) {
  ft_type args[MAX_ARGS];
  int32_t n_args = 0;
  do {
    if (n_args == MAX_ARGS) return complain(*at);
    if (read_one(at, &args[n_args++]) != 0) return -1;
  } while (skip(at, ", "));
  return skip(at, ">") ? keep_args(out, args, n_args) : complain(*at);
}

static int find_name(ft_type *out, size_t size) {
  for (int32_t i = 0; i < FT_COUNT(names); ++i) {
    if (strlen(names[i].name) != size || memcmp(out->name, names[i].name, size) != 0) continue;
    out->kind = names[i].kind;
    out->type_index = names[i].type_index;
    return 0;
  }
  TVMFFIByteArray key = {out->name, size};
  out->kind = FT_OBJECT;
  return TVMFFITypeKeyToIndex(&key, &out->type_index);
}

static int read_one(const char **at, ft_type *out) {
  memset(out, 0, sizeof(*out));
  out->name = *at;
  if (skip(at, "(")) {
    if (read_callable(at, out) != 0) return -1;
  } else {
    size_t size = strcspn(*at, "<>,)? ");
    if (size == 0) return complain(*at);
    if (find_name(out, size) != 0) return -1;
    *at += size;
    out->takes_none = skip(at, "?");
    if (skip(at, "<") && read_args(at, out) != 0) return -1;
  }
  out->name_size = (size_t)(*at - out->name);
  return 0;
}

int ft_type_read(const char *text, ft_type *out) {
  const char *at = text;
  if (read_one(&at, out) != 0) return -1;
  return *at == '\0' ? 0 : complain(at);
}

/* ---- Writing ---- */

void ft_type_print(const ft_type *type, ft_buffer *out) {
  for (size_t i = 0; i < type->name_size; ++i) {
    if (type->name[i] != '?') ft_buffer_add(out, type->name + i, 1);
  }
}

static const char *key_of(const ft_type *type) {
  if (type->kind == FT_OBJECT || type->kind == FT_CALLABLE) return TVMFFIGetTypeInfo(type->type_index)->type_key.data;
  for (int32_t i = 0; i < FT_COUNT(names); ++i) {
    if (names[i].kind == type->kind && names[i].type_index == type->type_index) return names[i].key;
  }
  return "Any";
}

static void describe_all(const ft_type *types, int32_t n_types, ft_buffer *out) {
  ft_buffer_put(out, "[");
  for (int32_t i = 0; i < n_types; ++i) {
    if (i > 0) ft_buffer_put(out, ",");
    ft_type_describe(&types[i], out);
  }
  ft_buffer_put(out, "]");
}

void ft_type_describe(const ft_type *type, ft_buffer *out) {
  ft_buffer_put(out, "{\"type\":\"");
  ft_buffer_put(out, key_of(type));
  ft_buffer_put(out, "\"");
  if (type->kind == FT_CALLABLE) {
    ft_buffer_put(out, ",\"named_args\":{\"return\":");
    describe_all(type->args, 1, out);
    ft_buffer_put(out, ",\"params\":");
    describe_all(type->args + 1, type->n_args - 1, out);
    ft_buffer_put(out, "}");
  } else if (type->n_args > 0) {
    ft_buffer_put(out, ",\"args\":");
    describe_all(type->args, type->n_args, out);
  }
  ft_buffer_put(out, "}");
}

void ft_type_add_metadata(const ft_type *type, const char *more, ft_buffer *out) {
  ft_buffer schema = {NULL, 0, 0, 0};
  ft_type_describe(type, &schema);
  ft_buffer_put(out, "{\"type_schema\":\"");
  ft_buffer_add_escaped(out, ft_buffer_text(&schema), schema.size);
  ft_buffer_put(out, "\"");
  if (more != NULL) ft_buffer_put(out, more);
  ft_buffer_put(out, "}");
  out->is_cut |= schema.is_cut;
  ft_buffer_free(&schema);
}

int32_t ft_type_static_index(const ft_type *type) {
  switch (type->kind) {
  case FT_OBJECT:
  case FT_MAPPING: return kTVMFFIObject;
  case FT_OPTIONAL: return type->args[0].kind == FT_OBJECT ? kTVMFFIObject : kTVMFFIAny;
  default: return type->type_index;
  }
}
