/* schema.c - a function for every type of argument and result, most of which return their argument; and functions that
 * are exported symbols. */
#include <stdlib.h>

#include "tables.h"

FT_CALL(nothing) { return 0; }

FT_CALL(one) {
  *result = ft_int(1);
  return 0;
}

FT_CALL(dltensor) {
  return ft_raise("RuntimeError", "DLTensor* cannot be held in Any as it does not retain ownership", (char *)NULL);
}

/* Makes an Array of the items that are not None. */
static int compact(const TVMFFIAny *array, TVMFFIAny *result) {
  const TVMFFISeqCell *cell = ft_value_items(array);
  const TVMFFIAny *items = (const TVMFFIAny *)cell->data;
  TVMFFIAny *kept = (TVMFFIAny *)malloc(sizeof(*kept) * (size_t)(cell->size + 1));
  int32_t n_kept = 0;
  if (kept == NULL) return ft_no_memory("a container");
  for (int64_t i = 0; i < cell->size; ++i) {
    if (items[i].type_index != kTVMFFINone) kept[n_kept++] = items[i];
  }
  int rc = ft_core_call(FT_ARRAY, kept, n_kept, result);
  free(kept);
  return rc;
}

/* Returns the mapping; if there is a name, the integers of the array are stored under it. */
FT_CALL(with_compact) {
  TVMFFIAny dict, set[3];
  if (args[2].type_index == kTVMFFINone) return TVMFFIAnyViewToOwnedAny(&args[1], result);
  const ft_type open_dict = {FT_MAPPING, kTVMFFIDict, 0, "Dict", 4, self->type.args[2].args, 2};
  ft_accepted changed;
  if (ft_accept(&open_dict, &args[1], &changed) != FT_YES) return -1;
  dict = changed.value;
  set[0] = dict;
  set[1] = args[2];
  int rc = compact(&args[0], &set[2]);
  if (rc == 0) {
    rc = ft_core_do(FT_DICT_SET, set, 3);
    ft_drop(&set[2]);
  }
  if (rc == 0) rc = ft_accept(&self->type.args[2], &dict, &changed) == FT_YES ? 0 : -1;
  if (rc == 0) *result = changed.value;
  ft_drop(&dict);
  return rc;
}

#define MORE ",\"bool_attr\":true,\"int_attr\":1,\"str_attr\":\"hello\""
#define ECHO(name, type) {"testing.schema_" name, "(0: " type ") -> " type, ft_function_echo, NULL, NULL}
#define CALLABLE "(0: int, 1: float, 2: ffi.Function?) -> void"

