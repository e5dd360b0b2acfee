/* convert.c - conversions to the built-in types: an instance stays unchanged, a container becomes the other type of
 * container.
 *
 * A binding that has to convert a value to a static type calls the type's attribute __ffi_convert__, a Function of one
 * value. Types in the messages are written as in C++. */
#include "builtin.h"

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/tensor/tensor.h"

typedef int (*conversion)(const TVMFFIAny *value, TVMFFIAny *result);

static int call_conversion(conversion convert, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count("__ffi_convert__", n_args, 1) != 0) return -1;
  return convert(&args[0], result);
}

/* The head of a conversion; call_##convert has the signature of a Function's code. */
#define CONVERTING(convert)                                                          \
  static int convert(const TVMFFIAny *value, TVMFFIAny *result);                     \
  FH_CODE(call_##convert) { return call_conversion(convert, args, n_args, result); } \
  static int convert(const TVMFFIAny *value, TVMFFIAny *result)

/* Raises the TypeError for a value that cannot be converted. Always -1. */
static int raise_cast(const TVMFFIAny *value, const char *wanted) {
  return fh_error_raise(FH_TYPE_ERROR, "Cannot cast from `%s` to `%s`", fh_type_name(value->type_index), wanted);
}

/* An instance of the type, or with `is_nullable` None, becomes the result. Anything else is a TypeError. */
static int to_instance(const TVMFFIAny *value, int32_t type_index, bool is_nullable, const char *wanted,
                       TVMFFIAny *result) {
  bool is_none = value->type_index == kTVMFFINone && is_nullable;
  if (!is_none && !(fh_any_is_object(value) && fh_type_is_instance(value->type_index, type_index))) {
    return raise_cast(value, wanted);
  }
  return fh_any_own(value, result);
}

CONVERTING(to_object) { return to_instance(value, kTVMFFIObject, true, "ffi.Object", result); }
CONVERTING(to_error) { return to_instance(value, kTVMFFIError, false, "ffi.Error", result); }
CONVERTING(to_function) { return to_instance(value, kTVMFFIFunction, true, "ffi.Function", result); }
CONVERTING(to_tensor) { return to_instance(value, kTVMFFITensor, true, "ffi.Tensor", result); }
/* The index is looked up at each call, because it is assigned at load time. */
CONVERTING(to_int_enum) {
  return to_instance(value, fh_type_find_key(FH_LITERAL("ffi.IntEnum")), false, "ffi.IntEnum", result);
}
CONVERTING(to_str_enum) {
  return to_instance(value, fh_type_find_key(FH_LITERAL("ffi.StrEnum")), false, "ffi.StrEnum", result);
}

/* Views of strings and bytes become owned values. */
CONVERTING(to_string) {
  TVMFFIByteArray content;
  return fh_str_content(value, &content) ? fh_any_own(value, result) : raise_cast(value, "str");
}
CONVERTING(to_bytes) {
  TVMFFIByteArray content;
  return fh_bytes_content(value, &content) ? fh_any_own(value, result) : raise_cast(value, "bytes");
}

/* A container of the wanted type stays the same object, so all owners see changes to it. A container of the other type
 * is copied, one level deep. */
static int to_sequence(const TVMFFIAny *value, int32_t type_index, const char *wanted, TVMFFIAny *result) {
  if (!fh_seq_is(value)) return raise_cast(value, wanted);
  if (value->type_index == type_index) return fh_any_own(value, result);
  return fh_any_give_object(fh_list_copy((const fh_seq_object *)(const void *)value->v_obj, type_index), result);
}
CONVERTING(to_array) { return to_sequence(value, kTVMFFIArray, "Array<Any>", result); }
CONVERTING(to_list) { return to_sequence(value, kTVMFFIList, "List<Any>", result); }

static int to_mapping(const TVMFFIAny *value, int32_t type_index, const char *wanted, TVMFFIAny *result) {
  if (!fh_hashmap_is(value)) return raise_cast(value, wanted);
  if (value->type_index == type_index) return fh_any_own(value, result);
  return fh_any_give_object(fh_hashmap_copy((const fh_hashmap_object *)(const void *)value->v_obj, type_index), result);
}
CONVERTING(to_map) { return to_mapping(value, kTVMFFIMap, "Map<Any, Any>", result); }
CONVERTING(to_dict) { return to_mapping(value, kTVMFFIDict, "Dict<Any, Any>", result); }

/* From a Shape or a sequence of integers. */
CONVERTING(to_shape) {
  if (value->type_index == kTVMFFIShape) return fh_any_own(value, result);
  TVMFFIAny array;
  if (!fh_seq_is(value)) return raise_cast(value, "ffi.Shape");
  if (to_array(value, &array) != 0) return -1; /* a copy of a List, which another thread may change */
  const fh_seq_object *seq = (const fh_seq_object *)(void *)array.v_obj;
  /* Each number is copied before its type is checked: a wrong type makes the whole conversion fail. */
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)fh_seq_size(seq));
  int rc = shape != NULL ? 0 : -1;
  for (int64_t i = 0; rc == 0 && i < fh_seq_size(seq); ++i) {
    const TVMFFIAny *item = &fh_seq_items(seq)[i];
    shape->dims[i] = item->v_int64;
    if (item->type_index == kTVMFFIBigInt) {
      rc = fh_bigint_raise_argument("ffi.Shape", (int32_t)i, item);
    } else if (item->type_index != kTVMFFIInt && item->type_index != kTVMFFIBool) {
      rc = raise_cast(value, "ffi.Shape");
    }
  }
  fh_any_drop(&array);
  if (rc == 0) return fh_any_give_object(shape, result);
  fh_object_release(shape);
  return -1;
}

/* ---- The table ---- */

void fh_convert_init(void) {
  static const struct {
    int32_t type_index;
    TVMFFISafeCallType call;
  } static_types[] = {
      {kTVMFFIObject, call_to_object}, {kTVMFFIStr, call_to_string},        {kTVMFFIBytes, call_to_bytes},
      {kTVMFFIError, call_to_error},   {kTVMFFIFunction, call_to_function}, {kTVMFFIShape, call_to_shape},
      {kTVMFFITensor, call_to_tensor}, {kTVMFFIArray, call_to_array},       {kTVMFFIMap, call_to_map},
      {kTVMFFIList, call_to_list},     {kTVMFFIDict, call_to_dict},
  };
  for (size_t i = 0; i < FH_COUNT_OF(static_types); ++i) {
    fh_builtin_set_function(static_types[i].type_index, "__ffi_convert__", static_types[i].call);
  }
  /* Types without a static index, which fh_enum_init has registered before. */
  fh_builtin_set_function(fh_type_find_key(FH_LITERAL("ffi.IntEnum")), "__ffi_convert__", call_to_int_enum);
  fh_builtin_set_function(fh_type_find_key(FH_LITERAL("ffi.StrEnum")), "__ffi_convert__", call_to_str_enum);
}
