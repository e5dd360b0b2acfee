/* list.h - operations on Lists that threads may share: each function is one step under the List's stripe lock.
 *
 * Under the lock a function only computes and moves. Errors are raised, items dropped and buffers freed after the lock
 * is released, because each of these may run foreign code. Functions that only read accept an Array, too. */
#pragma once

#include "seq.h"

int64_t fh_list_size(const fh_seq_object *list);
/* Returns an owned copy of the item at i: 1, or 0 with None and no error if the item does not exist. */
bool fh_list_find(const fh_seq_object *list, int64_t i, TVMFFIAny *out);
/* Returns an owned copy of the item at i: 0, or -1 with an IndexError pending. */
int fh_list_get(const fh_seq_object *list, int64_t i, TVMFFIAny *out);
/* Replaces the item at i by an owned one, which is stolen also on failure. IndexError. */
int fh_list_set(fh_seq_object *list, int64_t i, TVMFFIAny item);
/* Inserts an owned item before position i (0 <= i <= size, IndexError); the item is stolen also on failure. */
int fh_list_insert(fh_seq_object *list, int64_t i, TVMFFIAny item);
int fh_list_append(fh_seq_object *list, TVMFFIAny item);
/* Removes the item at i and returns it; the caller owns it. IndexError. */
int fh_list_take(fh_seq_object *list, int64_t i, TVMFFIAny *out);
/* Replaces items [first, last) by n owned ones, which are stolen on success only. IndexError for a range outside of the
 * List. */
int fh_list_splice(fh_seq_object *list, int64_t first, int64_t last, const TVMFFIAny *items, int64_t n);
int fh_list_clear(fh_seq_object *list);

/* A slice as in Python: negative bounds count from the end, and each may lie outside of the List. The step is not 0,
 * and not INT64_MIN. */
typedef struct {
  int64_t start, stop, step;
  bool has_start, has_stop;
} fh_list_slice;

/* Replaces the items of a slice by n owned items; steals their array, from fh_mem_alloc, also on failure. ValueError if
 * the step is not 1 and the slice has another number of items. */
int fh_list_replace_slice(fh_seq_object *list, const fh_list_slice *slice, TVMFFIAny *items, int64_t n);
int fh_list_erase_slice(fh_seq_object *list, const fh_list_slice *slice);
/* Removes the item at i if it has the same bytes as *item; returns whether it did. No error. */
bool fh_list_erase_same(fh_seq_object *list, int64_t i, const TVMFFIAny *item);
void fh_list_reverse(fh_seq_object *list);
/* Makes room for `capacity` items in all. */
int fh_list_reserve(fh_seq_object *list, int64_t capacity);

/* Returns owned copies of all items as an array for fh_seq_drop_items; *items is NULL if there are no items. */
int fh_list_copy_items(const fh_seq_object *seq, TVMFFIAny **items, int64_t *n);
/* Makes an Array or List (by its type index) of the items; NULL with an error pending. */
fh_seq_object *fh_list_copy(const fh_seq_object *seq, int32_t type_index);