static const ft_global globals[] = {
    {"testing.schema_id_int", "(0: int) -> int", ft_function_echo, NULL, MORE},
    ECHO("id_float", "float"),
    ECHO("id_bool", "bool"),
    ECHO("id_device", "Device"),
    ECHO("id_dtype", "DataType"),
    ECHO("id_string", "str"),
    ECHO("id_bytes", "bytes"),
    ECHO("id_func", "ffi.Function?"),
    ECHO("id_func_typed", CALLABLE),
    ECHO("id_any", "Any"),
    ECHO("id_object", "ffi.Object?"),
    {"testing.schema_id_dltensor", "(0: DLTensor*) -> DLTensor*", dltensor, NULL, NULL},
    ECHO("id_tensor", "ffi.Tensor?"),
    {"testing.schema_tensor_view_input", "(0: DLTensor*) -> void", nothing, NULL, NULL},
    ECHO("id_opt_int", "Optional<int>"),
    ECHO("id_opt_str", "Optional<str>"),
    ECHO("id_opt_obj", "Optional<ffi.Object>"),
    ECHO("id_arr_int", "Array<int>"),
    ECHO("id_arr_str", "Array<str>"),
    ECHO("id_arr_obj", "Array<ffi.Object?>"),
    ECHO("id_arr", "ffi.Array"),
    ECHO("id_list_int", "List<int>"),
    ECHO("id_list_str", "List<str>"),
    ECHO("id_list_obj", "List<ffi.Object?>"),
    ECHO("id_map_str_int", "Map<str, int>"),
    ECHO("id_map_str_str", "Map<str, str>"),
    ECHO("id_map_str_obj", "Map<str, ffi.Object?>"),
    ECHO("id_map", "ffi.Map"),
    ECHO("id_dict_str_int", "Dict<str, int>"),
    ECHO("id_dict_str_str", "Dict<str, str>"),
    ECHO("id_variant_int_str", "Variant<int, str>"),
    {"testing.schema_packed", NULL, nothing, NULL, NULL},
    {"testing.schema_arr_map_opt",
     "(0: Array<Optional<int>>, 1: Map<str, Array<int>>, 2: Optional<str>) -> Map<str, Array<int>>", with_compact, NULL,
     NULL},
    {"testing.schema_variant_mix", "(0: Variant<int, str, Array<int>>) -> Variant<int, str, Array<int>>",
     ft_function_echo, "variant passthrough", NULL},
    {"testing.schema_no_args", "() -> int", one, NULL, NULL},
    {"testing.schema_no_return", "(0: int) -> void", nothing, NULL, NULL},
    {"testing.schema_no_args_no_return", "() -> void", nothing, NULL, NULL},
};

/* ---- Exported symbols ---- */

FT_CALL(add) {
  *result = ft_int((int64_t)((uint64_t)args[0].v_int64 + (uint64_t)args[1].v_int64));
  return 0;
}

/* The types of these functions are parsed when the library is loaded. */
static ft_function exported_id = {"testing_dll_schema_id_int", {0}, ft_function_echo, NULL};
static ft_function exported_add = {"testing_dll_test_add_with_docstring", {0}, add, NULL};

static int metadata_of(const ft_function *function, TVMFFIAny *result) {
  ft_buffer text = {NULL, 0, 0, 0};
  ft_type_add_metadata(&function->type, NULL, &text);
  TVMFFIByteArray bytes = {ft_buffer_text(&text), text.size};
  int rc = text.is_cut ? ft_no_memory("metadata") : TVMFFIStringFromByteArray(&bytes, result);
  ft_buffer_free(&text);
  return rc;
}

#define EXPORT(name)                                                            \
  TVM_FFI_DLL_EXPORT int name(void *, const TVMFFIAny *, int32_t, TVMFFIAny *); \
  int name(FT_UNUSED void *self, FT_UNUSED const TVMFFIAny *args, FT_UNUSED int32_t n_args, TVMFFIAny *result)

EXPORT(__tvm_ffi_testing_dll_schema_id_int) { return ft_function_call(&exported_id, args, n_args, result); }

EXPORT(__tvm_ffi__metadata_testing_dll_schema_id_int) { return metadata_of(&exported_id, result); }

EXPORT(__tvm_ffi_testing_dll_test_add_with_docstring) { return ft_function_call(&exported_add, args, n_args, result); }

EXPORT(__tvm_ffi__metadata_testing_dll_test_add_with_docstring) { return metadata_of(&exported_add, result); }

EXPORT(__tvm_ffi__doc_testing_dll_test_add_with_docstring) {
  static const char text[] =
      "Add two integers and return the sum.\n\nParameters\n----------\na : int\n    First integer\n"
      "b : int\n    Second integer\n\nReturns\n-------\nresult : int\n    Sum of a and b";
  const TVMFFIByteArray bytes = {text, sizeof(text) - 1};
  return TVMFFIStringFromByteArray(&bytes, result);
}

int ft_schema_load(void) {
  if (ft_type_read("(0: int) -> int", &exported_id.type) != 0) return -1;
  if (ft_type_read("(0: int, 1: int) -> int", &exported_add.type) != 0) return -1;
  return ft_function_add_globals(globals, FT_COUNT(globals));
}
