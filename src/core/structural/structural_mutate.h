/* structural_mutate.h - a changed copy of a value, made with callbacks by type. */
#ifndef FH_STRUCTURAL_MUTATE_H_
#define FH_STRUCTURAL_MUTATE_H_

#include "mutator.h"
#include "structural_callbacks.h"

typedef enum {
  FH_MUTATE_MAP_PRE = 0,  /* callback(value[, region]) gives what is then mapped in its stead */
  FH_MUTATE_MAP_POST = 1, /* callback(value[, region]) gets what mapping its contents made of a value */
  FH_MUTATE_OWNED         /* callback(value, mutator[, may change in place]) makes the replacement */
} fh_mutate_order;

/* Takes `root` and the callbacks. A callback gives a replacement or ffi.Unchanged; the first one for a value's type is
 * called. Containers with one reference, on the whole way from a root with one, are changed in place; all else is
 * copied where it changes. Variables and DAG nodes are mapped once, and what they became stands for them afterwards.
 * *out is owned. Runs foreign code. */
int fh_structural_mutate(TVMFFIAny root, fh_structural_callbacks callbacks, fh_mutate_order order, TVMFFIAny *out);

/* Mutates what a value consists of, on a copy, not the value itself; any mutator. *out is ffi.Unchanged or owned. */
int fh_structural_mutate_default(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out);

#endif /* FH_STRUCTURAL_MUTATE_H_ */
