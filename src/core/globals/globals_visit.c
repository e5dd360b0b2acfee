/* globals_visit.c - ffi.* functions for visits, visitors and the place of errors: visits by callbacks
 * (structural_visit.h) or by a visitor of any library (visitor.h). */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/structural/structural.h"
#include "core/structural/structural_visit.h"
#include "core/structural/visit_context.h"
#include "globals_entry.h"

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
  return fh_visit_context_find(&value, (const fh_visit_context_object *)(void *)context, allow_prefix, result);
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
