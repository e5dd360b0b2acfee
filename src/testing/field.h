/* field.h - the types of fields: storage, getter and setter of each.
 *
 * The ABI calls a setter with a pointer and a value, and nothing that identifies the type. So each field type has its
 * own setter and a row in this list. `f32` and `i32` are separate types because their sizes differ from the sizes of
 * `f64` and `i64`. */
#pragma once

#include "accept.h"

#define FT_FIELD_TYPES(X)                                  \
  X(i64, "int")                                            \
  X(i32, "int")                                            \
  X(f64, "float")                                          \
  X(f32, "float")                                          \
  X(bool, "bool")                                          \
  X(device, "Device")                                      \
  X(dtype, "DataType")                                     \
  X(str, "str")                                            \
  X(bytes, "bytes")                                        \
  X(any, "Any")                                            \
  X(object, "ffi.Object?")                                 \
  X(opt_int, "Optional<int>")                              \
  X(opt_str, "Optional<str>")                              \
  X(arr_any, "Array<Any>")                                 \
  X(arr_int, "Array<int>")                                 \
  X(arr_str, "Array<str>")                                 \
  X(map_any, "Map<Any, Any>")                              \
  X(map_str_int, "Map<str, int>")                          \
  X(map_str_arr_int, "Map<str, Array<int>>")               \
  X(variant, "Variant<str, Array<int>, Map<str, int>>")    \
  X(opt_arr_variant, "Optional<Array<Variant<int, str>>>") \
  X(object_base, "testing.TestObjectBase")                 \
  X(opt_object_base, "Optional<testing.TestObjectBase>")   \
  X(int_enum, "testing.TestCxxIntEnum")                    \
  X(str_enum, "testing.TestCxxStrEnum")

#define FT_FIELD_ID(id, text) FT_FIELD_##id,
typedef enum { FT_FIELD_TYPES(FT_FIELD_ID) FT_FIELD_COUNT } ft_field_id;
#undef FT_FIELD_ID

/* The storage of a field's value. */
typedef enum {
  FT_STORE_I64,
  FT_STORE_I32,
  FT_STORE_F64,
  FT_STORE_F32,
  FT_STORE_BOOL,
  FT_STORE_DEVICE,
  FT_STORE_DTYPE,
  FT_STORE_ANY,   /* a TVMFFIAny */
  FT_STORE_OBJECT /* a handle, NULL for None */
} ft_store;

typedef struct {
  ft_type type;
  ft_store store;
  int64_t size; /* bytes */
  TVMFFIFieldGetter getter;
  TVMFFIFieldSetter setter;
} ft_field_type;

/* Parses the types of the table. Called after the registration of the classes that they name. */
int ft_field_load(void);
const ft_field_type *ft_field_type_of(ft_field_id id);

/* Replaces the value at `at` by the accepted value. Steals an owned value; retains a view. */
int ft_field_put(ft_store store, void *at, ft_accepted *accepted);
/* Initialises a field whose initial value is not all bits 0: empty strings and empty containers. */
void ft_field_begin(const ft_field_type *field, void *at);
