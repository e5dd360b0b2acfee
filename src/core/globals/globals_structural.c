/* globals_structural.c - ffi.* functions that compare, hash, visit and change values by structure. */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/structural/operations.h"
#include "core/structural/structural.h"
#include "core/structural/visit_context.h"
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

/* --- visits ------------------------------------------------------------------------------------------------------ */

/* Functions for visits, visitors and the place of errors: visits by callbacks (operations.h) or by a visitor of any
 * library (visitor.h). */

/* ---- Visits ---- */

/* The common last step of the functions: visits args[0] with the callbacks, which it steals, even if rc says that
 * making them has failed. */
static int run_visit(const TVMFFIAny *args, int rc, fh_structural_callbacks callbacks, fh_visit_order order,
                     TVMFFIAny *result) {
  TVMFFIAny root;
  if (rc != 0 || fh_any_own(&args[0], &root) != 0) {
    fh_structural_callbacks_free(&callbacks);
    return -1;
  }
  rc = fh_structural_visit(&root, callbacks, order, result);
  fh_any_drop(&root);
  return rc;
}

/* ffi.StructuralWalk(value, callbacks, callbacks with a region argument, order) -> None or a VisitInterrupt. Any order
 * other than pre means post. */
FH_GLOBAL(structural_walk) {
  const char *name = "ffi.StructuralWalk";
  fh_structural_callbacks callbacks = {NULL, 0};
  int64_t order;
  if (fh_function_check_count(name, n_args, 4) != 0 || fh_function_arg_int(name, args, 3, &order) != 0) return -1;
  int rc = fh_structural_callbacks_add(&callbacks, name, args, 1, 0, 0);
  if (rc == 0) rc = fh_structural_callbacks_add(&callbacks, name, args, 2, 0, 1);
  return run_visit(args, rc, callbacks, order == FH_VISIT_WALK_PRE ? FH_VISIT_WALK_PRE : FH_VISIT_WALK_POST, result);
}

/* ffi.StructuralVisit(value, callbacks) -> None or a VisitInterrupt */
FH_GLOBAL(structural_visit) {
  const char *name = "ffi.StructuralVisit";
  fh_structural_callbacks callbacks = {NULL, 0};
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  int rc = fh_structural_callbacks_add(&callbacks, name, args, 1, 0, 0);
  return run_visit(args, rc, callbacks, FH_VISIT_OWNED, result);
}

/* ffi.VisitInterrupt(value) -> VisitInterrupt: a callback returns it to stop a visit */
FH_GLOBAL(interrupt) {
  if (fh_function_check_count("ffi.VisitInterrupt", n_args, 1) != 0) return -1;
  fh_visit_interrupt_object *made = fh_visit_interrupt_new(&args[0]);
  if (made == NULL) return -1;
  *result = fh_any_object(made);
  return 0;
}

/* ---- Visitors of any library ---- */

/* The visitor in args[0], after a check of the number of arguments. */
static int arg_visitor(const char *name, const TVMFFIAny *args, int32_t n_args, int32_t n_expected,
                       fh_visitor_object **out) {
  TVMFFIObject *obj;
  if (fh_function_check_count(name, n_args, n_expected) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, fh_visitor_type(), &obj) != 0) return -1;
  *out = (fh_visitor_object *)(void *)obj;
  return 0;
}

/* Makes a visitor's raw result the result of a Function. */
static int return_visited(TVMFFIAny raw, TVMFFIAny *result) {
  return fh_visitor_take_result(&raw, "a visitor", result) == FH_VISIT_FAILED ? -1 : 0;
}

/* ffi.StructuralVisitorVisit(visitor, value) -> None or a VisitInterrupt */
FH_GLOBAL(visitor_visit) {
  fh_visitor_object *visitor;
  if (arg_visitor("ffi.StructuralVisitorVisit", args, n_args, 2, &visitor) != 0) return -1;
  return return_visited(fh_visitor_call(visitor, args[1]), result);
}

/* ffi.StructuralVisitorDefaultVisit(visitor, value) -> None or a VisitInterrupt: calls the visitor only for the value's
 * parts */
