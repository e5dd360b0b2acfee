/* globals_map.c - ffi.Map* and ffi.Dict*. Both have the same functions, which share one body with the type's index as a
 * parameter; functions that change a container exist for Dicts only. */
#include "core/container/hashmap.h"
#include "core/container/stripe.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/platform/mem.h"
#include "globals_entry.h"

/* Heads of functions whose first argument is a Map or a Dict, `map`. */
#define MAP(...) FH_GLOBAL_OF(fh_hashmap_object, map, kTVMFFIMap, __VA_ARGS__)
#define DICT(...) FH_GLOBAL_OF(fh_hashmap_object, map, kTVMFFIDict, __VA_ARGS__)

/* ---- Locking. A Map never changes. A Dict is locked, and no hooks run under the lock. An operation that needs a hook,
 * because its key or a key of the Dict has one, runs again without the lock. Programs with such keys must synchronize
 * their threads, as in C++. */

static void lock(const fh_hashmap_object *map) {
  if (map->header.type_index == kTVMFFIDict) fh_stripe_lock(map);
}
static void unlock(const fh_hashmap_object *map) {
  if (map->header.type_index == kTVMFFIDict) fh_stripe_unlock(map);
}

/* Returns an owned copy of the value of a key: 1, 0 or -1. Tables accept no view-only keys, so such a key is converted
 * to an owned one first. */
static int get_value(const fh_hashmap_object *map, const TVMFFIAny *key_view, TVMFFIAny *out) {
  TVMFFIAny owned;
  if (!fh_any_is_view_only(key_view)) return fh_hashmap_get(map, key_view, out);
  if (fh_any_own(key_view, &owned) != 0) return -1;
  int found = fh_hashmap_get(map, &owned, out);
  fh_any_drop(&owned);
  return found;
}

/* Makes an owned pair of two views. */
static int own_pair(const TVMFFIAny *key, const TVMFFIAny *value, fh_hashmap_pair *pair) {
  if (fh_any_own(key, &pair->key) != 0) return -1;
  if (fh_any_own(value, &pair->value) == 0) return 0;
  fh_any_drop(&pair->key);
  return -1;
}

/* ---- Shared by Map and Dict ---- */

/* ffi.Map(key, value, ...) -> Map; ffi.Dict(key, value, ...) -> Dict. The new container is not shared yet, so no lock
 * is taken. */
static int make_map(const char *name, int32_t type_index, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (n_args % 2 != 0) {
    return fh_error_raise(FH_TYPE_ERROR,
                          "Mismatched number of arguments when calling: `%s`. Expected pairs of key and value but got "
                          "%d arguments",
                          name, (int)n_args);
  }
  fh_hashmap_object *map = fh_hashmap_new(type_index, (uint64_t)n_args / 2);
  if (map == NULL) return -1;
  for (int32_t i = 0; i < n_args; i += 2) {
    if (fh_hashmap_set_views(map, &args[i], &args[i + 1]) != 0) {
      fh_object_release(map);
      return -1;
    }
  }
  *result = fh_any_object(map);
  return 0;
}

/* ffi.MapSize(map) -> int */
static int get_size(const fh_hashmap_object *map, TVMFFIAny *result) {
  fh_shared_note note = fh_stripe_read(map);
  *result = fh_any_int(fh_hashmap_size(map));
  fh_stripe_read_end(map, note);
  return 0;
}

/* ffi.MapCount(map, key) -> 1 or 0, an int as in the reference */
static int has_key(const fh_hashmap_object *map, const TVMFFIAny *key, TVMFFIAny *result) {
  TVMFFIAny value;
  int found = get_value(map, key, &value);
  if (found < 0) return -1;
  if (found) fh_any_drop(&value);
  *result = fh_any_int(found);
  return 0;
}

static int give_missing(TVMFFIAny *result) {
  TVMFFIAny missing = fh_any_object(fh_sentinel_missing());
  fh_any_copy(&missing, result);
  return 0;
}

/* ffi.MapGetItem(map, key) -> value. or_missing: whether a missing key gives the sentinel MISSING (as in
 * ffi.MapGetItemOrMissing), or a KeyError. */
static int get_item(const fh_hashmap_object *map, const TVMFFIAny *key, bool or_missing, TVMFFIAny *result) {
  int found = get_value(map, key, result);
  if (found < 0) return -1;
  if (found) return 0;
  if (!or_missing) return fh_error_raise(FH_KEY_ERROR, "Expected a key of the map but it has no such key");
  return give_missing(result);
}

