/* structural_change.h - changes in the contents of objects, collected and then applied. For structural_mutate.c.
 *
 * The changes of one object are applied together, when all of its children are done. So an object whose child fails has
 * not changed at all. */
#pragma once

#include "core/container/seq.h"
#include "core/walk/walk.h"

/* The place of a child in its object. */
typedef struct {
  int64_t index; /* position in a sequence */
  TVMFFIAny key; /* key in a map; borrowed from the walk's frame */
  const TVMFFIFieldInfo *field; /* field of a reflected object, else NULL */
} fh_structural_place;

typedef struct {
  fh_structural_place place;
  TVMFFIAny value; /* owned */
} fh_structural_change;

/* All zero is an empty list. */
typedef struct {
  fh_structural_change *items;
  size_t n_items, n_room;
} fh_structural_changes;

/* Steals the value, also on failure. */
int fh_structural_changes_add(fh_structural_changes *changes, const fh_structural_place *place, TVMFFIAny *value);
/* Drops the changes from number `first` on. May run foreign code. */
void fh_structural_changes_cut(fh_structural_changes *changes, size_t first);
void fh_structural_changes_free(fh_structural_changes *changes);

/* Applies the changes from number `first` on to the object of the walk's top frame, which has no more children, and
 * removes them from the list. With is_inplace, *out becomes ffi.Unchanged; otherwise the changed copy, owned. */
int fh_structural_changes_apply(fh_structural_changes *changes, size_t first, const fh_walk *walk, bool is_inplace,
                                TVMFFIAny *out);
