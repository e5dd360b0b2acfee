/* hashmap_dense.h - the dense layout of hashmap.h: hashing, chains, growth. For hashmap.c only.
 *
 * These work on the fields of a table from `data` on and never look at the object header. */
#ifndef FH_HASHMAP_DENSE_H_
#define FH_HASHMAP_DENSE_H_

#include "core/object/str.h"
#include "hashmap.h"

/* An empty table for n_pairs. -1 without memory, nothing pending, nothing changed. */
int fh_hashmap_dense_init(fh_hashmap_object *map, uint64_t n_pairs);
/* The bytes of another table, without touching references. -1 as above. */
int fh_hashmap_dense_copy(const fh_hashmap_object *from, fh_hashmap_object *map);
/* Makes the table empty without touching references. */
void fh_hashmap_dense_forget(fh_hashmap_object *map);

/* fh_any_hash and fh_any_equal, or FH_HASHMAP_NEEDS_HOOK where they would run foreign code that `hooks` forbids. */
int fh_hashmap_hash_other(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out);
int fh_hashmap_equal_other(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out);

/* The same, with what is decided by the bits of a cell decided here. */
static inline int fh_hashmap_is_plain(const TVMFFIAny *key) { return key->type_index < kTVMFFISmallStr; }
static inline int fh_hashmap_key_hash(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out) {
  if (!fh_hashmap_is_plain(key)) return fh_hashmap_hash_other(key, hooks, out);
  *out = fh_span_hash_combine((uint64_t)(int64_t)key->type_index, key->v_uint64);
  return 0;
}
static inline int fh_hashmap_key_equal(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out) {
  *out = fh_any_same(a, b);
  return *out || fh_hashmap_is_plain(a) ? 0 : fh_hashmap_equal_other(a, b, hooks, out);
}

/* As the functions of hashmap.h; fh_hashmap_dense_find gives the slot, fh_hashmap_dense_set only adds to *rest, and *old
 * is undefined unless the result is >= 0. The table stays whole whatever they return. */
int fh_hashmap_dense_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *slot);
int fh_hashmap_dense_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks,
                         fh_hashmap_rest *rest);
int fh_hashmap_dense_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old);

/* Whether that slot holds an item; any number is allowed. */
int fh_hashmap_dense_is_used(const fh_hashmap_object *map, uint64_t slot);
int fh_hashmap_dense_is_valid(const fh_hashmap_object *map);

#endif /* FH_HASHMAP_DENSE_H_ */