/* ---- Iteration: a Function of one command, which keeps the container alive ----
 *
 * The position is the number of hashmap.h, so changes of a Dict are harmless: the iterator may skip a pair or return
 * one twice, but it never reads freed memory. Several threads may share an iterator. */

/* The closure. `position` is guarded by the container's stripe lock, also for a Map. */
typedef struct {
  fh_hashmap_object *map;
  uint64_t position;
} iterator;

/* The commands are the ABI's. ADVANCE returns whether there is a pair at the new position. */
enum { GET_KEY = 0, GET_VALUE = 1, ADVANCE = 2 };

/* Under the lock. The pair at the iterator; NULL past the end, and if a Dict that has shrunk or was rebuilt has no pair
 * there. */
static fh_hashmap_pair *pair_at(const iterator *it) {
  const fh_hashmap_object *map = it->map;
  if (map->size == 0) return NULL;
  return fh_hashmap_is_live(map, it->position) ? fh_hashmap_at(map, it->position) : NULL;
}

FH_CODE(iterator_call) {
  const char *name = "ffi.MapForwardIterFunctor.<iterator>";
  iterator *it = (iterator *)self;
  int64_t command;
  if (fh_function_check_count(name, n_args, 1) != 0 || fh_function_arg_int(name, args, 0, &command) != 0) return -1;
  fh_stripe_lock(it->map); /* for a Map too: it guards the position */
  fh_hashmap_pair *pair = pair_at(it);
  if (pair != NULL && command == ADVANCE) {
    it->position = fh_hashmap_next(it->map, it->position);
    *result = fh_any_bool(pair_at(it) != NULL);
  } else if (pair != NULL) {
    fh_any_copy(command == GET_KEY ? &pair->key : &pair->value, result);
  }
  fh_stripe_unlock(it->map);
  if (pair == NULL && command == ADVANCE) *result = fh_any_bool(0);
  if (pair == NULL && command != ADVANCE) {
    return fh_error_raise(FH_INDEX_ERROR, "Expected an iterator at an entry but it is past the end");
  }
  return 0;
}

static void iterator_end(void *self) {
  fh_object_release(((iterator *)self)->map);
  fh_mem_free(self);
}

/* ffi.MapForwardIterFunctor(map) -> Function(command) */
static int iterate(fh_hashmap_object *map, TVMFFIAny *result) {
  TVMFFIObjectHandle func;
  iterator *it = (iterator *)fh_mem_alloc(sizeof(*it));
  if (it == NULL) return fh_error_raise_no_memory();
  it->map = map;
  if (fh_function_new(it, iterator_call, iterator_end, &func) != 0) {
    fh_mem_free(it);
    return -1;
  }
  fh_object_retain(map);
  lock(map);
  it->position = fh_hashmap_begin(map);
  unlock(map);
  *result = fh_any_object(func);
  return 0;
}

/* ---- The functions ---- */

FH_GLOBAL_OPEN(map_new, "ffi.Map", "ffi.Function") { return make_map(name, kTVMFFIMap, args, n_args, result); }
MAP(map_size, "ffi.MapSize", 1, "int(ffi.Map)") { return get_size(map, result); }
MAP(map_count, "ffi.MapCount", 2, "int(ffi.Map, Any)") { return has_key(map, &args[1], result); }
MAP(map_get_item, "ffi.MapGetItem", 2, "Any(ffi.Map, Any)") { return get_item(map, &args[1], false, result); }
MAP(map_get_item_or_missing, "ffi.MapGetItemOrMissing", 2, "Any(ffi.Map, Any)") {
  return get_item(map, &args[1], true, result);
}
MAP(map_iterate, "ffi.MapForwardIterFunctor", 1, "ffi.Function(ffi.Map)") { return iterate(map, result); }
FH_GLOBAL_OPEN(dict_new, "ffi.Dict", "ffi.Function") { return make_map(name, kTVMFFIDict, args, n_args, result); }
DICT(dict_size, "ffi.DictSize", 1, "int(ffi.Dict)") { return get_size(map, result); }
DICT(dict_count, "ffi.DictCount", 2, "int(ffi.Dict, Any)") { return has_key(map, &args[1], result); }
DICT(dict_get_item, "ffi.DictGetItem", 2, "Any(ffi.Dict, Any)") { return get_item(map, &args[1], false, result); }
DICT(dict_get_item_or_missing, "ffi.DictGetItemOrMissing", 2, "Any(ffi.Dict, Any)") {
  return get_item(map, &args[1], true, result);
}
DICT(dict_iterate, "ffi.DictForwardIterFunctor", 1, "ffi.Function(ffi.Dict)") { return iterate(map, result); }

