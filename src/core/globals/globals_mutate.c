/* globals_mutate.c - ffi.* functions for mutations and mutators: changed copies of values, made by callbacks
 * (structural_mutate.h) or by a mutator of any library (mutator.h). */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/structural/structural.h"
#include "core/structural/structural_mutate.h"
#include "globals_entry.h"

/* ---- Mutations ---- */

/* The common last step of the functions: mutates args[0] with the callbacks, which it steals, even if rc says that
 * making them has failed. */
static int run_mutation(const TVMFFIAny *args, int rc, fh_structural_callbacks callbacks, fh_mutate_order order,
                        TVMFFIAny *result) {
  TVMFFIAny root;
  if (rc != 0 || fh_any_own(&args[0], &root) != 0) {
    fh_structural_callbacks_free(&callbacks);
    return -1;
  }
  return fh_structural_mutate(root, callbacks, order, result);
}

/* ffi.StructuralMap(value, callbacks, callbacks with a region argument, order) -> value. Any order other than pre means
 * post. */
FH_GLOBAL(structural_map) {
  const char *name = "ffi.StructuralMap";
  fh_structural_callbacks callbacks = {NULL, 0};
  int64_t order;
  if (fh_function_check_count(name, n_args, 4) != 0 || fh_function_arg_int(name, args, 3, &order) != 0) return -1;
  int rc = fh_structural_callbacks_add(&callbacks, name, args, 1, 0, 0);
  if (rc == 0) rc = fh_structural_callbacks_add(&callbacks, name, args, 2, 0, 1);
  return run_mutation(args, rc, callbacks, order == FH_MUTATE_MAP_PRE ? FH_MUTATE_MAP_PRE : FH_MUTATE_MAP_POST, result);
}

/* ffi.StructuralMutate(value, callbacks, each with a flag whether it gets the argument "may change in place") ->
 * value */
FH_GLOBAL(structural_mutate) {
  const char *name = "ffi.StructuralMutate";
  fh_structural_callbacks callbacks = {NULL, 0};
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  int rc = fh_structural_callbacks_add(&callbacks, name, args, 1, 1, 0);
  return run_mutation(args, rc, callbacks, FH_MUTATE_OWNED, result);
}

/* ---- Mutators of any library ---- */

/* The mutator in args[0], after a check of the number of arguments. */
static int arg_mutator(const char *name, const TVMFFIAny *args, int32_t n_args, int32_t n_expected,
                       fh_mutator_object **out) {
  TVMFFIObject *obj;
  if (fh_function_check_count(name, n_args, n_expected) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, fh_mutator_type(), &obj) != 0) return -1;
  *out = (fh_mutator_object *)(void *)obj;
  return 0;
}

/* Returns the result of a mutation of `value`: `value` itself if it is unchanged. Steals both. */
static int return_mutated(int rc, TVMFFIAny raw, TVMFFIAny value, TVMFFIAny *result) {
  int is_kept = rc == 0 && raw.type_index == kTVMFFIUnchanged;
  if (rc == 0) *result = is_kept ? value : raw;
  if (!is_kept) fh_any_drop(&value);
  return rc;
}

/* ffi.StructuralMutatorMutate(mutator, value) -> the mutator's result, the value itself if it stays */
FH_GLOBAL(mutator_mutate) {
  fh_mutator_object *mutator;
  TVMFFIAny value;
  if (arg_mutator("ffi.StructuralMutatorMutate", args, n_args, 2, &mutator) != 0) return -1;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  TVMFFIAny raw;
  int rc = fh_mutator_call(mutator, mutator->table->mutate, &value, &raw);
  return return_mutated(rc, raw, value, result);
}

/* ffi.StructuralMutatorDefaultMutate(mutator, value) -> a copy with parts mutated by the mutator, the value itself if
 * all parts stay */
