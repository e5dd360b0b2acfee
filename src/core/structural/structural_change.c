/* structural_change.c - collecting and applying changes.
 *
 * One list holds the changes of all open objects, those of an inner object after those of the outer ones. So an
 * object's changes are the end of the list from a number on, and applying them cuts the list there. */
#include "structural_change.h"

#include "core/container/hashmap.h"
#include "core/object/error.h"
#include "core/platform/mem.h"
#include "mutator.h"
#include "structural.h"

int fh_structural_changes_add(fh_structural_changes *changes, const fh_structural_place *place, TVMFFIAny *value) {
  if (fh_mem_reserve((void **)&changes->items, &changes->n_room, changes->n_items, 1, sizeof(*changes->items)) != 0) {
    fh_any_drop(value);
    return fh_error_raise_no_memory();
  }
  changes->items[changes->n_items].place = *place;
  changes->items[changes->n_items++].value = *value;
  return 0;
}

void fh_structural_changes_cut(fh_structural_changes *changes, size_t first) {
  while (changes->n_items > first) {
    /* Removed from the list first: its deleter may use the mutator, and so the list. */
    TVMFFIAny value = changes->items[--changes->n_items].value;
    fh_any_drop(&value);
  }
}

void fh_structural_changes_free(fh_structural_changes *changes) {
  fh_structural_changes_cut(changes, 0);
  fh_mem_free(changes->items);
}

/* ---- Applying to each form of object: 0, or -1. The old value replaces the new one in the list, and is dropped with
 * the list ---- */

/* The size is checked because a callback may have shortened a List that changes in place. */
static void apply_to_items(fh_structural_changes *changes, size_t first, fh_seq_object *seq) {
  for (size_t i = first; i < changes->n_items; ++i) {
    fh_structural_change *change = &changes->items[i];
    if (change->place.index < fh_seq_size(seq)) fh_seq_swap(seq, change->place.index, &change->value);
  }
}

/* Sets values by their keys, because the target may be a copy of the current state of a Dict. Finding a key may run
 * hooks, which may move the list: the items are read again each time. */
static int apply_to_values(fh_structural_changes *changes, size_t first, fh_hashmap_object *map) {
  for (size_t i = first; i < changes->n_items; ++i) {
    TVMFFIAny key = changes->items[i].place.key;
    fh_hashmap_pair *pair;
    int found = fh_hashmap_find(map, &key, FH_HASHMAP_HOOKS, &pair);
    if (found < 0) return -1;
    if (found == 0) continue; /* a callback has removed the key from the Dict */
    TVMFFIAny old = pair->value;
    pair->value = changes->items[i].value;
    changes->items[i].value = old;
  }
  return 0;
}

/* The setter copies the value, so the new one stays in the list and is dropped with it. The setter may be foreign code,
 * too. */
static int apply_to_fields(fh_structural_changes *changes, size_t first, TVMFFIObject *copy) {
  for (size_t i = first; i < changes->n_items; ++i) {
    TVMFFIAny value = changes->items[i].value;
    if (fh_mutator_set_field(changes->items[i].place.field, copy, &value) != 0) return -1;
  }
  return 0;
}

/* ---- The copies ---- */

/* An owned copy of the object of frame f. A sequence has the items that the walk has returned; a Dict, which is looked
 * up by key, has its current pairs. NULL with an error pending. */
static TVMFFIObject *copy_of(const fh_walk *walk, const fh_walk_frame *f) {
  switch (f->shape) {
  case FH_WALK_ITEMS:
    return (TVMFFIObject *)(void *)fh_seq_from_views(f->obj->type_index, fh_walk_items(walk, f), f->n_children);
  case FH_WALK_PAIRS:
    if (f->obj->type_index == kTVMFFIDict) return (TVMFFIObject *)(void *)fh_structural_read_map(f->obj);
    return (TVMFFIObject *)(void *)fh_hashmap_copy((const fh_hashmap_object *)(void *)f->obj, kTVMFFIMap);
  default: return fh_mutator_copy(f->obj);
  }
}

int fh_structural_changes_apply(fh_structural_changes *changes, size_t first, const fh_walk *walk, bool is_inplace,
                                TVMFFIAny *out) {
  const fh_walk_frame *f = fh_walk_top(walk);
  /* Read before the copy is made: its hook may move the walk's frames. */
  fh_walk_shape shape = f->shape;
  TVMFFIObject *target = is_inplace ? f->obj : copy_of(walk, f);
  int rc = target != NULL ? 0 : -1;
  *out = fh_mutator_unchanged();
  if (rc == 0 && shape == FH_WALK_ITEMS) {
    apply_to_items(changes, first, (fh_seq_object *)(void *)target);
  } else if (rc == 0 && shape == FH_WALK_PAIRS) {
    rc = apply_to_values(changes, first, (fh_hashmap_object *)(void *)target);
  } else if (rc == 0) {
    rc = apply_to_fields(changes, first, target);
  }
  fh_structural_changes_cut(changes, first);
  if (is_inplace) return rc;
  if (rc == 0) {
    *out = fh_any_object(target);
  } else {
    fh_object_release(target);
  }
  return rc;
}
