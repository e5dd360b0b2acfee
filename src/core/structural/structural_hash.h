/* structural_hash.h - the structural hash of a value: equal for values that are structurally equal.
 *
 * The number depends on contents, type keys and the order of definitions only, not on the process, except for values
 * that only have an address: free variables that are not defined inside the value. */
#ifndef FH_STRUCTURAL_HASH_H_
#define FH_STRUCTURAL_HASH_H_

#include "core/object/any.h"

/* map_free_vars: free variables anywhere count as defined at their first occurrence. skip_tensors: tensors are hashed
 * by shape and type only. Errors: TypeError for a type without a kind, ValueError for tensors that cannot be read and
 * for too deep values, and errors of hooks and getters. Runs foreign code. */
int fh_structural_hash(const TVMFFIAny *value, int map_free_vars, int skip_tensors, uint64_t *out);

#endif /* FH_STRUCTURAL_HASH_H_ */
