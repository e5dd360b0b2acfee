/* enum.c - the enum types, as tables for builtin.c.
 *
 * An enum class is a type below ffi.Enum, ffi.IntEnum or ffi.StrEnum, and its members are singletons of that type. The
 * type's attribute __ffi_enum__ is an EnumState, which has all of them. Bindings and the C++ headers add members to it
 * when these are defined, and find members in it by integer, by name, or in order. */
#include "enum.h"

#include "builtin.h"
#include "core/container/hashmap.h"
#include "core/container/stripe.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/str.h"

FH_STATIC_ASSERT(sizeof(fh_enum_object) == 48 && offsetof(fh_enum_object, str_index) == 32, "ABI");
FH_STATIC_ASSERT(sizeof(fh_enum_state_object) == 48, "ABI");

/* ---- Setters of the state. C++ clients read these containers without checking types, so the setters check ---- */

/* The required form of a pair of each of the two Dicts. */
static bool is_index(const fh_hashmap_pair *pair) { return fh_any_is_object(&pair->value); }

static bool is_column(const fh_hashmap_pair *pair) {
  TVMFFIByteArray name;
  return fh_str_content(&pair->key, &name) && pair->value.type_index == kTVMFFIDict;
}

/* Whether each pair of a map has the required form. Under the map's lock. */
static bool all_pairs(const fh_hashmap_object *map, bool (*is_right)(const fh_hashmap_pair *pair)) {
  const fh_hashmap_pair *pair;
  uint64_t at = fh_hashmap_begin(map);
  for (; (pair = fh_hashmap_at(map, at)) != NULL && is_right(pair);) at = fh_hashmap_next(map, at);
  return pair == NULL;
}

/* Stores a Dict whose pairs all have the required form, or copies such a Map to a new Dict. The pairs are checked only
 * now: later additions to the Dict are not checked. */
static int set_dict(void *field, const TVMFFIAny *value, bool (*is_right)(const fh_hashmap_pair *pair),
                    const char *expected) {
  const fh_hashmap_object *map = (const fh_hashmap_object *)(const void *)value->v_obj;
  if (!fh_hashmap_is(value)) return fh_builtin_raise_convert(value, expected);
  fh_stripe_lock(map);
  bool is_good = all_pairs(map, is_right);
  fh_stripe_unlock(map);
  if (!is_good) return fh_builtin_raise_convert(value, expected);
  if (value->type_index == kTVMFFIMap) return fh_builtin_put(field, fh_hashmap_copy(map, kTVMFFIDict));
  fh_object_retain(value->v_obj);
  return fh_builtin_put(field, value->v_obj);
}

static int set_indexes(void *field, const TVMFFIAny *value) {
  return set_dict(field, value, is_index, "Dict<Any, ffi.Object>");
}
static int set_attrs(void *field, const TVMFFIAny *value) {
  return set_dict(field, value, is_column, "Dict<str, Dict<ffi.Object, Any>>");
}

/* ---- ffi.Enum and its two children ---- */

/* IntEnum and StrEnum have no additional data. The field `value` is another name of the parent's integer or string, and
 * takes no part in constructors and in structural comparison. */
#define INT_DOC "The integer that stands for the singleton."
#define STR_DOC "The name of the singleton."
#define VALUE_FLAGS (kTVMFFIFieldFlagBitMaskSEqHashIgnore | kTVMFFIFieldFlagBitMaskInitOff)

static const fh_builtin_type enum_type, int_enum_type, str_enum_type, state_type;

static int create_enum(TVMFFIObjectHandle *out) { return fh_builtin_create(&enum_type, out); }
static int create_int_enum(TVMFFIObjectHandle *out) { return fh_builtin_create(&int_enum_type, out); }
static int create_str_enum(TVMFFIObjectHandle *out) { return fh_builtin_create(&str_enum_type, out); }
/* For all three types: the children own the same members as the parent. */
static void end_enum(void *self) { fh_builtin_end(&enum_type, self); }
static void delete_enum(void *self, int flags) { fh_object_delete_owner(&enum_type.owner, self, flags, 1); }

static const fh_builtin_field enum_fields[] = {
    {.name = "_int_index",
     .doc = INT_DOC,
     .metadata = FH_SCHEMA(FH_SCHEMA_INT),
     .kind = FH_BUILTIN_INT,
     .offset = offsetof(fh_enum_object, int_index),
     .flags = kTVMFFIFieldFlagBitMaskSEqHashIgnore},
    {.name = "_str_index",
     .doc = STR_DOC,
     .metadata = FH_SCHEMA(FH_SCHEMA_STR),
     .kind = FH_BUILTIN_STR,
     .offset = offsetof(fh_enum_object, str_index)},
    {.name = NULL},
};

