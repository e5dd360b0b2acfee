/* tensor.c - functions that take tensors and return them in containers. */
#include "tables.h"

static TVMFFIAny text(const char *short_text) {
  TVMFFIByteArray bytes = ft_text(short_text);
  TVMFFIAny value = ft_none();
  (void)TVMFFIStringFromByteArray(&bytes, &value); /* a short string needs no memory */
  return value;
}

static int has_value(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  *result = ft_bool(args[0].type_index != kTVMFFINone);
  return 0;
}

static int make_array(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  return ft_core_call(FT_ARRAY, args, n_args, result);
}

static int make_mixed(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIAny items[3] = {args[0], args[1], text("hello")};
  (void)self, (void)n_args;
  return ft_core_call(FT_ARRAY, items, 3, result);
}

static int make_nested_array(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIAny inside[2] = {args[0], ft_int(42)}, items[2];
  (void)self, (void)n_args;
  if (ft_core_call(FT_ARRAY, inside, 2, &items[0]) != 0) return -1;
  items[1] = args[0];
  int rc = ft_core_call(FT_ARRAY, items, 2, result);
  ft_drop(&items[0]);
  return rc;
}

static int make_list(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  return ft_core_call(FT_LIST, args, n_args, result);
}

static int make_map(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIAny pairs[6] = {text("tensor"), args[0], text("value"), ft_int(42), text("name"), text("test")};
  (void)self, (void)n_args;
  return ft_core_call(FT_MAP, pairs, 6, result);
}

static int make_dict(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIAny pairs[4] = {text("tensor"), args[0], text("value"), ft_int(42)};
  (void)self, (void)n_args;
  return ft_core_call(FT_DICT, pairs, 4, result);
}

static int make_empty(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  return ft_core_call(FT_ARRAY, NULL, 0, result);
}

static int make_nested_map(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIAny inside[2] = {text("t"), args[0]};
  TVMFFIAny pairs[6] = {text("array"), ft_none(), text("map"), ft_none(), text("scalar"), ft_int(99)};
  (void)self;
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