/* ffi.DictSetItem(dict, key, value) */
DICT(dict_set_item, "ffi.DictSetItem", 3, "None(ffi.Dict<Any, Any>, Any, Any)") {
  fh_hashmap_pair pair;
  if (own_pair(&args[1], &args[2], &pair) != 0) return -1;
  return fh_hashmap_put(map, &pair);
}

/* ffi_hpy.DictSetDefault(dict, key, value) -> the value that the key has after the call: the old one, if it existed.
 * With separate calls for getting and setting, another thread could change the key in between. */
DICT(dict_set_default, "ffi_hpy.DictSetDefault", 3, NULL) {
  fh_hashmap_pair pair;
  if (own_pair(&args[1], &args[2], &pair) != 0) return -1;
  return fh_hashmap_put_new(map, &pair, result);
}

/* ffi_hpy.DictPutSearched(dict, seen, key, value, replaces) -> the value that the key has after the call, or `seen` if
 * the caller must search again: for keys that Python's `==` compares. The caller has searched `seen`, a Map with the
 * entries that the Dict had at one moment. A new key is set only if the Dict has got no other key since that may equal
 * it. */
DICT(dict_put_searched, "ffi_hpy.DictPutSearched", 5, NULL) {
  fh_hashmap_pair pair;
  TVMFFIObject *seen;
  int64_t replaces;
  if (fh_function_arg_object(name, args, 1, kTVMFFIMap, &seen) != 0) return -1;
  if (fh_function_arg_int(name, args, 4, &replaces) != 0) return -1;
  if (own_pair(&args[2], &args[3], &pair) != 0) return -1;
  int rc = fh_hashmap_put_searched(map, (const fh_hashmap_object *)seen, &pair, replaces != 0, result);
  if (rc == 0) fh_any_copy(&args[1], result);
  return rc < 0 ? -1 : 0;
}

/* Removes the pair of a key from a Dict: 1 with an owned pair in *old, 0 if there is none, or -1. */
static int take_pair(fh_hashmap_object *map, const TVMFFIAny *key_view, fh_hashmap_pair *old) {
  TVMFFIAny key;
  if (fh_any_own(key_view, &key) != 0) return -1;
  lock(map);
  int found = fh_hashmap_erase(map, &key, FH_HASHMAP_NO_HOOKS, old);
  unlock(map);
  if (found == FH_HASHMAP_NEEDS_HOOK) found = fh_hashmap_erase(map, &key, FH_HASHMAP_HOOKS, old);
  fh_any_drop(&key);
  return found;
}

/* ffi.DictErase(dict, key): does nothing if the key does not exist. */
DICT(dict_erase, "ffi.DictErase", 2, "None(ffi.Dict<Any, Any>, Any)") {
  fh_hashmap_pair old;
  int found = take_pair(map, &args[1], &old);
  if (found == 1) fh_hashmap_drop_pair(&old);
  return found < 0 ? -1 : 0;
}

/* ffi_hpy.DictPop(dict, key) -> value, or the sentinel MISSING. With separate calls for getting and erasing, another
 * thread could change the key in between. */
DICT(dict_pop, "ffi_hpy.DictPop", 2, NULL) {
  fh_hashmap_pair old;
  int found = take_pair(map, &args[1], &old);
  if (found < 0) return -1;
  if (found == 0) return give_missing(result);
  fh_any_drop(&old.key);
  *result = old.value;
  return 0;
}

/* ffi.DictClear(dict) */
DICT(dict_clear, "ffi.DictClear", 1, "None(ffi.Dict<Any, Any>)") { return fh_hashmap_clear(map); }

const fh_globals_item fh_globals_map[] = {&map_new,
                                          &map_size,
                                          &map_count,
                                          &map_get_item,
                                          &map_get_item_or_missing,
                                          &map_iterate,
                                          &dict_new,
                                          &dict_size,
                                          &dict_count,
                                          &dict_get_item,
                                          &dict_get_item_or_missing,
                                          &dict_set_item,
                                          &dict_erase,
                                          &dict_pop,
                                          &dict_set_default,
                                          &dict_put_searched,
                                          &dict_clear,
                                          &dict_iterate,
                                          NULL};