FH_GLOBAL(mutator_default_mutate) {
  fh_mutator_object *mutator;
  TVMFFIAny value, raw;
  if (arg_mutator("ffi.StructuralMutatorDefaultMutate", args, n_args, 2, &mutator) != 0) return -1;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  int rc = fh_structural_mutate_default(mutator, &value, &raw);
  return return_mutated(rc, raw, value, result);
}

/* mutator_default_mutate as a native function; the C++ headers query its address once and call it for each object. It
 * returns a raw result, which may be ffi.Unchanged. */
static TVMFFIAny default_mutate(fh_mutator_object *mutator, TVMFFIAny value) {
  TVMFFIAny raw;
  int rc = fh_structural_mutate_default(mutator, &value, &raw);
  return fh_mutator_make_result(rc, raw);
}

/* ffi_hpy.native_default_mutate() -> the address of default_mutate */
FH_GLOBAL(native_default_mutate) {
  if (fh_function_check_count("ffi_hpy.native_default_mutate", n_args, 0) != 0) return -1;
  *result = fh_any_ptr((void *)(uintptr_t)&default_mutate);
  return 0;
}

/* ffi.StructuralMutatorVarRemapGet(mutator, var) -> its replacement, or None */
FH_GLOBAL(mutator_remap_get) {
  fh_mutator_object *mutator;
  if (arg_mutator("ffi.StructuralMutatorVarRemapGet", args, n_args, 2, &mutator) != 0) return -1;
  return fh_mutator_call(mutator, mutator->table->var_remap_get, &args[1], result);
}

/* ffi.StructuralMutatorVarRemapSet(mutator, var, mapped) */
FH_GLOBAL(mutator_remap_set) {
  fh_mutator_object *mutator;
  if (arg_mutator("ffi.StructuralMutatorVarRemapSet", args, n_args, 3, &mutator) != 0) return -1;
  return fh_mutator_call_remap_set(mutator, &args[1], &args[2], result);
}

/* ffi.StructuralMutatorDefRegionKind(mutator) -> int */
FH_GLOBAL(mutator_region) {
  fh_mutator_object *mutator;
  if (arg_mutator("ffi.StructuralMutatorDefRegionKind", args, n_args, 1, &mutator) != 0) return -1;
  *result = fh_any_int(mutator->region);
  return 0;
}

/* ffi.StructuralMutatorWithDefRegionKind(mutator, region, Function) -> the Function's result within that region */
FH_GLOBAL(mutator_with_region) {
  const char *name = "ffi.StructuralMutatorWithDefRegionKind";
  fh_mutator_object *mutator;
  if (arg_mutator(name, args, n_args, 3, &mutator) != 0) return -1;
  return fh_structural_with_region(name, args, &mutator->region, result);
}

/* ---- The table ---- */

const fh_globals_entry fh_globals_mutate[] = {
    {"ffi.StructuralMap", structural_map,
     "Any(Any, ffi.Array<Tuple<int, ffi.Function>>, ffi.Array<Tuple<int, ffi.Function>>, int)"},
    {"ffi.StructuralMutate", structural_mutate, "Any(Any, ffi.Array<Tuple<int, ffi.Function, bool>>)"},
    {"ffi.StructuralMutatorMutate", mutator_mutate, "Any(ffi.StructuralMutator, Any)"},
    {"ffi.StructuralMutatorDefaultMutate", mutator_default_mutate, "Any(ffi.StructuralMutator, Any)"},
    {"ffi_hpy.native_default_mutate", native_default_mutate, NULL},
    {"ffi.StructuralMutatorVarRemapGet", mutator_remap_get, "Any(ffi.StructuralMutator, Any)"},
    {"ffi.StructuralMutatorVarRemapSet", mutator_remap_set, "None(ffi.StructuralMutator, Any, Any)"},
    {"ffi.StructuralMutatorDefRegionKind", mutator_region, "int(ffi.StructuralMutator)"},
    {"ffi.StructuralMutatorWithDefRegionKind", mutator_with_region, "Any(ffi.StructuralMutator, int, ffi.Function)"},
    {NULL, NULL, NULL},
};
