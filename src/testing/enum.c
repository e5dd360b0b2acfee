/* enum.c - enumerations of native code: one with two singletons, an integer and a string enumeration without
 * singletons, and an object with fields of these two. */
#include "tables.h"

/* The layout of ffi.Enum and of all derived classes. */
typedef struct {
  TVMFFIObject header;
  int64_t int_index;
  TVMFFIAny str_index;
} singleton;

/* The layout of ffi.EnumState. */
typedef struct {
  TVMFFIObject header;
  void *entries; /* List */
  void *indexes; /* Dict */
  void *attrs;   /* Dict of Dicts */
} state;

/* The fields of ffi.Enum. The core defines that class; the classes here declare its fields because their objects have
 * them. */
static const ft_field singleton_fields[] = {
    {"_int_index", FT_FIELD_i64, offsetof(singleton, int_index), 0, NULL, NULL, NULL},
    {"_str_index", FT_FIELD_str, offsetof(singleton, str_index), 0, NULL, NULL, NULL},
};
static const ft_class enum_layout = {
    .key = "ffi.Enum",
    .size = sizeof(singleton),
    FT_FIELDS(singleton_fields),
};

#define USUAL (FT_FINAL | FT_NEW | FT_COPY | FT_CONVERT | FT_UNIQUE)

FT_CLASS(variant, .key = "testing.TestEnumVariant", .parent = &enum_layout, .parent_key = "ffi.Enum",
         .size = sizeof(singleton), .traits = USUAL);
FT_CLASS(int_enum, .key = "testing.TestCxxIntEnum", .parent = &enum_layout, .parent_key = "ffi.IntEnum",
         .size = sizeof(singleton), .traits = USUAL);
FT_CLASS(str_enum, .key = "testing.TestCxxStrEnum", .parent = &enum_layout, .parent_key = "ffi.StrEnum",
         .size = sizeof(singleton), .traits = USUAL);

typedef struct {
  TVMFFIObject header;
  void *priority, *opcode;
} holder;

static const ft_field holder_fields[] = {
    {"priority", FT_FIELD_int_enum, offsetof(holder, priority), FT_WRITABLE, NULL, NULL, NULL},
    {"opcode", FT_FIELD_str_enum, offsetof(holder, opcode), FT_WRITABLE, NULL, NULL, NULL},
};
FT_CLASS(holder, .key = "testing.TestCxxEnumHolder", .size = sizeof(holder), .traits = FT_NEW | FT_COPY | FT_AUTO_INIT,
         FT_FIELDS(holder_fields));

/* ---- The singletons of testing.TestEnumVariant ---- */

static const struct {
  const char *name;
  int64_t code;
} variants[] = {{"Alpha", 10}, {"Beta", 20}};

static const TVMFFIByteArray state_attr = {"__ffi_enum__", sizeof("__ffi_enum__") - 1};

/* A new, empty state. */
static int new_state(TVMFFIAny *out) {
  TVMFFIByteArray key = ft_text("ffi.EnumState"), init = ft_text("__ffi_init__");
  int32_t type_index;
  if (TVMFFITypeKeyToIndex(&key, &type_index) != 0) return -1;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  for (int32_t i = 0; i < info->num_methods; ++i) {
    const TVMFFIMethodInfo *method = &info->methods[i];
    if (method->name.size != init.size || memcmp(method->name.data, init.data, init.size) != 0) continue;
    *out = ft_none();
    return TVMFFIFunctionCall(method->method.v_obj, NULL, 0, out);
  }
  return ft_raise("RuntimeError", "ffi.EnumState has no constructor", (char *)NULL);
}

static int put(void *dict, TVMFFIAny key, TVMFFIAny value) {
  TVMFFIAny args[3] = {ft_object(dict), key, value};
  return ft_core_do(FT_DICT_SET, args, 3);
}

/* Adds singleton i to the state, and its code to the attribute `codes`. */
static int add_variant(const state *to, TVMFFIAny codes, int32_t i) {
  TVMFFIByteArray name = ft_text(variants[i].name);
  TVMFFIObjectHandle made;
  if (ft_object_new(&variant_class, &made) != 0) return -1;
  TVMFFIAny value = ft_object(made), pair[2] = {ft_object(to->entries), value};
  ((singleton *)made)->int_index = i;
  int rc = TVMFFIStringFromByteArray(&name, &((singleton *)made)->str_index);
  if (rc == 0) rc = ft_core_do(FT_LIST_APPEND, pair, 2);
  if (rc == 0) rc = put(to->indexes, ft_int(i), value);
  if (rc == 0) rc = put(to->indexes, ft_raw(variants[i].name), value);
  if (rc == 0) rc = put(codes.v_obj, value, ft_int(variants[i].code));
  ft_drop(&value);
  return rc;
}

static int add_variants(const state *to) {
  TVMFFIAny codes;
  int rc = ft_core_call(FT_DICT, NULL, 0, &codes);
  if (rc == 0) rc = put(to->attrs, ft_raw("code"), codes);
  for (int32_t i = 0; rc == 0 && i < FT_COUNT(variants); ++i) rc = add_variant(to, codes, i);
  ft_drop(&codes);
  return rc;
}

FT_CALL(get_variant) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&state_attr);
  const state *of = (const state *)(const void *)column->data[variant_class.type_index].v_obj;
  TVMFFIAny query[2] = {ft_object(of->indexes), args[0]}, is_there;
  if (ft_core_call(FT_DICT_COUNT, query, 2, &is_there) != 0) return -1;
  if (is_there.v_int64 != 0) return ft_core_call(FT_DICT_GET, query, 2, result);
  TVMFFIByteArray name;
  ft_buffer text = {NULL, 0, 0, 0};
  if (ft_value_bytes(&args[0], &name)) ft_buffer_add(&text, name.data, name.size);
  (void)ft_raise("ValueError", "Enum `", variant_class.key, "` has no instance with index ", ft_buffer_text(&text),
                 (char *)NULL);
  ft_buffer_free(&text);
  return -1;
}

/* ---- The tables ---- */

static const ft_global globals[] = {
    {"testing.enum_variant_get", "(0: str) -> ffi.Enum", get_variant, NULL, NULL},
};

static ft_class *const classes[] = {&variant_class, &int_enum_class, &str_enum_class, &holder_class};
const ft_classes ft_enum_classes = {classes, FT_COUNT(classes)};

int ft_enum_load(void) {
  TVMFFIAny made;
  if (new_state(&made) != 0) return -1;
  int rc = add_variants((const state *)(const void *)made.v_obj);
  if (rc == 0) rc = TVMFFITypeRegisterAttr(variant_class.type_index, &state_attr, &made);
  ft_drop(&made);
  return rc != 0 ? rc : ft_function_add_globals(globals, FT_COUNT(globals));
}
