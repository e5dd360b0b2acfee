/* hashmap.c - ffi.Map and ffi.Dict objects: creation, destruction, the small layout, and the choice of the layout.
 *
 * Map and Dict have the same layout; a shared Map does not change, a shared Dict changes under its stripe lock. A table
 * begins as a small array, which is searched linearly, and becomes dense (hashmap_dense.c) when a key is set while it
 * has four pairs. Keys may have hooks, which are foreign code. So an operation on a Dict first runs under the lock with
 * hooks forbidden; if a key needs a hook, the operation runs again with hooks and without the lock. */
#include "hashmap.h"

#include "core/object/any_hash.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/reflect.h"
#include "core/platform/mem.h"
#include "hashmap_dense.h"
#include "stripe.h"

FH_STATIC_ASSERT(offsetof(fh_hashmap_object, data) == 24, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, size) == 32, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, slots) == 40, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, data_deleter) == 48, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, fib_shift) == 56, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, head) == 64, "ABI");
FH_STATIC_ASSERT(offsetof(fh_hashmap_object, tail) == 72, "ABI");
FH_STATIC_ASSERT(sizeof(fh_hashmap_object) == 80, "ABI");
FH_STATIC_ASSERT(sizeof(fh_hashmap_pair) == 32, "ABI");

/* The pairs of a small object overlap the last three members of a dense one. So the object never moves when it becomes
 * dense, but its block must be large enough for these members. */
#define SMALL_HEADER offsetof(fh_hashmap_object, fib_shift) /* pairs start here in a small object */
FH_STATIC_ASSERT(SMALL_HEADER + FH_HASHMAP_SMALL_INIT * sizeof(fh_hashmap_pair) >= sizeof(fh_hashmap_object),
                 "a small object turns dense in place");

static uint64_t small_room(const fh_hashmap_object *map) { return map->slots & ~FH_HASHMAP_SMALL_TAG; }
static fh_hashmap_pair *small_pairs(const fh_hashmap_object *map) { return (fh_hashmap_pair *)map->data; }

/* ---- Locking. A shared Map does not change, so only a Dict needs a lock ---- */

static void lock_dict(const fh_hashmap_object *map) {
  if (map->header.type_index == kTVMFFIDict) fh_stripe_lock(map);
}
static void unlock_dict(const fh_hashmap_object *map) {
  if (map->header.type_index == kTVMFFIDict) fh_stripe_unlock(map);
}

/* ---- Creation and destruction ---- */

void fh_hashmap_drop_pair(fh_hashmap_pair *pair) {
  fh_any_drop(&pair->key);
  fh_any_drop(&pair->value);
}

static void end_map(void *self) {
  fh_hashmap_object *map = (fh_hashmap_object *)self;
  uint64_t position = fh_hashmap_begin(map);
  for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL;) {
    position = fh_hashmap_next(map, position); /* before the drop, which may run foreign code */
    fh_hashmap_drop_pair(pair);
  }
  if (map->data_deleter != NULL) map->data_deleter(map->data);
  /* The object is now an empty small table. */
  map->data = NULL;
  map->data_deleter = NULL;
  map->size = 0;
  map->slots = FH_HASHMAP_SMALL_TAG;
}

/* has_objects is 1 for every map: the pairs are not searched for objects. */
static void delete_map(void *self, int flags);
static const fh_object_owner owner = {delete_map, end_map};
static void delete_map(void *self, int flags) { fh_object_delete_owner(&owner, self, flags, 1); }

/* NULL without memory, with no error pending. Never smaller than FH_HASHMAP_SMALL_INIT pairs: then the block has room
 * for the members of a dense table. */
static fh_hashmap_object *new_small(int32_t type_index, uint64_t n_slots) {
  if (n_slots < FH_HASHMAP_SMALL_INIT) n_slots = FH_HASHMAP_SMALL_INIT;
  fh_hashmap_object *map = (fh_hashmap_object *)fh_mem_alloc(SMALL_HEADER + (size_t)n_slots * sizeof(fh_hashmap_pair));
  if (map == NULL) return NULL;
  fh_object_init(&map->header, type_index, delete_map);
  map->data = (char *)map + SMALL_HEADER;
  map->size = 0;
  map->slots = n_slots | FH_HASHMAP_SMALL_TAG;
  map->data_deleter = NULL;
  return map;
}

