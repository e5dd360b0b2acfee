/* globals_structural.c - ffi.* functions that compare, hash, visit and change values by structure. */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/structural/operations.h"
#include "core/structural/structural.h"
#include "core/structural/visit_context.h"
#include "globals_entry.h"

/* Checks (value, ..., map_free_vars, skip_tensor_content). Returns the n_values values as owned ones, because hooks run
 * while they are read; the caller drops them. On -1 the function has dropped them. */
static int take_values(const char *name, const TVMFFIAny *args, int32_t n_values, TVMFFIAny *values, int options[2]) {
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
FH_GLOBAL(structural_equal, "ffi.StructuralEqual", 4, "bool(Any, Any, bool, bool)") {
  TVMFFIAny values[2];
  int options[2], is_equal;
  if (take_values(name, args, 2, values, options) != 0) return -1;
  int rc = fh_structural_equal(&values[0], &values[1], options[0], options[1], &is_equal);
  if (rc == 0) *result = fh_any_bool(is_equal);
  fh_any_drop(&values[0]);
  fh_any_drop(&values[1]);
  return rc;
}

/* ffi.GetFirstStructuralMismatch(a, b, map_free_vars, skip_tensor_content) -> two AccessPaths, or None if they are
 * equal */
FH_GLOBAL(first_mismatch, "ffi.GetFirstStructuralMismatch", 4,
          "Optional<Tuple<ffi.reflection.AccessPath, ffi.reflection.AccessPath>>(Any, Any, bool, bool)") {
  TVMFFIAny values[2];
  int options[2];
  if (take_values(name, args, 2, values, options) != 0) return -1;
  int rc = fh_structural_mismatch(&values[0], &values[1], options[0], options[1], result);
  fh_any_drop(&values[0]);
  fh_any_drop(&values[1]);
  return rc;
}

/* ffi.StructuralHash(value, map_free_vars, skip_tensor_content) -> int, the bits of the unsigned hash */
FH_GLOBAL(structural_hash, "ffi.StructuralHash", 3, "int(Any, bool, bool)") {
  TVMFFIAny value;
  int options[2];
  uint64_t hashed;
  if (take_values(name, args, 1, &value, options) != 0) return -1;
  int rc = fh_structural_hash(&value, options[0], options[1], &hashed);
  if (rc == 0) *result = fh_any_int((int64_t)hashed);
  fh_any_drop(&value);
  return rc;
}

/* ffi.StructuralKey(value) -> StructuralKey, which maps compare by structure */
FH_GLOBAL(new_key, "ffi.StructuralKey", 1, "ffi.StructuralKey(Any)") {
  return fh_any_give_object(fh_structural_key_new(&args[0]), result);
}

/* ffi.StructuralKeyEqual(a, b) -> bool */
FH_GLOBAL(key_equal, "ffi.StructuralKeyEqual", 2, "bool(Any, Any)") {
  TVMFFIObject *a, *b;
  int is_equal;
  if (fh_function_arg_object(name, args, 0, fh_structural_key_type(), &a) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, fh_structural_key_type(), &b) != 0) return -1;
  if (fh_structural_key_equal((const fh_structural_key_object *)(const void *)a,
                              (const fh_structural_key_object *)(const void *)b, &is_equal) != 0) {
    return -1;
  }
  *result = fh_any_bool(is_equal);
  return 0;
}

const fh_globals_item fh_globals_structural[] = {&structural_equal, &first_mismatch, &structural_hash,
                                                 &new_key,          &key_equal,      NULL};

/* --- visits ------------------------------------------------------------------------------------------------------ */

/* Functions for visits, visitors and the place of errors: visits by callbacks (operations.h) or by a visitor of any
 * library (visitor.h). */

/* ---- Visits ---- */

/* The value and the callbacks in args[0] and in the n_lists next arguments, owned. has_flags: each callback has a flag
 * whether it gets the argument "may change in place". The callbacks of the second list get a region. */
static int take_root(const char *name, const TVMFFIAny *args, int has_flags, int32_t n_lists, TVMFFIAny *root,
                     fh_structural_callbacks *callbacks) {
  *callbacks = (fh_structural_callbacks){NULL, 0};
  int rc = fh_structural_callbacks_add(callbacks, name, args, 1, has_flags, 0);
  if (rc == 0 && n_lists == 2) rc = fh_structural_callbacks_add(callbacks, name, args, 2, has_flags, 1);
  if (rc == 0 && fh_any_own(&args[0], root) == 0) return 0;
  fh_structural_callbacks_free(callbacks);
  return -1;
}

/* Steals the value and the callbacks, as fh_structural_mutate does. */
static int visit(TVMFFIAny root, fh_structural_callbacks callbacks, fh_visit_order order, TVMFFIAny *result) {
  int rc = fh_structural_visit(&root, callbacks, order, result);
  fh_any_drop(&root);
  return rc;
}

/* ffi.StructuralWalk(value, callbacks, callbacks with a region argument, order) -> None or a VisitInterrupt. Any order
 * other than pre means post. */
