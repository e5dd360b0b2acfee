/* list.c - Lists that threads may share: lock, compute, unlock, clean up.
 *
 * Under the stripe lock (stripe.h) the functions move items and retain them, and do nothing that could run foreign
 * code. So the part under the lock reports an outcome and puts replaced items and buffers aside. After the lock its
 * caller frees buffers, drops items and raises the error, in that order: code that runs during the drops could replace
 * an earlier error. Functions that accept both types pass Arrays here too; an Array needs no lock, and is locked all
 * the same. */
#include "list.h"

#include "core/object/error.h"
#include "stripe.h"

/* ---- One item ---- */

int64_t fh_list_size(const fh_seq_object *list) {
  fh_shared_note note = fh_stripe_read(list);
  int64_t size = fh_seq_size(list);
  fh_stripe_read_end(list, note);
  return size;
}

/* As fh_list_find; *size is the size of the List. */
static bool copy_item(const fh_seq_object *list, int64_t i, TVMFFIAny *out, int64_t *size) {
  *out = fh_any_none();
  fh_shared_note note = fh_stripe_read(list);
  *size = fh_seq_size(list);
  bool is_there = i >= 0 && i < *size;
  /* The new reference is counted under the lock, while the List's own reference keeps the object alive. */
  if (is_there) fh_any_copy(&fh_seq_items(list)[i], out);
  fh_stripe_read_end(list, note);
  return is_there;
}

bool fh_list_find(const fh_seq_object *list, int64_t i, TVMFFIAny *out) {
  int64_t size;
  return copy_item(list, i, out, &size);
}

int fh_list_get(const fh_seq_object *list, int64_t i, TVMFFIAny *out) {
  int64_t size;
  return copy_item(list, i, out, &size) ? 0 : fh_seq_raise_index(i, size);
}

int fh_list_set(fh_seq_object *list, int64_t i, TVMFFIAny item) {
  fh_stripe_lock(list);
  int64_t size = fh_seq_size(list);
  bool is_there = i >= 0 && i < size;
  if (is_there) fh_seq_swap(list, i, &item);
  fh_stripe_unlock(list);
  fh_any_drop(&item); /* the old item, or the new one if the index is out of bounds */
  return is_there ? 0 : fh_seq_raise_index(i, size);
}

/* The outcome of a part under the lock, which must not raise an error itself. */
typedef enum { DONE, OUTSIDE, NO_MEMORY } outcome;

/* Under the lock. at_end: appends and ignores `i`, because only the lock makes the end of the List known. Growing comes
 * before the first change, so a failure leaves the items unchanged. */
static outcome insert_locked(fh_seq_object *list, int64_t i, int at_end, const TVMFFIAny *item, fh_mem_aside *aside) {
  int64_t size = fh_seq_size(list);
  if (at_end) i = size;
  if (i < 0 || i > size) return OUTSIDE;
  if (fh_seq_grow(list, 1, aside) != 0) return NO_MEMORY;
  TVMFFIAny *slot = &fh_seq_items(list)[i];
  memmove(slot + 1, slot, (size_t)(size - i) * sizeof(*slot));
  *slot = *item;
  list->cell.size = size + 1;
  return DONE;
}

/* Steals the item, also on failure. `size` is read in the locked section of the insertion, for the message. */
static int insert_item(fh_seq_object *list, int64_t i, int at_end, TVMFFIAny item) {
  fh_mem_aside aside = FH_MEM_NONE_ASIDE;
  fh_stripe_lock(list);
  int64_t size = fh_seq_size(list);
  outcome result = insert_locked(list, i, at_end, &item, &aside);
  fh_stripe_unlock(list);
  fh_mem_free_aside(&aside);
  if (result == DONE) return 0;
  fh_any_drop(&item);
  if (result == NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_INDEX_ERROR, "Index %lld out of bounds [0, %lld]", (long long)i, (long long)size);
}

int fh_list_insert(fh_seq_object *list, int64_t i, TVMFFIAny item) { return insert_item(list, i, 0, item); }

int fh_list_append(fh_seq_object *list, TVMFFIAny item) { return insert_item(list, 0, 1, item); }

/* Under the lock. Removes the item at i, which must exist: the List's reference becomes the caller's. */
static TVMFFIAny take_locked(fh_seq_object *list, int64_t i) {
  TVMFFIAny *slot = &fh_seq_items(list)[i], item = *slot;
  list->cell.size -= 1;
  memmove(slot, slot + 1, (size_t)(fh_seq_size(list) - i) * sizeof(*slot));
  return item;
}

int fh_list_take(fh_seq_object *list, int64_t i, TVMFFIAny *out) {
  fh_stripe_lock(list);
  int64_t size = fh_seq_size(list);
  bool is_there = i >= 0 && i < size;
  if (is_there) *out = take_locked(list, i);
  fh_stripe_unlock(list);
  return is_there ? 0 : fh_seq_raise_index(i, size);
}

