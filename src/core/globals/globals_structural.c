/* globals_structural.c - ffi.* functions that compare and hash values by structure. */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/structural/structural_equal.h"
#include "core/structural/structural_hash.h"
#include "core/structural/structural_key.h"
#include "globals_entry.h"

/* Checks (value, ..., map_free_vars, skip_tensor_content). Returns the n_values values as owned ones, because hooks run
 * while they are read; the caller drops them. On -1 the function has dropped them. */
static int take_values(const char *name, const TVMFFIAny *args, int32_t n_args, int32_t n_values, TVMFFIAny *values,
                       int options[2]) {
  if (fh_function_check_count(name, n_args, n_values + 2) != 0) return -1;
  if (fh_function_arg_bool(name, args, n_values, &options[0]) != 0) return -1;
  if (fh_function_arg_bool(name, args, n_values + 1, &options[1]) != 0) return -1;
  for (int32_t i = 0; i < n_values; ++i) {
    if (fh_any_own(&args[i], &values[i]) == 0) continue;
    while (i-- > 0) fh_any_drop(&values[i]);
    return -1;
  }
  return 0;
}

/* ffi.StructuralEqual(a, b, map_free_vars, skip_tensor_content) -> bool */
FH_GLOBAL(structural_equal) {
  TVMFFIAny values[2];
  int options[2], is_equal;
  if (take_values("ffi.StructuralEqual", args, n_args, 2, values, options) != 0) return -1;
  int rc = fh_structural_equal(&values[0], &values[1], options[0], options[1], &is_equal);
  if (rc == 0) *result = fh_any_bool(is_equal);
  fh_any_drop(&values[0]);
  fh_any_drop(&values[1]);
  return rc;
}

/* ffi.GetFirstStructuralMismatch(a, b, map_free_vars, skip_tensor_content) -> two AccessPaths, or None if they are
 * equal */
FH_GLOBAL(first_mismatch) {
  TVMFFIAny values[2];
  int options[2];
  if (take_values("ffi.GetFirstStructuralMismatch", args, n_args, 2, values, options) != 0) return -1;
  int rc = fh_structural_mismatch(&values[0], &values[1], options[0], options[1], result);
  fh_any_drop(&values[0]);
  fh_any_drop(&values[1]);
  return rc;
}

/* ffi.StructuralHash(value, map_free_vars, skip_tensor_content) -> int, the bits of the unsigned hash */
FH_GLOBAL(structural_hash) {
  TVMFFIAny value;
  int options[2];
  uint64_t hashed;
  if (take_values("ffi.StructuralHash", args, n_args, 1, &value, options) != 0) return -1;
  int rc = fh_structural_hash(&value, options[0], options[1], &hashed);
  if (rc == 0) *result = fh_any_int((int64_t)hashed);
  fh_any_drop(&value);
  return rc;
}

/* ffi.StructuralKey(value) -> StructuralKey, which maps compare by structure */
FH_GLOBAL(new_key) {
  if (fh_function_check_count("ffi.StructuralKey", n_args, 1) != 0) return -1;
  fh_structural_key_object *made = fh_structural_key_new(&args[0]);
  if (made == NULL) return -1;
  *result = fh_any_object(made);
  return 0;
}

/* ffi.StructuralKeyEqual(a, b) -> bool */
FH_GLOBAL(key_equal) {
  const char *name = "ffi.StructuralKeyEqual";
  TVMFFIObject *a, *b;
  int is_equal;
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, fh_structural_key_type(), &a) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, fh_structural_key_type(), &b) != 0) return -1;
  if (fh_structural_key_equal((const fh_structural_key_object *)(const void *)a,
                              (const fh_structural_key_object *)(const void *)b, &is_equal) != 0) {
    return -1;
  }
  *result = fh_any_bool(is_equal);
  return 0;
}

/* Parts of the functions' type schemas, which the reference declares too. */

const fh_globals_entry fh_globals_structural[] = {
    {"ffi.StructuralEqual", structural_equal, "bool(Any, Any, bool, bool)"},
    {"ffi.GetFirstStructuralMismatch", first_mismatch,
     "Optional<Tuple<ffi.reflection.AccessPath, ffi.reflection.AccessPath>>(Any, Any, bool, bool)"},
    {"ffi.StructuralHash", structural_hash, "int(Any, bool, bool)"},
    {"ffi.StructuralKey", new_key, "ffi.StructuralKey(Any)"},
    {"ffi.StructuralKeyEqual", key_equal, "bool(Any, Any)"},
    {NULL, NULL, NULL},
};
