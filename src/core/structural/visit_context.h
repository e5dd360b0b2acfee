/* visit_context.h - ffi.VisitErrorContext: the objects that were being visited when an error occurred. The context is
 * stored as the error's extra context. */
#pragma once

#include "core/object/any.h"

typedef struct {
  TVMFFIObject header;
  TVMFFIObject *pattern;  /* List of the objects, the innermost first */
  TVMFFIObject *previous; /* the extra context that the error had before, or NULL */
} fh_visit_context_object;

/* Adds an object to the context of the pending error, while the visit of that object fails. Does nothing for other
 * values, and without memory. */
void fh_visit_context_note(const TVMFFIAny *value);

/* Finds the paths from `root` on which the objects of a context occur, each inside the one before, and returns them as
 * an Array of AccessPaths. With allow_prefix also the longest paths on which only the first of the objects occur. */
int fh_visit_context_find(const TVMFFIAny *root, const fh_visit_context_object *context, bool allow_prefix,
                          TVMFFIAny *out);
int32_t fh_visit_context_type(void);

void fh_visit_context_init(void);

/* --- tables of callbacks ----------------------------------------------------------------------------------------- */

/* Tables of (type index, Function), the arguments of StructuralWalk, Visit, Map and Mutate. */

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
                                bool is_marked, int gets_more);
void fh_structural_callbacks_free(fh_structural_callbacks *callbacks);

/* The first entry for values of that type, NULL if there is none. */
const fh_structural_entry *fh_structural_callbacks_find(const fh_structural_callbacks *callbacks, int32_t type_index);