static const fh_builtin_field int_enum_fields[] = {
    {.name = "value",
     .doc = INT_DOC,
     .metadata = FH_SCHEMA(FH_SCHEMA_INT),
     .kind = FH_BUILTIN_INT,
     .offset = offsetof(fh_enum_object, int_index),
     .flags = VALUE_FLAGS,
     .is_alias = 1},
    {.name = NULL},
};

static const fh_builtin_field str_enum_fields[] = {
    {.name = "value",
     .doc = STR_DOC,
     .metadata = FH_SCHEMA(FH_SCHEMA_STR),
     .kind = FH_BUILTIN_STR,
     .offset = offsetof(fh_enum_object, str_index),
     .flags = VALUE_FLAGS,
     .is_alias = 1},
    {.name = NULL},
};

/* Members are singletons, so structural comparison uses identity. */
static const fh_builtin_type enum_type = {
    .key = "ffi.Enum",
    .total_bytes = sizeof(fh_enum_object),
    .kind = kTVMFFISEqHashKindUniqueInstance,
    .fields = enum_fields,
    .creator = create_enum,
    .owner = {delete_enum, end_enum},
};
static const fh_builtin_type int_enum_type = {
    .key = "ffi.IntEnum",
    .parent = &enum_type,
    .total_bytes = sizeof(fh_enum_object),
    .kind = kTVMFFISEqHashKindUniqueInstance,
    .fields = int_enum_fields,
    .creator = create_int_enum,
    .owner = {delete_enum, end_enum},
};
static const fh_builtin_type str_enum_type = {
    .key = "ffi.StrEnum",
    .parent = &enum_type,
    .total_bytes = sizeof(fh_enum_object),
    .kind = kTVMFFISEqHashKindUniqueInstance,
    .fields = str_enum_fields,
    .creator = create_str_enum,
    .owner = {delete_enum, end_enum},
};

/* ---- ffi.EnumState ---- */

/* The state begins empty and its fields are not parameters, so a constructor without arguments is sufficient. */
FH_CODE(init_state) { return fh_builtin_construct(&state_type, n_args, result); }

#define COLUMN_SCHEMA FH_SCHEMA_GENERIC("ffi.Dict", FH_SCHEMA_OBJECT "," FH_SCHEMA_ANY)

/* C++ clients read the fields inline, as List and Dict references that are never NULL; fh_builtin_new makes empty
 * containers. */
static const fh_builtin_field state_fields[] = {
    {.name = "entries",
     .doc = "The singletons in the order of their definition.",
     .metadata = FH_SCHEMA(FH_SCHEMA_GENERIC("ffi.List", FH_SCHEMA_OBJECT)),
     .kind = FH_BUILTIN_LIST,
     .offset = offsetof(fh_enum_state_object, entries),
     .flags = kTVMFFIFieldFlagBitMaskInitOff,
     .setter = fh_builtin_set_object_list},
    {.name = "indexes",
     .doc = "From the integer and from the name of a singleton to it.",
     .metadata = FH_SCHEMA(FH_SCHEMA_GENERIC("ffi.Dict", FH_SCHEMA_ANY "," FH_SCHEMA_OBJECT)),
     .kind = FH_BUILTIN_DICT,
     .offset = offsetof(fh_enum_state_object, indexes),
     .flags = kTVMFFIFieldFlagBitMaskInitOff,
     .setter = set_indexes},
    {.name = "attrs",
     .doc = "From the name of an attribute to its values by singleton.",
     .metadata = FH_SCHEMA(FH_SCHEMA_GENERIC("ffi.Dict", FH_SCHEMA_STR "," COLUMN_SCHEMA)),
     .kind = FH_BUILTIN_DICT,
     .offset = offsetof(fh_enum_state_object, attrs),
     .flags = kTVMFFIFieldFlagBitMaskInitOff,
     .setter = set_attrs},
    {.name = NULL},
};

static const fh_builtin_method state_methods[] = {
    {.name = "__ffi_init__",
     .metadata = FH_SCHEMA(FH_SCHEMA_FUNCTION(FH_SCHEMA_OBJECT, "")),
     .flags = kTVMFFIFieldFlagBitMaskIsStaticMethod,
     .call = init_state},
    {.name = NULL},
};

FH_BUILTIN_TYPE(state, .key = "ffi.EnumState", .is_final = 1, .total_bytes = sizeof(fh_enum_state_object),
                .fields = state_fields, .methods = state_methods);

void fh_enum_init(void) {
  /* Parents first. A failure leaves an error pending and a type missing, like all failures of the load-time
   * constructor. */
  fh_builtin_register(&enum_type);
  fh_builtin_register(&int_enum_type);
  fh_builtin_register(&str_enum_type);
  int32_t state_index = fh_builtin_register(&state_type);
  /* Bindings construct objects by this attribute. */
  fh_builtin_set_function(state_index, "__ffi_init__", init_state);
}