/* ---- Many items ---- */

/* The removed items and buffer of a splice, which are dropped after the lock. */
typedef struct {
  TVMFFIAny *items; /* NULL if there are none */
  int64_t n;
  fh_mem_aside buffer;
} displaced;

/* Under the lock. Both allocations come before the first change, so a failure leaves the items unchanged; a larger
 * buffer with the same items may stay. */
static outcome splice_locked(fh_seq_object *list, int64_t first, int64_t last, const TVMFFIAny *items, int64_t n,
                             displaced *old) {
  int64_t size = fh_seq_size(list), n_out = last - first, n_behind = size - last;
  if (first < 0 || first > last || last > size) return OUTSIDE;
  if (n > n_out && fh_seq_grow(list, n - n_out, &old->buffer) != 0) return NO_MEMORY;
  TVMFFIAny *data = fh_seq_items(list);
  if (n_out != 0) { /* the removed items are dropped after the lock, so they are stored until then */
    old->items = (TVMFFIAny *)fh_mem_alloc((size_t)n_out * sizeof(*old->items));
    if (old->items == NULL) return NO_MEMORY;
    memcpy(old->items, data + first, (size_t)n_out * sizeof(*data));
    old->n = n_out;
  }
  /* First the items after the range move to their new place, then the new ones fill the gap. */
  if (n_behind != 0 && n != n_out) memmove(data + first + n, data + last, (size_t)n_behind * sizeof(*data));
  if (n != 0) memcpy(data + first, items, (size_t)n * sizeof(*data));
  list->cell.size = size + n - n_out;
  return DONE;
}

/* to_end: up to the List's end, which is known only under the lock. */
static int splice_items(fh_seq_object *list, int64_t first, int64_t last, int to_end, const TVMFFIAny *items,
                        int64_t n) {
  displaced old = {NULL, 0, FH_MEM_NONE_ASIDE};
  fh_stripe_lock(list);
  int64_t size = fh_seq_size(list);
  outcome result = splice_locked(list, first, to_end ? size : last, items, n, &old);
  fh_stripe_unlock(list);
  fh_mem_free_aside(&old.buffer);
  fh_seq_drop_items(old.items, old.n);
  if (result == DONE) return 0;
  if (result == NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_INDEX_ERROR, "Range [%lld, %lld) out of bounds %lld", (long long)first, (long long)last,
                        (long long)size);
}

int fh_list_splice(fh_seq_object *list, int64_t first, int64_t last, const TVMFFIAny *items, int64_t n) {
  return splice_items(list, first, last, 0, items, n);
}

/* ---- Slices ---- */

/* n places of a List: first, first + step, ... */
typedef struct {
  int64_t first, step, n;
} places;

/* Converts a bound of a slice, with Python's rules, to a place between `lowest` and `highest`. */
static int64_t place_of_bound(int64_t bound, int64_t size, int64_t lowest, int64_t highest) {
  int64_t place = bound < 0 ? bound + size : bound;
  return place < lowest ? lowest : place > highest ? highest : place;
}

/* The places of a slice in a List of that size. Going backwards, both bounds are one lower: the place before the first
 * item is a valid bound, the place after the last one is not. */
static places places_of(const fh_list_slice *slice, int64_t size) {
  bool is_back = slice->step < 0;
  int64_t lowest = is_back ? -1 : 0, highest = is_back ? size - 1 : size;
  int64_t from = is_back ? highest : lowest, to = is_back ? lowest : highest;
  if (slice->has_start) from = place_of_bound(slice->start, size, lowest, highest);
  if (slice->has_stop) to = place_of_bound(slice->stop, size, lowest, highest);
  int64_t distance = is_back ? from - to : to - from, step = is_back ? -slice->step : slice->step;
  places found = {from, slice->step, distance <= 0 ? 0 : (distance - 1) / step + 1};
  return found;
}

/* Under the lock. Swaps the items at these places with n others. */
static void swap_locked(fh_seq_object *list, const places *at, TVMFFIAny *items) {
  for (int64_t k = 0; k < at->n; ++k) fh_seq_swap(list, at->first + k * at->step, &items[k]);
}

