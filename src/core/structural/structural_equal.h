/* structural_equal.h - structural equality of two values: by contents, up to the names of the variables they define.
 *
 * A free variable equals only the variable that is defined at the same place; without a definition it equals itself.
 * DAG nodes must be shared alike. The order of a map's keys does not matter. */
#ifndef FH_STRUCTURAL_EQUAL_H_
#define FH_STRUCTURAL_EQUAL_H_

#include "core/object/any.h"

/* *out becomes 1 or 0. Options and errors are those of fh_structural_hash. Runs foreign code. */
int fh_structural_equal(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, int *out);
/* Finds the first difference of two values: *out becomes None if they are equal, or an Array of two AccessPaths to the
 * first difference. Options and errors are those of fh_structural_equal. */
int fh_structural_mismatch(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, TVMFFIAny *out);

#endif /* FH_STRUCTURAL_EQUAL_H_ */