FH_GLOBAL(structural_walk, "ffi.StructuralWalk", 4,
          "Optional<ffi.VisitInterrupt>(Any, ffi.Array<Tuple<int, ffi.Function>>, ffi.Array<Tuple<int, ffi.Function>>, "
          "int)") {
  fh_structural_callbacks callbacks;
  TVMFFIAny root;
  int64_t order;
  if (fh_function_arg_int(name, args, 3, &order) != 0 || take_root(name, args, 0, 2, &root, &callbacks) != 0) return -1;
  return visit(root, callbacks, order == FH_VISIT_WALK_PRE ? FH_VISIT_WALK_PRE : FH_VISIT_WALK_POST, result);
}

/* ffi.StructuralVisit(value, callbacks) -> None or a VisitInterrupt */
FH_GLOBAL(structural_visit, "ffi.StructuralVisit", 2,
          "Optional<ffi.VisitInterrupt>(Any, ffi.Array<Tuple<int, ffi.Function>>)") {
  fh_structural_callbacks callbacks;
  TVMFFIAny root;
  return take_root(name, args, 0, 1, &root, &callbacks) != 0 ? -1 : visit(root, callbacks, FH_VISIT_OWNED, result);
}

/* ffi.VisitInterrupt(value) -> VisitInterrupt: a callback returns it to stop a visit */
FH_GLOBAL(interrupt, "ffi.VisitInterrupt", 1, "ffi.VisitInterrupt(Any)") {
  return fh_any_give_object(fh_visit_interrupt_new(&args[0]), result);
}

/* ---- Visitors of any library ---- */

/* The head of a function whose first argument is a visitor. */
#define VISITOR(...) FH_GLOBAL_OF(fh_visitor_object, visitor, fh_visitor_type(), __VA_ARGS__)

/* Makes a visitor's raw result the result of a Function. */
static int return_visited(TVMFFIAny raw, TVMFFIAny *result) {
  return fh_visitor_take_result(&raw, "a visitor", result) == FH_VISIT_FAILED ? -1 : 0;
}

/* ffi.StructuralVisitorVisit(visitor, value) -> None or a VisitInterrupt */
VISITOR(visitor_visit, "ffi.StructuralVisitorVisit", 2, "Optional<ffi.VisitInterrupt>(ffi.StructuralVisitor, Any)") {
  return return_visited(fh_visitor_call(visitor, args[1]), result);
}

/* ffi.StructuralVisitorDefaultVisit(visitor, value) -> None or a VisitInterrupt: calls the visitor only for the value's
 * parts */
VISITOR(visitor_default_visit, "ffi.StructuralVisitorDefaultVisit", 2,
        "Optional<ffi.VisitInterrupt>(ffi.StructuralVisitor, Any)") {
  TVMFFIAny value;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  TVMFFIAny raw = fh_structural_visit_default(visitor, value);
  fh_any_drop(&value);
  return return_visited(raw, result);
}

/* ffi_hpy.native_default_visit() -> the address of the function that visitor_default_visit calls: the C++ headers query
 * it once and call it for each object. */
FH_GLOBAL(native_default_visit, "ffi_hpy.native_default_visit", 0, NULL) {
  *result = fh_any_ptr((void *)(uintptr_t)&fh_structural_visit_default);
  return 0;
}

/* ffi.StructuralVisitorDefRegionKind(visitor) -> int */
VISITOR(visitor_region, "ffi.StructuralVisitorDefRegionKind", 1, "int(ffi.StructuralVisitor)") {
  *result = fh_any_int(visitor->region);
  return 0;
}

/* ffi.StructuralVisitorWithDefRegionKind(visitor, region, Function) -> the Function's result within that region */
VISITOR(visitor_with_region, "ffi.StructuralVisitorWithDefRegionKind", 3,
        "Any(ffi.StructuralVisitor, int, ffi.Function)") {
  return fh_structural_with_region(name, args, &visitor->region, result);
}

/* ffi.VisitErrorContext.FindAccessPaths(root, context, allow_prefix) -> Array of AccessPaths (visit_context.h) */
FH_GLOBAL(find_paths, "ffi.VisitErrorContext.FindAccessPaths", 3,
          "ffi.Array<ffi.reflection.AccessPath>(ffi.Object, ffi.VisitErrorContext, bool)") {
  TVMFFIObject *root, *context;
  int allow_prefix;
  if (fh_function_arg_object(name, args, 0, kTVMFFIObject, &root) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, fh_visit_context_type(), &context) != 0) return -1;
  if (fh_function_arg_bool(name, args, 2, &allow_prefix) != 0) return -1;
  TVMFFIAny value = fh_any_object(root);
  return fh_visit_context_find(&value, (const fh_visit_context_object *)(void *)context, allow_prefix != 0, result);
}

const fh_globals_item fh_globals_visit[] = {
    &structural_walk,      &structural_visit, &interrupt,           &visitor_visit, &visitor_default_visit,
    &native_default_visit, &visitor_region,   &visitor_with_region, &find_paths,    NULL};