FH_GLOBAL(visitor_default_visit) {
  fh_visitor_object *visitor;
  TVMFFIAny value;
  if (arg_visitor("ffi.StructuralVisitorDefaultVisit", args, n_args, 2, &visitor) != 0) return -1;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  TVMFFIAny raw = fh_structural_visit_default(visitor, value);
  fh_any_drop(&value);
  return return_visited(raw, result);
}

/* ffi_hpy.native_default_visit() -> the address of the function that visitor_default_visit calls: the C++ headers query
 * it once and call it for each object. */
FH_GLOBAL(native_default_visit) {
  if (fh_function_check_count("ffi_hpy.native_default_visit", n_args, 0) != 0) return -1;
  *result = fh_any_ptr((void *)(uintptr_t)&fh_structural_visit_default);
  return 0;
}

/* ffi.StructuralVisitorDefRegionKind(visitor) -> int */
FH_GLOBAL(visitor_region) {
  fh_visitor_object *visitor;
  if (arg_visitor("ffi.StructuralVisitorDefRegionKind", args, n_args, 1, &visitor) != 0) return -1;
  *result = fh_any_int(visitor->region);
  return 0;
}

/* ffi.StructuralVisitorWithDefRegionKind(visitor, region, Function) -> the Function's result within that region */
FH_GLOBAL(visitor_with_region) {
  const char *name = "ffi.StructuralVisitorWithDefRegionKind";
  fh_visitor_object *visitor;
  if (arg_visitor(name, args, n_args, 3, &visitor) != 0) return -1;
  return fh_structural_with_region(name, args, &visitor->region, result);
}

/* ffi.VisitErrorContext.FindAccessPaths(root, context, allow_prefix) -> Array of AccessPaths (visit_context.h) */
FH_GLOBAL(find_paths) {
  const char *name = "ffi.VisitErrorContext.FindAccessPaths";
  TVMFFIObject *root, *context;
  int allow_prefix;
  if (fh_function_check_count(name, n_args, 3) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, kTVMFFIObject, &root) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, fh_visit_context_type(), &context) != 0) return -1;
  if (fh_function_arg_bool(name, args, 2, &allow_prefix) != 0) return -1;
  TVMFFIAny value = fh_any_object(root);
  return fh_visit_context_find(&value, (const fh_visit_context_object *)(void *)context, allow_prefix != 0, result);
}

/* ---- The table ---- */

const fh_globals_entry fh_globals_visit[] = {
    {"ffi.StructuralWalk", structural_walk,
     "Optional<ffi.VisitInterrupt>(Any, ffi.Array<Tuple<int, ffi.Function>>, ffi.Array<Tuple<int, ffi.Function>>, "
     "int)"},
    {"ffi.StructuralVisit", structural_visit, "Optional<ffi.VisitInterrupt>(Any, ffi.Array<Tuple<int, ffi.Function>>)"},
    {"ffi.VisitInterrupt", interrupt, "ffi.VisitInterrupt(Any)"},
    {"ffi.StructuralVisitorVisit", visitor_visit, "Optional<ffi.VisitInterrupt>(ffi.StructuralVisitor, Any)"},
    {"ffi.StructuralVisitorDefaultVisit", visitor_default_visit,
     "Optional<ffi.VisitInterrupt>(ffi.StructuralVisitor, Any)"},
    {"ffi_hpy.native_default_visit", native_default_visit, NULL},
    {"ffi.StructuralVisitorDefRegionKind", visitor_region, "int(ffi.StructuralVisitor)"},
    {"ffi.StructuralVisitorWithDefRegionKind", visitor_with_region, "Any(ffi.StructuralVisitor, int, ffi.Function)"},
    {"ffi.VisitErrorContext.FindAccessPaths", find_paths,
     "ffi.Array<ffi.reflection.AccessPath>(ffi.Object, ffi.VisitErrorContext, bool)"},
    {NULL, NULL, NULL},
};

/* --- mutations --------------------------------------------------------------------------------------------------- */

/* Functions for mutations and mutators: changed copies of values, made by callbacks (operations.h) or by a mutator of
 * any library (mutator.h). */

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
  bool is_kept = rc == 0 && raw.type_index == kTVMFFIUnchanged;
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

/* mutator_default_mutate as a native function; the C++ headers query its address once and call it for each object. The
 * function returns a raw result, which may be ffi.Unchanged. */
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
