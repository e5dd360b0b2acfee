/* operations.h - structural equality of two values: by contents, up to the names of the variables they define.
 *
 * A free variable equals only the variable that is defined at the same place; without a definition it equals itself.
 * DAG nodes must be shared alike. The order of a map's keys does not matter. */
#pragma once

#include "core/object/any.h"
#include "mutator.h"
#include "visit_context.h"
#include "visitor.h"

/* *out becomes 1 or 0. Options and errors are as for fh_structural_hash. Runs foreign code. */
int fh_structural_equal(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, int *out);
/* Finds the first difference of two values: *out becomes None if they are equal, or an Array of two AccessPaths to the
 * first difference. Options and errors are as for fh_structural_equal. */
int fh_structural_mismatch(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, TVMFFIAny *out);

/* --- hash -------------------------------------------------------------------------------------------------------- */

/* The structural hash of a value: equal for values that are structurally equal.
 *
 * The number depends on contents, type keys and the order of definitions only, not on the process, except for values
 * that only have an address: free variables that are not defined inside the value. */

/* map_free_vars: free variables anywhere count as defined at their first occurrence. skip_tensors: tensors are hashed
 * by shape and type only. Errors: TypeError for a type without a kind, ValueError for tensors that cannot be read and
 * for too deep values, and errors of hooks and getters. Runs foreign code. */
int fh_structural_hash(const TVMFFIAny *value, int map_free_vars, int skip_tensors, uint64_t *out);

/* --- visits ------------------------------------------------------------------------------------------------------ */

/* Visiting a value with callbacks by type. */

typedef enum {
  /* callback(value[, region]) before the contents of the value; may skip the contents or stop */
  FH_VISIT_WALK_PRE = 0,
  FH_VISIT_WALK_POST = 1, /* callback(value[, region]) after the contents */
  FH_VISIT_OWNED /* callback(value, visitor) instead of the contents, whose parts it may visit */
} fh_visit_order;

/* Visits `root`, which the caller owns; steals the callbacks. The first callback for a value's type is called; a value
 * is visited as often as it occurs; None is not visited. *out becomes None or the owned VisitInterrupt of the callback
 * that stopped the visit. Runs foreign code. */
int fh_structural_visit(const TVMFFIAny *root, fh_structural_callbacks callbacks, fh_visit_order order, TVMFFIAny *out);

/* Visits the parts of a value, with any visitor; a visitor of this library needs no C stack for nesting. Returns a raw
 * result. */
TVMFFIAny fh_structural_visit_default(fh_visitor_object *visitor, TVMFFIAny value);

/* --- mutations --------------------------------------------------------------------------------------------------- */

/* Changed copies of a value, made with callbacks by type. */

typedef enum {
  FH_MUTATE_MAP_PRE = 0,  /* callback(value[, region]) returns the value whose contents are then mapped */
  FH_MUTATE_MAP_POST = 1, /* callback(value[, region]) gets the value after its contents were mapped */
  FH_MUTATE_OWNED         /* callback(value, mutator[, may change in place]) makes the replacement */
} fh_mutate_order;

/* Steals `root` and the callbacks. The first callback for a value's type is called, and returns a replacement or
 * ffi.Unchanged. A container is changed in place if it and all objects on the way to it, from the root on, have one
 * reference; anything else is copied where it changes. Variables and DAG nodes are mapped once; later occurrences get
 * the same replacement. The caller owns *out. Runs foreign code. */
int fh_structural_mutate(TVMFFIAny root, fh_structural_callbacks callbacks, fh_mutate_order order, TVMFFIAny *out);

/* Mutates the parts of a value, in a copy of it, with any mutator. *out is ffi.Unchanged, or owned. */
int fh_structural_mutate_default(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out);

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* ffi.StructuralKey: a value that maps compare by structural equality. */

typedef struct {
  TVMFFIObject header;
  TVMFFIAny key;
  int64_t hash; /* the structural hash of `key` */
} fh_structural_key_object;

/* Makes a key: a new reference, NULL with an error pending. */
fh_structural_key_object *fh_structural_key_new(const TVMFFIAny *key);
/* Whether two keys are equal; compares the hashes first. */
int fh_structural_key_equal(const fh_structural_key_object *a, const fh_structural_key_object *b, int *out);
int32_t fh_structural_key_type(void);

void fh_structural_key_init(void);