/* --- mutations --------------------------------------------------------------------------------------------------- */

/* Functions for mutations and mutators: changed copies of values, made by callbacks (operations.h) or by a mutator of
 * any library (mutator.h). */

/* ---- Mutations ---- */

/* ffi.StructuralMap(value, callbacks, callbacks with a region argument, order) -> value. Any order other than pre means
 * post. */
FH_GLOBAL(structural_map, "ffi.StructuralMap", 4,
          "Any(Any, ffi.Array<Tuple<int, ffi.Function>>, ffi.Array<Tuple<int, ffi.Function>>, int)") {
  fh_structural_callbacks callbacks;
  TVMFFIAny root;
  int64_t order;
  if (fh_function_arg_int(name, args, 3, &order) != 0 || take_root(name, args, 0, 2, &root, &callbacks) != 0) return -1;
  fh_mutate_order known = order == FH_MUTATE_MAP_PRE ? FH_MUTATE_MAP_PRE : FH_MUTATE_MAP_POST;
  return fh_structural_mutate(root, callbacks, known, result);
}

/* ffi.StructuralMutate(value, callbacks, each with a flag whether it gets the argument "may change in place") ->
 * value */
FH_GLOBAL(structural_mutate, "ffi.StructuralMutate", 2, "Any(Any, ffi.Array<Tuple<int, ffi.Function, bool>>)") {
  fh_structural_callbacks callbacks;
  TVMFFIAny root;
  if (take_root(name, args, 1, 1, &root, &callbacks) != 0) return -1;
  return fh_structural_mutate(root, callbacks, FH_MUTATE_OWNED, result);
}

/* ---- Mutators of any library ---- */

/* The head of a function whose first argument is a mutator. */
#define MUTATOR(...) FH_GLOBAL_OF(fh_mutator_object, mutator, fh_mutator_type(), __VA_ARGS__)

/* Returns the result of a mutation of `value`: `value` itself if it is unchanged. Steals both. */
static int return_mutated(int rc, TVMFFIAny raw, TVMFFIAny value, TVMFFIAny *result) {
  bool is_kept = rc == 0 && raw.type_index == kTVMFFIUnchanged;
  if (rc == 0) *result = is_kept ? value : raw;
  if (!is_kept) fh_any_drop(&value);
  return rc;
}

/* ffi.StructuralMutatorMutate(mutator, value) -> the mutator's result, the value itself if it stays */
MUTATOR(mutator_mutate, "ffi.StructuralMutatorMutate", 2, "Any(ffi.StructuralMutator, Any)") {
  TVMFFIAny value;
  if (fh_any_own(&args[1], &value) != 0) return -1;
  TVMFFIAny raw;
  int rc = fh_mutator_call(mutator, mutator->table->mutate, &value, &raw);
  return return_mutated(rc, raw, value, result);
}

/* ffi.StructuralMutatorDefaultMutate(mutator, value) -> a copy with parts mutated by the mutator, the value itself if
 * all parts stay */
MUTATOR(mutator_default_mutate, "ffi.StructuralMutatorDefaultMutate", 2, "Any(ffi.StructuralMutator, Any)") {
  TVMFFIAny value, raw;
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
FH_GLOBAL(native_default_mutate, "ffi_hpy.native_default_mutate", 0, NULL) {
  *result = fh_any_ptr((void *)(uintptr_t)&default_mutate);
  return 0;
}

/* ffi.StructuralMutatorVarRemapGet(mutator, var) -> its replacement, or None */
MUTATOR(mutator_remap_get, "ffi.StructuralMutatorVarRemapGet", 2, "Any(ffi.StructuralMutator, Any)") {
  return fh_mutator_call(mutator, mutator->table->var_remap_get, &args[1], result);
}

/* ffi.StructuralMutatorVarRemapSet(mutator, var, mapped) */
MUTATOR(mutator_remap_set, "ffi.StructuralMutatorVarRemapSet", 3, "None(ffi.StructuralMutator, Any, Any)") {
  return fh_mutator_call_remap_set(mutator, &args[1], &args[2], result);
}

/* ffi.StructuralMutatorDefRegionKind(mutator) -> int */
MUTATOR(mutator_region, "ffi.StructuralMutatorDefRegionKind", 1, "int(ffi.StructuralMutator)") {
  *result = fh_any_int(mutator->region);
  return 0;
}

/* ffi.StructuralMutatorWithDefRegionKind(mutator, region, Function) -> the Function's result within that region */
MUTATOR(mutator_with_region, "ffi.StructuralMutatorWithDefRegionKind", 3,
        "Any(ffi.StructuralMutator, int, ffi.Function)") {
  return fh_structural_with_region(name, args, &mutator->region, result);
}

const fh_globals_item fh_globals_mutate[] = {
    &structural_map,    &structural_mutate, &mutator_mutate, &mutator_default_mutate, &native_default_mutate,
    &mutator_remap_get, &mutator_remap_set, &mutator_region, &mutator_with_region,    NULL};
