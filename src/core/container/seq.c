/* seq.c - ffi.Array and ffi.List: one struct, two places for the items.
 *
 * An Array has its items after the struct, in one block of fixed size. A List has a separate buffer, which doubles, so
 * that appending n items costs O(n) in all. These functions do not lock: list.c does, for Lists that threads may
 * share. */
#include "seq.h"

#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/platform/mem.h"

FH_STATIC_ASSERT(offsetof(fh_seq_object, cell) == 24, "the cell follows the header");
FH_STATIC_ASSERT(offsetof(fh_seq_object, items) == 56, "an Array's items follow the ABI's 56 bytes");

/* MAX_ITEMS keeps every size in bytes within PTRDIFF_MAX, so no product below overflows. INIT_CAPACITY is the minimum
 * capacity of a sequence that will be filled. */
#define MAX_ITEMS ((int64_t)((PTRDIFF_MAX - sizeof(fh_seq_object)) / sizeof(TVMFFIAny)))
#define INIT_CAPACITY 4

/* ---- Creation and destruction ---- */

static void drop_all(TVMFFIAny *items, int64_t n) {
  for (int64_t i = 0; i < n; ++i) fh_any_drop(&items[i]);
}

/* A sequence of plain data is destroyed without the queue of nested destructions, which is much cheaper. */
static bool has_objects(const fh_seq_object *seq) {
  for (int64_t i = 0; i < seq->cell.size; ++i) {
    if (fh_any_is_object(&fh_seq_items(seq)[i])) return true;
  }
  return false;
}

/* Destroys the value. The size must be 0 afterwards: if weak references remain, the deleter runs a second time, and
 * has_objects would read `size` items. */
static void end_seq(void *self) {
  fh_seq_object *seq = (fh_seq_object *)self;
  drop_all(fh_seq_items(seq), seq->cell.size);
  if (seq->cell.data_deleter != NULL) seq->cell.data_deleter(seq->cell.data);
  seq->cell.size = 0;
}

/* The owner contains the deleter and the deleter passes the owner on, so one of them is declared first. */
static void delete_seq(void *self, int flags);
static const fh_object_owner owner = {delete_seq, end_seq};
static void delete_seq(void *self, int flags) {
  fh_seq_object *seq = (fh_seq_object *)self;
  if (seq->cell.size == 0 && seq->cell.data_deleter == NULL) { /* its items were moved out of it */
    fh_object_delete_plain(self, flags);
    return;
  }
  bool is_nested = has_objects(seq);
  if (!is_nested) seq->cell.size = 0; /* nothing to drop */
  fh_object_delete_owner(&owner, self, flags, is_nested);
}

/* n_inline: the number of items that fit into the block after the struct; 0 for a List, which has no buffer yet. */
static void init_object(fh_seq_object *seq, int32_t type_index, int64_t n_inline) {
  fh_object_init(&seq->header, type_index, delete_seq);
  seq->cell.data = n_inline != 0 ? seq->items : NULL;
  seq->cell.size = 0;
  seq->cell.capacity = n_inline;
  seq->cell.data_deleter = NULL;
}

/* Makes an empty sequence; NULL without memory, with no error pending. */
static fh_seq_object *new_object(int32_t type_index, int64_t n_inline) {
  fh_seq_object *seq = (fh_seq_object *)fh_mem_alloc(sizeof(*seq) + (size_t)n_inline * sizeof(TVMFFIAny));
  if (seq != NULL) init_object(seq, type_index, n_inline);
  return seq;
}

fh_seq_object *fh_seq_new_array(int64_t capacity) {
  if (capacity < INIT_CAPACITY) capacity = INIT_CAPACITY;
  fh_seq_object *array = capacity <= MAX_ITEMS ? new_object(kTVMFFIArray, capacity) : NULL;
  if (array == NULL) fh_error_raise_no_memory();
  return array;
}

