/* structural_callbacks.h - tables of (type index, Function), the arguments of StructuralWalk, Visit, Map and Mutate. */
#ifndef FH_STRUCTURAL_CALLBACKS_H_
#define FH_STRUCTURAL_CALLBACKS_H_

#include "core/object/any.h"

typedef struct {
  int32_t type_index; /* kTVMFFIAny: every value */
  int gets_more; /* gets a second argument: the definition region, or whether changes in place are allowed */
  TVMFFIObject *func; /* owned */
} fh_structural_entry;

/* All zero is an empty table. */
typedef struct {
  fh_structural_entry *entries;
  int64_t n_entries;
} fh_structural_callbacks;

/* Adds the entries of args[i], a sequence of sequences (type index, Function) or, with `is_marked`, (type index,
 * Function, gets_more). TypeError. */
int fh_structural_callbacks_add(fh_structural_callbacks *callbacks, const char *name, const TVMFFIAny *args, int32_t i,
                                int is_marked, int gets_more);
void fh_structural_callbacks_free(fh_structural_callbacks *callbacks);

/* The first entry for values of that type, NULL if there is none. */
const fh_structural_entry *fh_structural_callbacks_find(const fh_structural_callbacks *callbacks, int32_t type_index);

#endif /* FH_STRUCTURAL_CALLBACKS_H_ */
