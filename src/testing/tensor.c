/* tensor.c - functions that take tensors and return them in containers. */
#include "tables.h"

static TVMFFIAny text(const char *short_text) {
  TVMFFIByteArray bytes = ft_text(short_text);
  TVMFFIAny value = ft_none();
  (void)TVMFFIStringFromByteArray(&bytes, &value); /* a short string needs no memory */
  return value;
}

FT_CALL(has_value) {
  *result = ft_bool(args[0].type_index != kTVMFFINone);
  return 0;
}

FT_CALL(make_array) { return ft_core_call(FT_ARRAY, args, n_args, result); }

FT_CALL(make_mixed) {
  TVMFFIAny items[3] = {args[0], args[1], text("hello")};
  return ft_core_call(FT_ARRAY, items, 3, result);
}

FT_CALL(make_nested_array) {
  TVMFFIAny inside[2] = {args[0], ft_int(42)}, items[2];
  if (ft_core_call(FT_ARRAY, inside, 2, &items[0]) != 0) return -1;
  items[1] = args[0];
  int rc = ft_core_call(FT_ARRAY, items, 2, result);
  ft_drop(&items[0]);
  return rc;
}

FT_CALL(make_list) { return ft_core_call(FT_LIST, args, n_args, result); }

FT_CALL(make_map) {
  TVMFFIAny pairs[6] = {text("tensor"), args[0], text("value"), ft_int(42), text("name"), text("test")};
  return ft_core_call(FT_MAP, pairs, 6, result);
}

FT_CALL(make_dict) {
  TVMFFIAny pairs[4] = {text("tensor"), args[0], text("value"), ft_int(42)};
  return ft_core_call(FT_DICT, pairs, 4, result);
}

FT_CALL(make_empty) { return ft_core_call(FT_ARRAY, NULL, 0, result); }

FT_CALL(make_nested_map) {
  TVMFFIAny inside[2] = {text("t"), args[0]};
  TVMFFIAny pairs[6] = {text("array"), ft_none(), text("map"), ft_none(), text("scalar"), ft_int(99)};
  int rc = ft_core_call(FT_ARRAY, args, n_args, &pairs[1]);
  if (rc == 0) rc = ft_core_call(FT_MAP, inside, 2, &pairs[3]);
  if (rc == 0) rc = ft_core_call(FT_MAP, pairs, 6, result);
  ft_drop(&pairs[1]);
  ft_drop(&pairs[3]);
  return rc;
}

static const ft_global globals[] = {
    {"testing.optional_tensor_view_has_value", "(0: Optional<DLTensor*>) -> bool", has_value, NULL, NULL},
    {"testing.make_array_with_tensor", "(0: ffi.Tensor?) -> Array<Any>", make_array, NULL, NULL},
    {"testing.make_array_with_mixed", "(0: ffi.Tensor?, 1: int) -> Array<Any>", make_mixed, NULL, NULL},
    {"testing.make_nested_array_with_tensor", "(0: ffi.Tensor?) -> Array<Any>", make_nested_array, NULL, NULL},
    {"testing.make_list_with_tensor", "(0: ffi.Tensor?, 1: int) -> List<Any>", make_list, NULL, NULL},
    {"testing.make_map_with_tensor", "(0: ffi.Tensor?) -> Map<str, Any>", make_map, NULL, NULL},
    {"testing.make_dict_with_tensor", "(0: ffi.Tensor?) -> Dict<str, Any>", make_dict, NULL, NULL},
    {"testing.make_empty_array_with_tensor_input", "(0: ffi.Tensor?) -> Array<Any>", make_empty, NULL, NULL},
    {"testing.make_nested_map_with_tensor", "(0: ffi.Tensor?, 1: ffi.Tensor?) -> Map<str, Any>", make_nested_map, NULL,
     NULL},
};

int ft_tensor_load(void) { return ft_function_add_globals(globals, FT_COUNT(globals)); }
