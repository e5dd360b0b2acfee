/* structural_equal.h - whether two values consist of the same: by contents, up to the names of what they define.
 *
 * A free variable equals another one that is defined at the same place, and then only that one; without a definition it
 * equals itself. DAG nodes must be shared alike. The order of a map's keys does not matter. */
#ifndef FH_STRUCTURAL_EQUAL_H_
#define FH_STRUCTURAL_EQUAL_H_

#include "core/object/any.h"

/* The options and errors of fh_structural_hash. *out becomes 1 or 0. Runs foreign code. */
int fh_structural_equal(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, int *out);
/* The same; *out becomes None, or an Array of two AccessPaths to where the values differ first. */
int fh_structural_mismatch(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, TVMFFIAny *out);

#endif /* FH_STRUCTURAL_EQUAL_H_ */