/* Under the lock. Removes the items at these places, as splice_locked does. */
static outcome erase_locked(fh_seq_object *list, places at, displaced *old) {
  if (at.n == 0) return DONE;
  if (at.step < 0) { /* in ascending order */
    at.first += (at.n - 1) * at.step;
    at.step = -at.step;
  }
  old->items = (TVMFFIAny *)fh_mem_alloc((size_t)at.n * sizeof(*old->items));
  if (old->items == NULL) return NO_MEMORY;
  TVMFFIAny *data = fh_seq_items(list);
  int64_t size = fh_seq_size(list), to = at.first;
  for (int64_t from = at.first; from < size; ++from) {
    if (old->n < at.n && from == at.first + old->n * at.step) {
      old->items[old->n++] = data[from];
    } else {
      data[to++] = data[from];
    }
  }
  list->cell.size = to;
  return DONE;
}

int fh_list_replace_slice(fh_seq_object *list, const fh_list_slice *slice, TVMFFIAny *items, int64_t n) {
  displaced old = {NULL, 0, FH_MEM_NONE_ASIDE};
  outcome result = OUTSIDE; /* means: the slice does not have as many places as there are items */
  fh_stripe_lock(list);
  places at = places_of(slice, fh_seq_size(list));
  if (slice->step == 1) {
    result = splice_locked(list, at.first, at.first + at.n, items, n, &old);
  } else if (at.n == n) {
    swap_locked(list, &at, items);
    result = DONE;
  }
  fh_stripe_unlock(list);
  fh_mem_free_aside(&old.buffer);
  fh_seq_drop_items(old.items, old.n);
  /* After a splice the List owns the new items; after a swap `items` has the old ones. */
  fh_seq_drop_items(items, result == DONE && slice->step == 1 ? 0 : n);
  if (result == DONE) return 0;
  if (result == NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_VALUE_ERROR, "attempt to assign sequence of size %lld to extended slice of size %lld",
                        (long long)n, (long long)at.n);
}

int fh_list_erase_slice(fh_seq_object *list, const fh_list_slice *slice) {
  displaced old = {NULL, 0, FH_MEM_NONE_ASIDE};
  fh_stripe_lock(list);
  outcome result = erase_locked(list, places_of(slice, fh_seq_size(list)), &old);
  fh_stripe_unlock(list);
  fh_seq_drop_items(old.items, old.n);
  return result == DONE ? 0 : fh_error_raise_no_memory();
}

bool fh_list_erase_same(fh_seq_object *list, int64_t i, const TVMFFIAny *item) {
  TVMFFIAny old = fh_any_none();
  fh_stripe_lock(list);
  bool is_there = i >= 0 && i < fh_seq_size(list) && fh_any_same(&fh_seq_items(list)[i], item);
  if (is_there) old = take_locked(list, i);
  fh_stripe_unlock(list);
  fh_any_drop(&old);
  return is_there;
}

/* ---- All items ---- */

/* A splice that replaces all items by nothing; it ignores `last`. */
int fh_list_clear(fh_seq_object *list) { return splice_items(list, 0, 0, 1, NULL, 0); }

void fh_list_reverse(fh_seq_object *list) {
  fh_stripe_lock(list);
  TVMFFIAny *data = fh_seq_items(list);
  for (int64_t i = 0, j = fh_seq_size(list) - 1; i < j; ++i, --j) {
    TVMFFIAny item = data[i];
    data[i] = data[j];
    data[j] = item;
  }
  fh_stripe_unlock(list);
}

int fh_list_reserve(fh_seq_object *list, int64_t capacity) {
  fh_mem_aside aside = FH_MEM_NONE_ASIDE;
  fh_stripe_lock(list);
  int rc = fh_seq_reserve(list, capacity, &aside);
  fh_stripe_unlock(list);
  fh_mem_free_aside(&aside);
  return rc == 0 ? 0 : fh_error_raise_no_memory();
}

/* ---- Copies ---- */

int fh_list_copy_items(const fh_seq_object *seq, TVMFFIAny **items, int64_t *n) {
  TVMFFIAny *copies = NULL;
  fh_shared_note note =
      fh_stripe_read(seq); /* covers the copies' references as well: another thread may drop the List's */
  int64_t size = fh_seq_size(seq);
  if (size != 0) copies = (TVMFFIAny *)fh_mem_alloc((size_t)size * sizeof(*copies));
  for (int64_t i = 0; copies != NULL && i < size; ++i) fh_any_copy(&fh_seq_items(seq)[i], &copies[i]);
  fh_stripe_read_end(seq, note);
  *items = copies;
  *n = copies != NULL ? size : 0;
  return copies != NULL || size == 0 ? 0 : fh_error_raise_no_memory();
}

/* Uses a plain array, because making a sequence may raise an error, which the lock forbids. */
fh_seq_object *fh_list_copy(const fh_seq_object *seq, int32_t type_index) {
  TVMFFIAny *items;
  int64_t n;
  if (fh_list_copy_items(seq, &items, &n) != 0) return NULL;
  fh_seq_object *copy = fh_seq_from_views(type_index, items, n);
  fh_seq_drop_items(items, n);
  return copy;
}
