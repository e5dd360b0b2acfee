/* hashmap.h - ffi.Map and ffi.Dict.
 *
 * An object keeps its address when its table grows, because all owners of a Dict see its changes. A Map is changed only
 * by its creator, before it is shared. Hash and equality of keys may run foreign code, the hooks of their types
 * (any_hash.h): hold no lock, or forbid hooks. */
#pragma once

#include "hashmap_dense.h"

/* Makes an empty object of type kTVMFFIMap or kTVMFFIDict; NULL with an error pending. The table of the object has the
 * layout, and usually the size, that adding n_pairs one by one would leave. With twice the room, reading would have
 * twice the cache misses. */
fh_hashmap_object *fh_hashmap_new(int32_t type_index, uint64_t n_pairs);
/* Makes an object of that type with the same pairs in the same order. A Dict is read under its stripe lock. */
fh_hashmap_object *fh_hashmap_copy(const fh_hashmap_object *from, int32_t type_index);

/* Finds the pair of a key: 1 with the pair borrowed, 0 with NULL, -1 if a hook fails. The caller may write only to the
 * value of the pair. The key must not have a view-only type. */
int fh_hashmap_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair **out);
/* Returns an owned copy of the value of a key: 1, or 0 with None, or -1. The value of a Dict is read under its stripe
 * lock, except when a key needs a hook. */
int fh_hashmap_get(const fh_hashmap_object *map, const TVMFFIAny *key, TVMFFIAny *out);
/* Sets a key to a value. Both are owned and stolen only if the result is 0. -1 if a hook fails, or
 * FH_HASHMAP_NEEDS_HOOK or FH_HASHMAP_NO_MEMORY. Without hooks it may run under a lock. The caller passes the result
 * and *rest to fh_hashmap_finish. */
int fh_hashmap_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks, fh_hashmap_rest *rest);
/* Drops *rest and raises the error of FH_HASHMAP_NO_MEMORY: 0, -1 with an error pending, or FH_HASHMAP_NEEDS_HOOK. Hold
 * no lock. */
int fh_hashmap_finish(int rc, fh_hashmap_rest *rest);
/* Sets a key to a value. Both are owned and stolen, also on failure. Drops the displaced values. A Dict is changed
 * under its stripe lock, except when a key needs a hook. */
int fh_hashmap_put(fh_hashmap_object *map, const fh_hashmap_pair *pair);
/* As fh_hashmap_put of a Dict, unless the key exists already; *out becomes an owned copy of the key's value after the
 * call. */
int fh_hashmap_put_new(fh_hashmap_object *map, const fh_hashmap_pair *pair, TVMFFIAny *out);
/* For a caller that has searched `seen`, an earlier copy of a Dict, in its own way for a key that equals the pair's:
 * as fh_hashmap_put if `replaces`, otherwise as fh_hashmap_put_new. If the key would be added, but the Dict has got
 * another key since that could equal the pair's, it stays as it is, and the result is 0; otherwise 1 or -1. */
int fh_hashmap_put_searched(fh_hashmap_object *map, const fh_hashmap_object *seen, const fh_hashmap_pair *pair,
                            bool replaces, TVMFFIAny *out);
/* Adds an owned pair to a small table with room, such as a new table for up to 4 pairs. The key must be new. */
void fh_hashmap_add_new(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value);
/* As fh_hashmap_set with hooks and with copies of two views; drops the displaced values. */
int fh_hashmap_set_views(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value);
/* Removes a key: 1 with the pair in *old, 0 if the key does not exist, -1 if a hook fails. */
int fh_hashmap_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old);
/* Removes and drops all pairs, of a Dict under its stripe lock. */
int fh_hashmap_clear(fh_hashmap_object *map);
void fh_hashmap_drop_pair(fh_hashmap_pair *pair);

/* Iteration in order: the position of the first pair, the next position, and the pair at a position, NULL past the end.
 * Positions stay valid only while the map is read and values are written. */
static inline uint64_t fh_hashmap_begin(const fh_hashmap_object *map) {
  return fh_hashmap_is_small(map) ? 0 : map->head;
}
static inline uint64_t fh_hashmap_next(const fh_hashmap_object *map, uint64_t position) {
  return fh_hashmap_is_small(map) ? position + 1 : fh_hashmap_dense_item(map, position)->next;
}
static inline fh_hashmap_pair *fh_hashmap_at(const fh_hashmap_object *map, uint64_t position) {
  if (fh_hashmap_is_small(map)) return position < map->size ? (fh_hashmap_pair *)map->data + position : NULL;
  return position < map->slots ? &fh_hashmap_dense_item(map, position)->pair : NULL;
}

/* Whether a pair is at that position: for positions that may be older than a change. */
bool fh_hashmap_is_live(const fh_hashmap_object *map, uint64_t position);

#ifdef FH_TEST
/* Whether the invariants of the structure hold. */
int fh_hashmap_is_valid(const fh_hashmap_object *map);
#endif