fh_seq_object *fh_seq_new_typed(int32_t type_index, int64_t capacity) {
  fh_seq_object *seq = capacity >= 0 && capacity <= MAX_ITEMS ? new_object(type_index, capacity) : NULL;
  if (seq == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  return seq;
}

fh_seq_object *fh_seq_new_list(int64_t capacity) {
  fh_seq_object *list = new_object(kTVMFFIList, 0);
  if (list == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  /* An empty List has a buffer, too: C++ clients call its deleter unchecked when they grow the List. */
  fh_mem_aside aside = FH_MEM_NONE_ASIDE; /* a new List has no buffer yet */
  if (fh_seq_reserve(list, capacity < INIT_CAPACITY ? INIT_CAPACITY : capacity, &aside) != 0) {
    fh_object_release(list);
    fh_error_raise_no_memory();
    return NULL;
  }
  return list;
}

fh_seq_object *fh_seq_array_of(const TVMFFIAny *items, int64_t n) {
  if (n == 0) return fh_seq_new_array(0);
  fh_seq_object *array = n <= MAX_ITEMS ? new_object(kTVMFFIArray, n) : NULL;
  if (array == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  memcpy(array->items, items, (size_t)n * sizeof(*items)); /* the references move with the bytes */
  array->cell.size = n;
  return array;
}

fh_seq_object *fh_seq_array_in(void *block, int64_t n) {
  fh_seq_object *array = (fh_seq_object *)block;
  init_object(array, kTVMFFIArray, n);
  array->cell.size = n;
  return array;
}

/* None, a bool, an int or a float: the usual items of a long sequence. */
FH_INLINE bool is_number(const TVMFFIAny *any) { return (uint32_t)any->type_index <= kTVMFFIFloat; }

fh_seq_object *fh_seq_from_views(int32_t type_index, const TVMFFIAny *views, int64_t n) {
  fh_seq_object *seq = type_index == kTVMFFIList ? fh_seq_new_list(n) : fh_seq_new_array(n);
  if (seq == NULL) return NULL;
  TVMFFIAny *items = fh_seq_items(seq);
  for (int64_t i = 0; i < n; ++i) {
    if (FH_LIKELY(is_number(&views[i]))) {
      items[i] = views[i];
    } else if (fh_any_own(&views[i], &items[i]) != 0) {
      seq->cell.size = i;
      fh_object_release(seq);
      return NULL;
    }
  }
  seq->cell.size = n;
  return seq;
}

/* ---- Access ---- */

int fh_seq_raise_index(int64_t i, int64_t size) {
  return fh_error_raise(FH_INDEX_ERROR, "Index %lld out of bounds %lld", (long long)i, (long long)size);
}

int fh_seq_push(fh_seq_object *seq, TVMFFIAny item) {
  if (seq->header.type_index == kTVMFFIArray && seq->cell.size == seq->cell.capacity) {
    /* The item is dropped first: its destruction may run code that changes the pending error. */
    fh_any_drop(&item);
    return fh_error_raise(FH_INTERNAL_ERROR, "Expected room for one more item in an Array of capacity %lld",
                          (long long)seq->cell.capacity);
  }
  if (seq->cell.size == seq->cell.capacity) { /* a List */
    fh_mem_aside aside = FH_MEM_NONE_ASIDE;
    int rc = fh_seq_grow(seq, 1, &aside);
    fh_mem_free_aside(&aside);
    if (rc != 0) {
      fh_any_drop(&item);
      return fh_error_raise_no_memory();
    }
  }
  fh_seq_items(seq)[seq->cell.size++] = item;
  return 0;
}

/* ---- Lists ---- */

int fh_seq_reserve(fh_seq_object *list, int64_t capacity, fh_mem_aside *aside) {
  if (capacity <= list->cell.capacity) return 0;
  /* Only this step can fail, and it comes first, so without memory the List is unchanged. */
  TVMFFIAny *data = capacity <= MAX_ITEMS ? (TVMFFIAny *)fh_mem_alloc((size_t)capacity * sizeof(*data)) : NULL;
  if (data == NULL) return -1;
  if (list->cell.size != 0) memcpy(data, fh_seq_items(list), (size_t)list->cell.size * sizeof(*data));
  fh_mem_put_aside(aside, list->cell.data, list->cell.data_deleter);
  list->cell.data = data;
  list->cell.capacity = capacity;
  list->cell.data_deleter = fh_mem_free; /* never NULL: C++ clients call it unchecked when they grow the List */
  return 0;
}

int fh_seq_grow(fh_seq_object *list, int64_t n_more, fh_mem_aside *aside) {
  int64_t size = list->cell.size, capacity = list->cell.capacity;
  /* Subtracts, because size + n_more may overflow. */
  if (n_more <= capacity - size) return 0;
  if (n_more > MAX_ITEMS - size) return -1;
  int64_t doubled = capacity > MAX_ITEMS / 2 ? MAX_ITEMS : capacity * 2;
  if (doubled < INIT_CAPACITY) doubled = INIT_CAPACITY;
  return fh_seq_reserve(list, doubled > size + n_more ? doubled : size + n_more, aside);
}

void fh_seq_swap(fh_seq_object *seq, int64_t i, TVMFFIAny *item) {
  TVMFFIAny *slot = &fh_seq_items(seq)[i];
  TVMFFIAny old = *slot;
  *slot = *item;
  *item = old;
}

/* ---- Items outside of a sequence ---- */

void fh_seq_drop_items(TVMFFIAny *items, int64_t n) {
  drop_all(items, n);
  fh_mem_free(items);
}
