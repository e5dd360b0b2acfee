/* globals_value.c - ffi.* functions that create or print single values. */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/object/sentinel.h"
#include "core/object/str.h"
#include "core/tensor/tensor.h"
#include "core/walk/repr.h"
#include "globals_entry.h"

/* ffi.String(str) -> the string as an owned value */
FH_GLOBAL(new_string) {
  TVMFFIByteArray text;
  if (fh_function_check_count("ffi.String", n_args, 1) != 0) return -1;
  if (fh_function_arg_str("ffi.String", args, 0, &text) != 0) return -1;
  return fh_any_own(&args[0], result);
}

/* ffi.Bytes(bytes or str) -> bytes */
FH_GLOBAL(new_bytes) {
  TVMFFIByteArray content;
  if (fh_function_check_count("ffi.Bytes", n_args, 1) != 0) return -1;
  if (fh_function_arg_bytes("ffi.Bytes", args, 0, &content) != 0) return -1;
  if (fh_bytes_content(&args[0], &content)) return fh_any_own(&args[0], result);
  return fh_bytes_new(content.data, content.size, result); /* a string becomes bytes */
}

/* ffi.Shape(int...) -> Shape. All arguments are checked first. */
FH_GLOBAL(new_shape) {
  for (int32_t i = 0; i < n_args; ++i) {
    if (args[i].type_index == kTVMFFIInt || args[i].type_index == kTVMFFIBool) continue;
    return fh_function_raise_type("ffi.Shape", i, "int", &args[i]);
  }
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)n_args);
  if (shape == NULL) return -1;
  for (int32_t i = 0; i < n_args; ++i) shape->dims[i] = args[i].v_int64;
  *result = fh_any_object(shape);
  return 0;
}

/* Returns a new reference to a sentinel, which is compared by address. */
static int give_sentinel(const char *name, TVMFFIObject *sentinel, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count(name, n_args, 0) != 0) return -1;
  fh_object_retain(sentinel);
  *result = fh_any_object(sentinel);
  return 0;
}

/* ffi.GetInvalidObject() -> MISSING */
FH_GLOBAL(get_missing) { return give_sentinel("ffi.GetInvalidObject", fh_sentinel_missing(), n_args, result); }

/* ffi.GetKwargsObject() -> KWARGS */
FH_GLOBAL(get_kwargs) { return give_sentinel("ffi.GetKwargsObject", fh_sentinel_kwargs(), n_args, result); }

/* ffi.ReprPrint(value) -> str */
FH_GLOBAL(repr_print) {
  if (fh_function_check_count("ffi.ReprPrint", n_args, 1) != 0) return -1;
  return fh_repr_print(&args[0], result);
}

const fh_globals_entry fh_globals_value[] = {
    {"ffi.String", new_string, "ffi.String(ffi.String)"},
    {"ffi.Bytes", new_bytes, "ffi.Bytes(ffi.Bytes)"},
    {"ffi.Shape", new_shape, "ffi.Function"},
    {"ffi.GetInvalidObject", get_missing, "ffi.Object()"},
    {"ffi.GetKwargsObject", get_kwargs, "ffi.Object()"},
    {"ffi.ReprPrint", repr_print, "ffi.String(Any)"},
    {NULL, NULL, NULL},
};
