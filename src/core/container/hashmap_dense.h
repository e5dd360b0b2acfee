/* hashmap_dense.h - the ABI's tables of Map and Dict: keys, the two layouts, and operations on the dense one. */
#pragma once

#include "core/object/any.h"
#include "core/platform/mem.h"
#include "core/platform/span.h"

/* --- the two layouts ---------------------------------------------------------------------------------------------- */

/* The ABI's two layouts of Map and Dict, which C++ clients read and write inline.
 *
 * Small: up to 4 pairs in an array, in order of insertion. `slots` has its top bit set.
 *
 * Dense: `slots` slots, a power of two, in blocks of 16. A block is 16 bytes of metadata, then 16 items of 48 bytes.
 * Items whose hashes lead to the same slot form a chain. The chain's head sits in that slot. Each item's metadata byte
 * encodes the distance to the next item of its chain, as an index into a fixed list of 126 distances. A doubly linked
 * list through all items keeps the order of insertion.
 *
 * In a dense table, setting an existing key moves it to the end of the order; in a small table the key keeps its place.
 * Setting any key of a small table that has 4 pairs makes the table dense first. */

#define FH_HASHMAP_SMALL_TAG ((uint64_t)1 << 63)
#define FH_HASHMAP_SMALL_INIT 2u
#define FH_HASHMAP_SMALL_MAX 4u
#define FH_HASHMAP_BLOCK_SLOTS 16u
#define FH_HASHMAP_NO_SLOT UINT64_MAX

typedef struct {
  TVMFFIAny key;
  TVMFFIAny value;
} fh_hashmap_pair;

/* One slot of a dense table. */
typedef struct {
  fh_hashmap_pair pair;
  uint64_t prev; /* the slot that was inserted before this one, FH_HASHMAP_NO_SLOT at the ends */
  uint64_t next;
} fh_hashmap_item;

typedef struct {
  uint8_t meta[FH_HASHMAP_BLOCK_SLOTS];
  fh_hashmap_item items[FH_HASHMAP_BLOCK_SLOTS];
} fh_hashmap_block;

typedef struct {
  TVMFFIObject header;
  void *data; /* small: fh_hashmap_pair[], mostly after this struct's first 56 bytes; dense: fh_hashmap_block[] */
  uint64_t size; /* number of pairs */
  uint64_t slots; /* number of slots; in a small table with FH_HASHMAP_SMALL_TAG */
  void (*data_deleter)(void *); /* frees `data`; NULL if `data` is part of the object's block */
  /* The following fields exist only in a dense table. */
  uint32_t fib_shift;
  uint64_t head; /* first and last slot in order of insertion */
  uint64_t tail;
} fh_hashmap_object;

static inline bool fh_hashmap_is(const TVMFFIAny *any) {
  return any->type_index == kTVMFFIMap || any->type_index == kTVMFFIDict;
}
static inline bool fh_hashmap_is_small(const fh_hashmap_object *map) {
  return (map->slots & FH_HASHMAP_SMALL_TAG) != 0;
}
static inline int64_t fh_hashmap_size(const fh_hashmap_object *map) { return (int64_t)map->size; }
/* For a dense table. */
static inline fh_hashmap_item *fh_hashmap_dense_item(const fh_hashmap_object *map, uint64_t slot) {
  fh_hashmap_block *block = (fh_hashmap_block *)map->data + slot / FH_HASHMAP_BLOCK_SLOTS;
  return &block->items[slot % FH_HASHMAP_BLOCK_SLOTS];
}

/* Whether hash and equality hooks may run. Under a lock they must not: then an operation that needs a hook changes no
 * pair and returns FH_HASHMAP_NEEDS_HOOK, without an error. The table may have grown, or become dense. */
typedef enum { FH_HASHMAP_NO_HOOKS, FH_HASHMAP_HOOKS } fh_hashmap_hooks;
#define FH_HASHMAP_NEEDS_HOOK (-2)
#define FH_HASHMAP_NO_MEMORY (-3) /* no error is pending: fh_hashmap_finish raises it, after the lock */

/* Displaced values and memory of an operation, which the caller drops when it holds no lock. */
typedef struct {
  fh_hashmap_pair pair; /* the displaced pair, or None */
  fh_mem_aside buffer;  /* the former buffer of the table */
} fh_hashmap_rest;

/* --- keys -------------------------------------------------------------------------------------------------------- */

/* Hash and equality of keys, with or without foreign code. */

/* fh_any_hash and fh_any_equal; they return FH_HASHMAP_NEEDS_HOOK if they would run foreign code that `hooks`
 * forbids. */
int fh_hashmap_hash_other(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out);
int fh_hashmap_equal_other(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out);

/* Hash and equality of any keys. Plain data, for which the bits of the cell decide, is handled inline. */
static inline bool fh_hashmap_is_plain(const TVMFFIAny *key) { return key->type_index < kTVMFFISmallStr; }
static inline int fh_hashmap_key_hash(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out) {
  if (!fh_hashmap_is_plain(key)) return fh_hashmap_hash_other(key, hooks, out);
  *out = fh_span_hash_combine((uint64_t)(int64_t)key->type_index, key->v_uint64);
  return 0;
}
static inline int fh_hashmap_key_equal(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out) {
  *out = fh_any_same(a, b);
  return *out || fh_hashmap_is_plain(a) ? 0 : fh_hashmap_equal_other(a, b, hooks, out);
}

/* --- the dense layout --------------------------------------------------------------------------------------------- */

/* The dense layout of hashmap.h: hashing, chains, growth. For hashmap.c only.
 *
 * These functions work on the fields of a table from `data` on and never read the object header. */

/* Makes an empty table for n_pairs. -1 without memory, with no error pending and the table unchanged. */
int fh_hashmap_dense_init(fh_hashmap_object *map, uint64_t n_pairs);
/* Copies the bytes of another table without touching references. -1 as above. */
int fh_hashmap_dense_copy(const fh_hashmap_object *from, fh_hashmap_object *map);
/* Makes the table empty without touching references. */
void fh_hashmap_dense_forget(fh_hashmap_object *map);

/* As the functions of hashmap.h, but fh_hashmap_dense_find returns the slot, fh_hashmap_dense_set writes only the parts
 * of *rest that it needs, and *old is undefined unless the result is 1. The table is valid for every result. */
int fh_hashmap_dense_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *slot);
int fh_hashmap_dense_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks,
                         fh_hashmap_rest *rest);
int fh_hashmap_dense_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old);

/* Whether that slot holds an item; any number is allowed. */
bool fh_hashmap_dense_is_used(const fh_hashmap_object *map, uint64_t slot);
#ifdef FH_TEST
int fh_hashmap_dense_is_valid(const fh_hashmap_object *map);
#endif
