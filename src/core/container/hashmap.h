/* hashmap.h - ffi.Map and ffi.Dict.
 *
 * An object keeps its address when its table grows, because all who have a Dict see its changes. A Map is changed only
 * by its maker, before others have it. Hash and equality of keys may run foreign code (any_hash.h): hold no lock, or
 * forbid hooks. */
#ifndef FH_HASHMAP_H_
#define FH_HASHMAP_H_

#include "hashmap_object.h"

/* A new one, empty, of type kTVMFFIMap or kTVMFFIDict; NULL with an error pending. Its table has the layout, and as a
 * rule the size, that adding n_pairs one by one would leave. Twice the room would be twice the cache misses of reading
 * it. */
fh_hashmap_object *fh_hashmap_new(int32_t type_index, uint64_t n_pairs);
/* A copy in the same order, of that type. A Dict is read under its stripe lock. */
fh_hashmap_object *fh_hashmap_copy(const fh_hashmap_object *from, int32_t type_index);

/* Finds the pair of a key: 1 with the pair borrowed, 0 with NULL, -1 when a hook fails. Only its value may be written
 * to. The key must not be of a type that only views have. */
int fh_hashmap_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair **out);
/* An owned copy of the value of a key: 1, or 0 with None, or -1. Of a Dict it is read under its stripe lock, except
 * when a key needs a hook. */
int fh_hashmap_get(const fh_hashmap_object *map, const TVMFFIAny *key, TVMFFIAny *out);
/* Sets a key to a value, both owned and taken on 0 only; else -1 when a hook fails, or FH_HASHMAP_NEEDS_HOOK or
 * FH_HASHMAP_NO_MEMORY. Without hooks it may run under a lock. The result and *rest go to fh_hashmap_finish. */
int fh_hashmap_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks, fh_hashmap_rest *rest);
/* Drops *rest and raises the error of FH_HASHMAP_NO_MEMORY: 0, -1 with an error pending, or FH_HASHMAP_NEEDS_HOOK. Hold
 * no lock. */
int fh_hashmap_finish(int rc, fh_hashmap_rest *rest);
/* Sets a key to a value, both owned and taken also on failure, and drops what is displaced. Of a Dict it is done under
 * its stripe lock, except when a key needs a hook. */
int fh_hashmap_put(fh_hashmap_object *map, const fh_hashmap_pair *pair);
/* As fh_hashmap_put of a Dict, unless the key is there already; *out is an owned copy of the value that it then has. */
int fh_hashmap_put_new(fh_hashmap_object *map, const fh_hashmap_pair *pair, TVMFFIAny *out);
/* Adds an owned pair to a small table that has room, as a new one for up to 4 pairs has. The key must be new. */
void fh_hashmap_add_new(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value);
/* As fh_hashmap_set with hooks and copies of two views, dropping what is displaced. */
int fh_hashmap_set_views(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value);
/* Takes a key out: 1 with the pair in *old, 0 if it is not there, -1 when a hook fails. */
int fh_hashmap_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old);
/* Takes all pairs out, of a Dict under its stripe lock, and drops them. */
int fh_hashmap_clear(fh_hashmap_object *map);
void fh_hashmap_drop_pair(fh_hashmap_pair *pair);

/* Iteration in order: the position of the first pair, that of the next, and the pair at one, NULL past the end. Only
 * reading and writing of values leave positions valid. */
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

/* Whether a pair is at that position: for positions that may have outlived a change. */
int fh_hashmap_is_live(const fh_hashmap_object *map, uint64_t position);

#ifdef FH_TEST
/* Whether the structure holds together. */
int fh_hashmap_is_valid(const fh_hashmap_object *map);
#endif

#endif /* FH_HASHMAP_H_ */