/* NULL without memory, with no error pending. The table has the smallest power of two of slots, from 8 on, that holds
 * n_pairs below the load limit. */
static fh_hashmap_object *new_dense(int32_t type_index, uint64_t n_pairs) {
  uint64_t n_slots = 2 * FH_HASHMAP_SMALL_MAX;
  while (n_slots * 99 < n_pairs * 100) n_slots *= 2; /* 0.99 is the ABI's load limit */
  fh_hashmap_object *map = (fh_hashmap_object *)fh_mem_alloc(sizeof(*map));
  if (map == NULL) return NULL;
  fh_object_init(&map->header, type_index, delete_map);
  if (fh_hashmap_dense_init(map, n_slots / 2) != 0) { /* fh_hashmap_dense_init makes twice as many slots */
    fh_mem_free(map);
    return NULL;
  }
  return map;
}

fh_hashmap_object *fh_hashmap_new(int32_t type_index, uint64_t n_pairs) {
  fh_hashmap_object *map =
      n_pairs <= FH_HASHMAP_SMALL_MAX ? new_small(type_index, n_pairs) : new_dense(type_index, n_pairs);
  if (map == NULL) fh_error_raise_no_memory();
  return map;
}

/* Makes an object with the bytes of another one's pairs, without counting references; NULL without memory. Safe under a
 * lock. */
static fh_hashmap_object *copy_bytes(const fh_hashmap_object *from, int32_t type_index) {
  fh_hashmap_object *map;
  if (fh_hashmap_is_small(from)) {
    map = new_small(type_index, from->size);
    if (map == NULL) return NULL;
    memcpy(map->data, from->data, (size_t)from->size * sizeof(fh_hashmap_pair));
    map->size = from->size;
    return map;
  }
  map = (fh_hashmap_object *)fh_mem_alloc(sizeof(*map));
  if (map == NULL) return NULL;
  fh_object_init(&map->header, type_index, delete_map);
  if (fh_hashmap_dense_copy(from, map) == 0) return map;
  fh_mem_free(map);
  return NULL;
}

static void retain_pairs(const fh_hashmap_object *map) {
  uint64_t position = fh_hashmap_begin(map);
  for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL;) {
    if (fh_any_is_object(&pair->key)) fh_object_retain(pair->key.v_obj);
    if (fh_any_is_object(&pair->value)) fh_object_retain(pair->value.v_obj);
    position = fh_hashmap_next(map, position);
  }
}

fh_hashmap_object *fh_hashmap_copy(const fh_hashmap_object *from, int32_t type_index) {
  lock_dict(from);
  fh_hashmap_object *map = copy_bytes(from, type_index);
  if (map != NULL) retain_pairs(map); /* under the lock, while `from` keeps the pairs alive */
  unlock_dict(from);
  if (map == NULL) fh_error_raise_no_memory();
  return map;
}

/* ---- Small tables ---- */

/* As fh_hashmap_dense_find, with an index instead of a slot. Computes no hash. */
static int small_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *index) {
  for (uint64_t i = 0; i < map->size; ++i) {
    int equal, rc = fh_hashmap_key_equal(&small_pairs(map)[i].key, key, hooks, &equal);
    if (rc != 0) return rc;
    if (equal) {
      *index = i;
      return 1;
    }
  }
  return 0;
}

/* Moves the pairs to a buffer with room for `n_slots`. The old place is the object's own block, which cannot grow
 * because the object keeps its address, or a smaller buffer. */
static int small_grow(fh_hashmap_object *map, uint64_t n_slots, fh_mem_aside *aside) {
  fh_hashmap_pair *pairs = (fh_hashmap_pair *)fh_mem_alloc((size_t)n_slots * sizeof(*pairs));
  if (pairs == NULL) return FH_HASHMAP_NO_MEMORY;
  memcpy(pairs, map->data, (size_t)map->size * sizeof(*pairs));
  fh_mem_put_aside(aside, map->data, map->data_deleter);
  map->data = pairs;
  map->data_deleter = fh_mem_free;
  map->slots = n_slots | FH_HASHMAP_SMALL_TAG;
  return 0;
}

