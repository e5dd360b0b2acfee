/* structural_equal.h - whether two values consist of the same: by contents, up to the names of what they define.
 *
 * A free variable equals another one that is defined at the same place, and then only that one; without a definition it
 * equals itself. DAG nodes must be shared alike. The order of a map's keys does not matter. */
#ifndef FH_STRUCTURAL_EQUAL_H_
#define FH_STRUCTURAL_EQUAL_H_

#include "core/object/any.h"

/* *out becomes 1 or 0. Options and errors are those of fh_structural_hash. Runs foreign code. */
int fh_structural_equal(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, int *out);
/* Where two values differ: *out becomes None if they do not, or an Array of two AccessPaths to the first difference.
 * Options and errors are those of fh_structural_equal. */
int fh_structural_mismatch(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, TVMFFIAny *out);

#endif /* FH_STRUCTURAL_EQUAL_H_ */
