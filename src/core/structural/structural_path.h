/* structural_path.h - the paths to a difference of two values, collected from the inside outwards. For
 * structural_equal.c. */
#ifndef FH_STRUCTURAL_PATH_H_
#define FH_STRUCTURAL_PATH_H_

#include "core/fields/access_path.h"

/* One step on each side. */
typedef struct {
  fh_access_kind kinds[2];
  TVMFFIAny keys[2]; /* owned */
} fh_structural_step;

/* All zero is an empty path. */
typedef struct {
  fh_structural_step *steps; /* the innermost step first */
  size_t n_steps, n_room;
} fh_structural_path;

/* Adds a step; the keys are views. */
int fh_structural_path_add(fh_structural_path *path, fh_access_kind left_kind, const TVMFFIAny *left,
                           fh_access_kind right_kind, const TVMFFIAny *right);
/* Adds a step that is the same on both sides. */
static inline int fh_structural_path_add_same(fh_structural_path *path, fh_access_kind kind, const TVMFFIAny *key) {
  return fh_structural_path_add(path, kind, key, kind, key);
}
/* Drops the steps from number n on. May run foreign code. */
void fh_structural_path_cut(fh_structural_path *path, size_t n);
/* Makes an Array of the two AccessPaths. */
int fh_structural_path_finish(const fh_structural_path *path, TVMFFIAny *out);
void fh_structural_path_free(fh_structural_path *path);

#endif /* FH_STRUCTURAL_PATH_H_ */