/* Makes a full small table dense, in place. The dense table is made outside of the object, because its members overlap
 * the pairs of the small one. 0, or on failure the result of fh_hashmap_dense_set or FH_HASHMAP_NO_MEMORY, with the
 * small table unchanged. */
static int small_to_dense(fh_hashmap_object *map, fh_hashmap_hooks hooks, fh_mem_aside *aside) {
  fh_hashmap_object dense; /* only the members after the header are used */
  memset(&dense, 0, sizeof(dense));
  if (fh_hashmap_dense_init(&dense, map->size) != 0) return FH_HASHMAP_NO_MEMORY;
  for (uint64_t i = 0; i < map->size; ++i) {
    fh_hashmap_rest none; /* unused: the keys differ, and this file made the buffers */
    int rc = fh_hashmap_dense_set(&dense, &small_pairs(map)[i], hooks, &none);
    if (rc != 0) {
      dense.data_deleter(dense.data); /* the small table still owns the pairs */
      return rc;
    }
  }
  fh_mem_put_aside(aside, map->data, map->data_deleter);
  /* The header stays: other threads may be changing its reference count. */
  memcpy((char *)map + sizeof(map->header), (char *)&dense + sizeof(map->header), sizeof(dense) - sizeof(map->header));
  return 0;
}

/* fh_hashmap_set for a small table; the table may become dense. */
static int small_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks,
                     fh_hashmap_rest *rest) {
  uint64_t i;
  int rc;
  /* A full table becomes dense even if it has the key. C++ clients do that, and the order would show a difference: a
   * dense table moves the key to the end. */
  if (map->size >= FH_HASHMAP_SMALL_MAX) {
    rc = small_to_dense(map, hooks, &rest->buffer);
    return rc != 0 ? rc : fh_hashmap_dense_set(map, pair, hooks, rest);
  }
  rc = small_find(map, &pair->key, hooks, &i);
  if (rc < 0) return rc;
  if (rc == 1) {
    rest->pair.key = pair->key; /* the table keeps the first key */
    rest->pair.value = small_pairs(map)[i].value;
    small_pairs(map)[i].value = pair->value;
    return 0;
  }
  if (map->size == small_room(map)) {
    uint64_t doubled = map->size < FH_HASHMAP_SMALL_INIT ? FH_HASHMAP_SMALL_INIT : FH_HASHMAP_SMALL_MAX;
    if ((rc = small_grow(map, doubled, &rest->buffer)) != 0) return rc;
  }
  small_pairs(map)[map->size++] = *pair;
  return 0;
}

/* ---- Both layouts ---- */

/* Inline, as the greater part of fh_hashmap_get, the hot path. */
FH_INLINE int find_position(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks,
                            uint64_t *position) {
  return fh_hashmap_is_small(map) ? small_find(map, key, hooks, position)
                                  : fh_hashmap_dense_find(map, key, hooks, position);
}

int fh_hashmap_find(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair **out) {
  uint64_t position;
  int found = find_position(map, key, hooks, &position);
  *out = found == 1 ? fh_hashmap_at(map, position) : NULL;
  return found;
}

/* The caller holds the lock of a Dict, unless hooks are allowed. */
FH_INLINE int get_with(const fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, TVMFFIAny *out) {
  uint64_t position;
  int found = find_position(map, key, hooks, &position);
  if (found == 1) fh_any_copy(&fh_hashmap_at(map, position)->value, out);
  return found;
}

int fh_hashmap_get(const fh_hashmap_object *map, const TVMFFIAny *key, TVMFFIAny *out) {
  *out = fh_any_none();
  /* A Map needs no lock, so its hooks may run at once. */
  if (map->header.type_index != kTVMFFIDict) return get_with(map, key, FH_HASHMAP_HOOKS, out);
  fh_shared_note note = fh_stripe_read(map);
  int found = get_with(map, key, FH_HASHMAP_NO_HOOKS, out); /* no foreign code under the lock */
  fh_stripe_read_end(map, note);
  return found == FH_HASHMAP_NEEDS_HOOK ? get_with(map, key, FH_HASHMAP_HOOKS, out) : found;
}

