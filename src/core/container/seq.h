/* seq.h - ffi.Array and ffi.List: 56 bytes, in an Array followed by its items. For a List that threads may share use
 * the functions of list.h, which lock it.
 *
 * Both have the ABI's TVMFFISeqCell. An Array's items lie in the object's own block; it grows only while its creator is
 * its only user. A List's items lie in a separate buffer, with the function that frees it. C++ clients grow a List
 * inline: they free the old buffer by that function, set one from operator new, and leave the function unchanged. So
 * fh_mem_free, which is that function here, passes a block that the pool did not make to free(). A C++ runtime whose
 * operator new does not call malloc() would not work. (AddressSanitizer needs alloc_dealloc_mismatch=0 for such
 * programs.) */
#pragma once

#include "core/object/any.h"
#include "core/platform/mem.h"

typedef struct {
  TVMFFIObject header;
  TVMFFISeqCell cell;
  TVMFFIAny items[]; /* only in an Array; not part of the ABI's 56 bytes */
} fh_seq_object;

static inline bool fh_seq_is(const TVMFFIAny *any) {
  return any->type_index == kTVMFFIArray || any->type_index == kTVMFFIList;
}
static inline TVMFFIAny *fh_seq_items(const fh_seq_object *seq) { return (TVMFFIAny *)seq->cell.data; }
static inline int64_t fh_seq_size(const fh_seq_object *seq) { return seq->cell.size; }

/* Make an empty object with room for `capacity` items; NULL with an error pending. */
fh_seq_object *fh_seq_new_array(int64_t capacity);
fh_seq_object *fh_seq_new_list(int64_t capacity);
/* Makes an empty object of another type, which has only the cell of an Array. */
fh_seq_object *fh_seq_new_typed(int32_t type_index, int64_t capacity);
/* Makes an object of that type (kTVMFFIArray or kTVMFFIList) with owned copies of n views. */
fh_seq_object *fh_seq_from_views(int32_t type_index, const TVMFFIAny *views, int64_t n);

/* Makes an Array of n owned values, which it steals on success only. */
fh_seq_object *fh_seq_array_of(const TVMFFIAny *items, int64_t n);
/* Turns a block from fh_mem_alloc into an Array. The n owned items of the Array are in the block already, from
 * offsetof(fh_seq_object, items) on. Cannot fail. */
fh_seq_object *fh_seq_array_in(void *block, int64_t n);

/* Appends an owned value, which is stolen also on failure. An Array must have room and no other user. */
int fh_seq_push(fh_seq_object *seq, TVMFFIAny item);

/* Raises the IndexError for index i of a sequence of that size. Always -1. */
int fh_seq_raise_index(int64_t i, int64_t size);
static inline int fh_seq_check_index(const fh_seq_object *seq, int64_t i) {
  return FH_LIKELY(i >= 0 && i < fh_seq_size(seq)) ? 0 : fh_seq_raise_index(i, fh_seq_size(seq));
}
/* Swaps *item with the item at i, which must exist. The caller drops *item afterwards. */
void fh_seq_swap(fh_seq_object *seq, int64_t i, TVMFFIAny *item);

/* ---- Room in a List: 0, or -1 without memory and with no error pending. These functions may run under a lock: the
 * former buffer of the List is put aside, because a client's function may free it. */
/* Makes room for `capacity` items in all. */
int fh_seq_reserve(fh_seq_object *list, int64_t capacity, fh_mem_aside *aside);
/* Makes room for n_more items after the present ones, by doubling. */
int fh_seq_grow(fh_seq_object *list, int64_t n_more, fh_mem_aside *aside);

/* Drops n owned items and frees their array, which is from fh_mem_alloc. */
void fh_seq_drop_items(TVMFFIAny *items, int64_t n);
