/* structural_mutate.h - changed copies of a value, made with callbacks by type. */
#ifndef FH_STRUCTURAL_MUTATE_H_
#define FH_STRUCTURAL_MUTATE_H_

#include "mutator.h"
#include "structural_callbacks.h"

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

#endif /* FH_STRUCTURAL_MUTATE_H_ */
