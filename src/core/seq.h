/* seq.h - ffi.Array and ffi.List: 56 bytes, then for an Array its items.
 *
 * Both share the ABI's TVMFFISeqCell. An Array's items lie in the object's own block; it grows only while its maker is
 * its only user. A List's items lie in a buffer of their own, which comes with the function that frees it. C++ clients
 * grow a List inline: they free the old buffer by that function and leave it in place for the new one, which comes from
 * operator new. So this library's function gives free() what is none of its own blocks, and a C++ runtime whose operator
 * new is not malloc() underneath would need another. (AddressSanitizer needs alloc_dealloc_mismatch=0 for such programs.)
 * Functions that displace items hand them to the caller, so that a caller with a lock drops them after unlocking. */
#ifndef FH_SEQ_H_
#define FH_SEQ_H_

#include "any.h"

typedef struct {
  TVMFFIObject header;
  TVMFFISeqCell cell;
  TVMFFIAny items[]; /* of an Array; not part of the ABI's 56 bytes */
} fh_seq_object;

static inline int fh_seq_is(const TVMFFIAny *any) {
  return any->type_index == kTVMFFIArray || any->type_index == kTVMFFIList;
}
static inline TVMFFIAny *fh_seq_items(const fh_seq_object *seq) { return (TVMFFIAny *)seq->cell.data; }
static inline int64_t fh_seq_size(const fh_seq_object *seq) { return seq->cell.size; }

/* New ones, empty, with room for `capacity` items; NULL with an error pending. */
fh_seq_object *fh_seq_new_array(int64_t capacity);
fh_seq_object *fh_seq_new_list(int64_t capacity);
/* Of that type (kTVMFFIArray or kTVMFFIList) with owned copies of n views. */
fh_seq_object *fh_seq_from_views(int32_t type_index, const TVMFFIAny *views, int64_t n);

/* An Array of n owned values, which it takes on success only. */
fh_seq_object *fh_seq_array_of(const TVMFFIAny *items, int64_t n);
/* The same in a block from fh_mem_alloc, which becomes the Array: its n owned items begin offsetof(fh_seq_object, items)
 * bytes into it. Cannot fail. */
fh_seq_object *fh_seq_array_in(void *block, int64_t n);

/* Appends an owned value, which it takes also on failure. An Array must have room and no other user. */
int fh_seq_push(fh_seq_object *seq, TVMFFIAny item);

/* Raises the IndexError unless 0 <= i < size. */
int fh_seq_check_index(const fh_seq_object *seq, int64_t i);

/* ---- Lists. */
/* Makes room for `capacity` items in all. */
int fh_seq_reserve(fh_seq_object *list, int64_t capacity);
/* Swaps *item with the one at i, which must exist: afterwards *item is the old one, for the caller to drop. */
void fh_seq_swap(fh_seq_object *list, int64_t i, TVMFFIAny *item);
/* Inserts the owned item before position i (0 <= i <= size, IndexError); takes it on success only. */
int fh_seq_insert(fh_seq_object *list, int64_t i, const TVMFFIAny *item);
/* Takes the item at i out; the caller owns it. IndexError. */
int fh_seq_take(fh_seq_object *list, int64_t i, TVMFFIAny *out);
/* Replaces items [first, last) by n owned ones (taken on success only). The displaced ones come back as an array of
 * *n_old owned values, NULL if none, to be ended by fh_seq_drop_items. IndexError for a range outside of the list. */
int fh_seq_splice(fh_seq_object *list, int64_t first, int64_t last, const TVMFFIAny *items, int64_t n,
                  TVMFFIAny **old_items, int64_t *n_old);
void fh_seq_reverse(fh_seq_object *list);

/* Owned copies of all items as an array for fh_seq_drop_items; *items is NULL when there are none. */
int fh_seq_copy_items(const fh_seq_object *seq, TVMFFIAny **items, int64_t *n);
void fh_seq_drop_items(TVMFFIAny *items, int64_t n);

void fh_seq_init(void);

#endif /* FH_SEQ_H_ */