/* Only the deleter says whether a buffer was put aside (fh_mem_free_aside). */
static void init_rest(fh_hashmap_rest *rest) {
  rest->pair.key = rest->pair.value = fh_any_none();
  rest->buffer.deleter = NULL;
}

int fh_hashmap_set(fh_hashmap_object *map, const fh_hashmap_pair *pair, fh_hashmap_hooks hooks, fh_hashmap_rest *rest) {
  init_rest(rest);
  return fh_hashmap_is_small(map) ? small_set(map, pair, hooks, rest) : fh_hashmap_dense_set(map, pair, hooks, rest);
}

int fh_hashmap_finish(int rc, fh_hashmap_rest *rest) {
  fh_hashmap_drop_pair(&rest->pair);
  fh_mem_free_aside(&rest->buffer);
  return rc == FH_HASHMAP_NO_MEMORY ? fh_error_raise_no_memory() : rc;
}

void fh_hashmap_add_new(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value) {
  fh_hashmap_pair *pair = &small_pairs(map)[map->size++];
  pair->key = *key;
  pair->value = *value;
}

int fh_hashmap_put(fh_hashmap_object *map, const fh_hashmap_pair *pair) {
  fh_hashmap_pair taken = *pair;
  fh_hashmap_rest rest;
  /* A Dict is first changed under its lock. A Map, and a Dict whose key needs a hook, is changed without a lock. */
  int rc = FH_HASHMAP_NEEDS_HOOK;
  if (map->header.type_index == kTVMFFIDict) {
    lock_dict(map);
    rc = fh_hashmap_set(map, &taken, FH_HASHMAP_NO_HOOKS, &rest);
    unlock_dict(map);
    rc = fh_hashmap_finish(rc, &rest);
  }
  if (rc == FH_HASHMAP_NEEDS_HOOK) {
    rc = fh_hashmap_set(map, &taken, FH_HASHMAP_HOOKS, &rest);
    rc = fh_hashmap_finish(rc, &rest);
  }
  if (rc != 0) fh_hashmap_drop_pair(&taken);
  return rc;
}

/* Whether a key is an object that is not text. */
static bool is_other_object(const TVMFFIAny *key) {
  return fh_any_is_object(key) && key->type_index != kTVMFFIStr && key->type_index != kTVMFFIBytes;
}

/* Whether each object among the keys is also a key of `seen`. Text is compared by its content, and objects with hooks
 * by the hooks, so these need no search by the caller. */
static bool has_only_seen(const fh_hashmap_object *map, const fh_hashmap_object *seen) {
  uint64_t position = fh_hashmap_begin(map), unused;
  for (const fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL;) {
    bool is_other = is_other_object(&pair->key);
    if (is_other && find_position(seen, &pair->key, FH_HASHMAP_NO_HOOKS, &unused) == 0) return false;
    position = fh_hashmap_next(map, position);
  }
  return true;
}

enum { FOUND = 1, HAS_UNSEEN = 2 };

/* Sets the key of a pair, or only finds the key if it exists and the value must not be replaced: FOUND, or the result
 * of fh_hashmap_set, with an owned copy of the key's value. HAS_UNSEEN if this key and another key are new. */
static int find_or_set(fh_hashmap_object *map, const fh_hashmap_object *seen, const fh_hashmap_pair *pair,
                       bool replaces, fh_hashmap_hooks hooks, TVMFFIAny *out, fh_hashmap_rest *rest) {
  uint64_t position;
  init_rest(rest);
  int rc = find_position(map, &pair->key, hooks, &position);
  if (rc == FOUND && !replaces) fh_any_copy(&fh_hashmap_at(map, position)->value, out);
  if (rc < 0 || (rc == FOUND && !replaces)) return rc;
  if (rc == 0 && seen != NULL && !has_only_seen(map, seen)) return HAS_UNSEEN;
  if ((rc = fh_hashmap_set(map, pair, hooks, rest)) == 0) fh_any_copy(&pair->value, out);
  return rc;
}

