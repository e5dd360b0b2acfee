/* structural_path.c - collects the path to the place where two values differ.
 *
 * The comparison leaves one frame after the other, so steps come from the inside outwards. An AccessPath grows from the
 * root, so the path is kept as an array until it is complete and is then read backwards. */
#include "structural_path.h"

#include "core/container/seq.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/platform/mem.h"

int fh_structural_path_add(fh_structural_path *path, fh_access_kind left_kind, const TVMFFIAny *left,
                           fh_access_kind right_kind, const TVMFFIAny *right) {
  if (path->n_steps == path->n_room) {
    size_t n_room = path->n_room * 2 + 8;
    fh_structural_step *steps = (fh_structural_step *)fh_mem_realloc(path->steps, n_room * sizeof(*steps));
    if (steps == NULL) return fh_error_raise_no_memory();
    path->steps = steps;
    path->n_room = n_room;
  }
  fh_structural_step *step = &path->steps[path->n_steps];
  step->kinds[0] = left_kind;
  step->kinds[1] = right_kind;
  if (fh_any_own(left, &step->keys[0]) != 0) return -1;
  if (fh_any_own(right, &step->keys[1]) != 0) {
    fh_any_drop(&step->keys[0]);
    return -1;
  }
  /* The step counts only now that it owns both keys. */
  path->n_steps += 1;
  return 0;
}

void fh_structural_path_cut(fh_structural_path *path, size_t n) {
  while (path->n_steps > n) {
    fh_structural_step step = path->steps[--path->n_steps];
    fh_any_drop(&step.keys[0]);
    fh_any_drop(&step.keys[1]);
  }
}

/* The AccessPath of one side (0: left, 1: right): a new reference, NULL with an error pending. */
static fh_access_path_object *side_of(const fh_structural_path *path, int side) {
  fh_access_path_object *at = fh_access_path_root();
  for (size_t i = path->n_steps; i != 0 && at != NULL; --i) {
    const fh_structural_step *step = &path->steps[i - 1];
    fh_access_path_object *longer = fh_access_path_extend(at, step->kinds[side], &step->keys[side]);
    fh_object_release(at);
    at = longer;
  }
  return at;
}

int fh_structural_path_finish(const fh_structural_path *path, TVMFFIAny *out) {
  fh_access_path_object *left = side_of(path, 0), *right = left != NULL ? side_of(path, 1) : NULL;
  TVMFFIAny sides[2] = {fh_any_object(left), fh_any_object(right)};
  fh_seq_object *both = right != NULL ? fh_seq_from_views(kTVMFFIArray, sides, 2) : NULL;
  fh_object_release(left);
  fh_object_release(right);
  if (both == NULL) return -1;
  *out = fh_any_object(both);
  return 0;
}

void fh_structural_path_free(fh_structural_path *path) {
  fh_structural_path_cut(path, 0);
  fh_mem_free(path->steps);
}