int fh_hashmap_put_searched(fh_hashmap_object *map, const fh_hashmap_object *seen, const fh_hashmap_pair *pair,
                            bool replaces, TVMFFIAny *out) {
  fh_hashmap_pair taken = *pair;
  fh_hashmap_rest rest;
  lock_dict(map);
  int rc = find_or_set(map, seen, &taken, replaces, FH_HASHMAP_NO_HOOKS, out, &rest);
  unlock_dict(map);
  rc = fh_hashmap_finish(rc, &rest);
  if (rc == FH_HASHMAP_NEEDS_HOOK) {
    rc = find_or_set(map, seen, &taken, replaces, FH_HASHMAP_HOOKS, out, &rest);
    rc = fh_hashmap_finish(rc, &rest);
  }
  if (rc != 0) fh_hashmap_drop_pair(&taken);
  return rc < 0 ? -1 : rc != HAS_UNSEEN;
}

int fh_hashmap_put_new(fh_hashmap_object *map, const fh_hashmap_pair *pair, TVMFFIAny *out) {
  return fh_hashmap_put_searched(map, NULL, pair, false, out) < 0 ? -1 : 0;
}

int fh_hashmap_set_views(fh_hashmap_object *map, const TVMFFIAny *key, const TVMFFIAny *value) {
  fh_hashmap_pair pair;
  fh_hashmap_rest rest;
  if (fh_any_own(key, &pair.key) != 0) return -1;
  if (fh_any_own(value, &pair.value) != 0) {
    fh_any_drop(&pair.key);
    return -1;
  }
  int rc = fh_hashmap_set(map, &pair, FH_HASHMAP_HOOKS, &rest);
  rc = fh_hashmap_finish(rc, &rest);
  if (rc != 0) fh_hashmap_drop_pair(&pair);
  return rc;
}

int fh_hashmap_erase(fh_hashmap_object *map, const TVMFFIAny *key, fh_hashmap_hooks hooks, fh_hashmap_pair *old) {
  if (!fh_hashmap_is_small(map)) return fh_hashmap_dense_erase(map, key, hooks, old);
  uint64_t i;
  int found = small_find(map, key, hooks, &i);
  if (found != 1) return found;
  fh_hashmap_pair *pair = &small_pairs(map)[i];
  *old = *pair;
  map->size -= 1;
  memmove(pair, pair + 1, (size_t)(map->size - i) * sizeof(*pair));
  return 1;
}

/* Under the lock. Empties the table: *out becomes an array of its *n pairs, NULL if there are none. -1 without memory,
 * with the table unchanged. A dense table stays dense, as in C++ clients. */
static int take_pairs(fh_hashmap_object *map, fh_hashmap_pair **out, int64_t *n) {
  *out = NULL;
  *n = 0;
  if (map->size == 0) return 0;
  fh_hashmap_pair *pairs = (fh_hashmap_pair *)fh_mem_alloc((size_t)map->size * sizeof(*pairs));
  if (pairs == NULL) return -1;
  uint64_t position = fh_hashmap_begin(map);
  for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL; ++*n) {
    pairs[*n] = *pair;
    position = fh_hashmap_next(map, position);
  }
  *out = pairs;
  map->size = 0;
  if (!fh_hashmap_is_small(map)) fh_hashmap_dense_forget(map); /* the table keeps its room */
  return 0;
}

int fh_hashmap_clear(fh_hashmap_object *map) {
  fh_hashmap_pair *pairs;
  int64_t n;
  lock_dict(map);
  int rc = take_pairs(map, &pairs, &n);
  unlock_dict(map);
  if (rc != 0) return fh_error_raise_no_memory();
  /* Without the lock: dropping runs foreign code, which may use this Dict. */
  for (int64_t i = 0; i < n; ++i) fh_hashmap_drop_pair(&pairs[i]);
  fh_mem_free(pairs);
  return 0;
}

/* ---- Order ---- */

bool fh_hashmap_is_live(const fh_hashmap_object *map, uint64_t position) {
  return fh_hashmap_is_small(map) ? position < map->size : fh_hashmap_dense_is_used(map, position);
}

#ifdef FH_TEST
int fh_hashmap_is_valid(const fh_hashmap_object *map) {
  if (fh_hashmap_is_small(map)) return map->size <= small_room(map) && small_room(map) <= FH_HASHMAP_SMALL_MAX;
  return fh_hashmap_dense_is_valid(map);
}
#endif
