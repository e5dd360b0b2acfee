/* test_hashmap.c - Map and Dict: both table layouts against a model, and the ffi.Map*, ffi.Dict* globals. */
#include "core/container/hashmap.h"
#include "core/object/error.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include "core/object/object_new.h"
#include "support/calls.h"

/* ---- Random operations against an array in the order the ABI promises ---- */

#define MAX_KEYS 200
typedef struct {
  int64_t keys[MAX_KEYS], values[MAX_KEYS];
  int n, is_dense;
} model;

static uint32_t random_state;
static uint32_t random_next(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

static int model_find(const model *m, int64_t key) {
  for (int i = 0; i < m->n; ++i) {
    if (m->keys[i] == key) return i;
  }
  return -1;
}
static void model_erase(model *m, int at) {
  m->n -= 1;
  memmove(m->keys + at, m->keys + at + 1, (size_t)(m->n - at) * sizeof(*m->keys));
  memmove(m->values + at, m->values + at + 1, (size_t)(m->n - at) * sizeof(*m->values));
}
static void model_set(model *m, int64_t key, int64_t value) {
  int at = model_find(m, key);
  if (m->n == 4) m->is_dense = 1;
  if (at >= 0 && !m->is_dense) {
    m->values[at] = value;
    return;
  }
  if (at >= 0) model_erase(m, at);
  m->keys[m->n] = key;
  m->values[m->n++] = value;
}

/* Keys of three kinds: integers, short strings and long strings. `spread` controls how often they collide. */
static TVMFFIAny key_of(int64_t number) {
  TVMFFIAny key;
  char text[40];
  if (number % 3 == 0) return i64(number * 65536);
  snprintf(text, sizeof(text), number % 3 == 1 ? "k%d" : "a longer key of number %d", (int)number);
  expect_int(fh_str_new(text, strlen(text), &key), 0);
  return key;
}

static void check_same(const fh_hashmap_object *map, const model *m) {
  int i = 0;
  expect(fh_hashmap_is_valid(map));
  expect_int(fh_hashmap_size(map), m->n);
  uint64_t position = fh_hashmap_begin(map);
  for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL; ++i) {
    expect(i < m->n);
    expect_int(pair->value.v_int64, m->values[i]);
    position = fh_hashmap_next(map, position);
  }
  expect_int(i, m->n);
}

static void random_walk(int32_t type_index, uint32_t seed, int n_keys) {
  model m = {{0}, {0}, 0, 0};
  fh_hashmap_object *map = fh_hashmap_new(type_index, 0);
  random_state = seed;
  for (int step = 0; step < 600; ++step) {
    int64_t number = random_next() % (uint32_t)n_keys;
    TVMFFIAny key = key_of(number), value = i64(step);
    fh_hashmap_pair old, *pair;
    int known = model_find(&m, number) >= 0;
    expect_int(fh_hashmap_find(map, &key, FH_HASHMAP_HOOKS, &pair), known);
    if (random_next() % 5 < 3) {
      expect_int(fh_hashmap_set_views(map, &key, &value), 0);
      model_set(&m, number, step);
    } else {
      expect_int(fh_hashmap_erase(map, &key, FH_HASHMAP_HOOKS, &old), known);
      if (known) fh_hashmap_drop_pair(&old);
      if (known) model_erase(&m, model_find(&m, number));
    }
    fh_any_drop(&key);
    check_same(map, &m);
  }
  fh_hashmap_object *copy = fh_hashmap_copy(map, kTVMFFIMap);
  fh_object_release(map);
  check_same(copy, &m);
  fh_object_release(copy);
}

TEST(hashmap_agrees_with_a_model) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    random_walk(seed % 2 ? kTVMFFIDict : kTVMFFIMap, seed, seed % 3 == 0 ? 6 : seed % 3 == 1 ? 40 : MAX_KEYS);
  }
}

TEST(dict_keeps_its_identity_when_it_grows) {
  TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS);
  for (int i = 0; i < 3000; ++i) call_int("ffi.DictSetItem", ARGS(dict, i64(i), i64(i * 2)));
  expect_int(call_int("ffi.DictSize", ARGS(dict)), 3000);
  for (int i = 0; i < 3000; ++i) expect_int(call_int("ffi.DictGetItem", ARGS(dict, i64(i))), i * 2);
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  for (int i = 0; i < 3000; i += 2) call_int("ffi.DictErase", ARGS(dict, i64(i)));
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  expect_int(call_int("ffi.DictCount", ARGS(dict, i64(0))), 0);
  expect_int(call_int("ffi.DictCount", ARGS(dict, i64(1))), 1);
  call_int("ffi.DictClear", ARGS(dict));
  expect_repr(dict, "{}");
  call_int("ffi.DictSetItem", ARGS(dict, raw("again"), i64(1)));
  expect_repr(dict, "{\"again\": 1}");
  fh_any_drop(&dict);
}

TEST(map_functions_find_and_miss) {
  TVMFFIAny map = call_ok("ffi.Map", ARGS(raw("one"), i64(1), raw("a longer second key"), i64(2), raw("one"), i64(3)));
  expect_repr(map, "{\"one\": 3, \"a longer second key\": 2}");
  expect_int(call_int("ffi.MapSize", ARGS(map)), 2);
  expect_int(call_int("ffi.MapCount", ARGS(map, raw("one"))), 1);
  expect_int(call_int("ffi.MapGetItem", ARGS(map, raw("a longer second key"))), 2);
  expect_call_raises("KeyError", "Expected a key of the map", "ffi.MapGetItem", ARGS(map, i64(1)));
  TVMFFIAny missing = call_ok("ffi.MapGetItemOrMissing", ARGS(map, i64(1)));
  expect_repr(missing, "<MISSING>");
  fh_any_drop(&missing);
  expect_call_raises("TypeError", "pairs of key and value but got 1 arguments", "ffi.Map", ARGS(i64(1)));
  expect_call_raises("TypeError", "Expected `ffi.Dict` but got `ffi.Map`", "ffi.DictSize", ARGS(map));
  expect_call_raises("TypeError", "Expected 3 but got 1 arguments", "ffi.DictSetItem", ARGS(map));
  fh_any_drop(&map);
}

TEST(dict_set_default_keeps_the_value_that_is_there) {
  TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS);
  for (int64_t i = 0; i < 20; ++i) { /* first small, then dense */
    expect_int(call_int("ffi_hpy.DictSetDefault", ARGS(dict, i64(i), i64(10 * i))), 10 * i);
    expect_int(call_int("ffi_hpy.DictSetDefault", ARGS(dict, i64(i), i64(-1))), 10 * i);
  }
  expect_int(call_int("ffi_hpy.DictSetDefault", ARGS(dict, raw("a long enough key"), i64(1))), 1);
  expect_int(call_int("ffi_hpy.DictSetDefault", ARGS(dict, raw("a long enough key"), i64(2))), 1);
  expect_int(call_int("ffi.DictSize", ARGS(dict)), 21);
  TVMFFIAny text = call_ok("ffi_hpy.DictSetDefault", ARGS(dict, i64(-1), raw("a long enough value")));
  expect_repr(text, "\"a long enough value\"");
  expect_call_raises("TypeError", "Expected 3 but got 1 arguments", "ffi_hpy.DictSetDefault", ARGS(dict));
  fh_any_drop(&text);
  fh_any_drop(&dict);
}

TEST(dict_put_searched_adds_a_key_only_if_no_other_object_was_added_since) {
  TVMFFIAny keys[3];
  for (int64_t i = 0; i < 3; ++i) keys[i] = call_ok("ffi.Array", ARGS(i64(i)));
  for (int64_t n = 0; n < 20; n += 10) { /* first small, then dense */
    TVMFFIAny dict = call_ok("ffi.Dict", ARGS(keys[0], i64(0)));
    for (int64_t i = 0; i < n; ++i) call_ok("ffi.DictSetItem", ARGS(dict, i64(i), i64(i)));
    TVMFFIAny seen = call_ok("ffi.Map", ARGS(keys[0], i64(0)));
    call_ok("ffi.DictSetItem", ARGS(dict, raw("a long enough key"), i64(1))); /* text needs no search */
    expect_int(call_int("ffi_hpy.DictPutSearched", ARGS(dict, seen, keys[1], i64(1), i64(0))), 1);
    TVMFFIAny refused = call_ok("ffi_hpy.DictPutSearched", ARGS(dict, seen, keys[2], i64(2), i64(1)));
    expect(refused.v_obj == seen.v_obj);
    expect_int(call_int("ffi.DictCount", ARGS(dict, keys[2])), 0);
    expect_int(call_int("ffi_hpy.DictPutSearched", ARGS(dict, seen, keys[1], i64(5), i64(0))), 1);
    expect_int(call_int("ffi_hpy.DictPutSearched", ARGS(dict, seen, keys[1], i64(5), i64(1))), 5);
    expect_int(call_int("ffi.DictGetItem", ARGS(dict, keys[1])), 5);
    fh_any_drop(&refused);
    fh_any_drop(&seen);
    fh_any_drop(&dict);
  }
  for (int i = 0; i < 3; ++i) fh_any_drop(&keys[i]);
}

TEST(dict_pop_returns_the_removed_value) {
  TVMFFIAny missing = call_ok("ffi.GetInvalidObject", NO_ARGS);
  TVMFFIAny dict = call_ok("ffi.Dict", ARGS(raw("a long enough key"), i64(1), i64(2), i64(3)));
  expect_int(call_int("ffi_hpy.DictPop", ARGS(dict, raw("a long enough key"))), 1);
  expect_int(call_int("ffi.DictSize", ARGS(dict)), 1);
  TVMFFIAny nothing = call_ok("ffi_hpy.DictPop", ARGS(dict, i64(9)));
  expect(nothing.v_obj == missing.v_obj);
  expect_call_raises("TypeError", "Expected 2 but got 1 arguments", "ffi_hpy.DictPop", ARGS(dict));
  expect_call_raises("TypeError", "Expected `ffi.Dict` but got `int`", "ffi_hpy.DictPop", ARGS(i64(1), i64(2)));
  fh_any_drop(&nothing);
  fh_any_drop(&missing);
  fh_any_drop(&dict);
}

TEST(map_iterator_keeps_the_map_and_stops_at_the_end) {
  TVMFFIAny map = call_ok("ffi.Map", ARGS(raw("k"), i64(1), raw("l"), i64(2))), key, value;
  TVMFFIAny it = call_ok("ffi.MapForwardIterFunctor", ARGS(map));
  fh_any_drop(&map);
  TVMFFIAny command = i64(0);
  expect_int(TVMFFIFunctionCall(it.v_obj, &command, 1, &key), 0);
  expect_str(key, "k");
  command = i64(2);
  value = fh_any_none();
  expect_int(TVMFFIFunctionCall(it.v_obj, &command, 1, &value), 0);
  expect_int(value.v_int64, 1);
  expect_int(TVMFFIFunctionCall(it.v_obj, &command, 1, &value), 0);
  expect_int(value.v_int64, 0);
  command = i64(1);
  expect_int(TVMFFIFunctionCall(it.v_obj, &command, 1, &value), -1);
  expect_raised("IndexError", "past the end");
  fh_any_drop(&it);
}

TEST(a_map_of_four_pairs_keeps_the_place_of_a_key_given_twice) {
  TVMFFIAny map = call_ok("ffi.Map", ARGS(i64(1), i64(1), i64(2), i64(2), i64(1), i64(3), i64(4), i64(4)));
  expect_repr(map, "{1: 3, 2: 2, 4: 4}");
  fh_any_drop(&map);
  map = call_ok("ffi.Map", ARGS(i64(1), i64(1), i64(2), i64(2), i64(3), i64(3), i64(4), i64(4), i64(1), i64(5)));
  expect_repr(map, "{2: 2, 3: 3, 4: 4, 1: 5}");
  fh_any_drop(&map);
}

/* ---- Keys whose type has hooks: all its objects are equal and have one hash ---- */

static int n_hook_calls, hooks_fail;
static int hash_hook(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n;
  n_hook_calls += 1;
  if (hooks_fail) return fh_error_raise(FH_VALUE_ERROR, "no hash today");
  *result = i64(42);
  return 0;
}
static int equal_hook(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)n;
  n_hook_calls += 1;
  *result = fh_any_bool(args[0].v_obj == args[1].v_obj);
  return 0;
}
static void add_hook(int32_t type_index, const char *name, TVMFFISafeCallType call) {
  TVMFFIObjectHandle func;
  TVMFFIByteArray attr = text_of(name);
  expect_int(TVMFFIFunctionCreate(NULL, call, NULL, &func), 0);
  TVMFFIAny value = obj(func);
  expect_int(TVMFFITypeRegisterAttr(type_index, &attr, &value), 0);
  fh_object_release(func);
}
static int32_t hooked_type(void) {
  static int32_t type_index;
  if (type_index == 0) {
    type_index = test_add_child("test.Hooked", kTVMFFIObject, 0);
    expect(type_index > 0);
    add_hook(type_index, "__any_hash__", hash_hook);
    add_hook(type_index, "__any_equal__", equal_hook);
    test_keeps(2); /* the Functions of its hooks */
  }
  return type_index;
}

TEST(dict_with_colliding_hooked_keys_works) {
  int32_t type_index = hooked_type();
  enum { N = 60 };
  TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS), keys[N];
  for (int i = 0; i < N; ++i) {
    keys[i] = obj(fh_object_new(sizeof(TVMFFIObject), type_index, fh_object_delete_plain));
    call_int("ffi.DictSetItem", ARGS(dict, keys[i], i64(i)));
    call_int("ffi.DictSetItem", ARGS(dict, i64(i), i64(-i)));
    expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  }
  for (int i = 0; i < N; i += 2) call_int("ffi.DictErase", ARGS(dict, keys[i]));
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  for (int i = 0; i < N; ++i) expect_int(call_int("ffi.DictCount", ARGS(dict, keys[i])), i % 2);
  hooks_fail = 1;
  expect_call_raises("ValueError", "no hash today", "ffi.DictSetItem", ARGS(dict, keys[0], i64(1)));
  expect_call_raises("ValueError", "no hash today", "ffi.DictGetItem", ARGS(dict, keys[1]));
  hooks_fail = 0;
  expect(n_hook_calls > 0);
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  fh_any_drop(&dict);
  for (int i = 0; i < N; ++i) fh_any_drop(&keys[i]);
}

/* ---- Keys whose hash changes while they are in a table ---- */

typedef struct {
  TVMFFIObject header;
  int64_t hash;
} fickle;
static int64_t n_changed;
static int fickle_hash(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)n;
  *result = i64((((const fickle *)(const void *)args[0].v_obj)->hash + n_changed) * 7919);
  return 0;
}
static int32_t fickle_type(void) {
  static int32_t type_index;
  if (type_index == 0) {
    type_index = test_add_child("test.Fickle", kTVMFFIObject, 0);
    add_hook(type_index, "__any_hash__", fickle_hash);
    add_hook(type_index, "__any_equal__", equal_hook);
    test_keeps(2); /* the Functions of its hooks */
  }
  return type_index;
}

TEST(keys_whose_hash_changes_are_lost_and_nothing_else_is) {
  enum { N = 50, N_INTS = 400 };
  for (int change = 1; change < 20; ++change) {
    TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS);
    fh_hashmap_object *map = (fh_hashmap_object *)dict.v_obj;
    n_changed = 0;
    for (int i = 0; i < N; ++i) {
      fickle *key = (fickle *)fh_object_new(sizeof(*key), fickle_type(), fh_object_delete_plain);
      key->hash = i / 2; /* chains of two or more keys */
      TVMFFIAny any = obj(key);
      call_int("ffi.DictSetItem", ARGS(dict, any, i64(i)));
      fh_any_drop(&any);
    }
    for (int i = 0; i < N_INTS; ++i) {
      n_changed += change; /* changes again at each step, so that growing the table does not repair the chains */
      call_int("ffi.DictSetItem", ARGS(dict, i64(i), i64(-i)));
    }
    expect_int(fh_hashmap_size(map), N + N_INTS);
    for (int i = 0; i < N_INTS; ++i) {
      expect_int(call_int("ffi.DictGetItem", ARGS(dict, i64(i))), -i);
      call_int("ffi.DictErase", ARGS(dict, i64(i)));
    }
    expect_int(fh_hashmap_size(map), N);
    fh_any_drop(&dict);
  }
}

/* ---- Memory and threads ---- */

static int use_maps(void *state) {
  TVMFFIAny dict, rest;
  int rc = 0;
  (void)state;
  if (call_n("ffi.Map", ARGS(raw("a long enough key"), i64(1), i64(2), raw("a long enough value")), &dict) != 0)
    return -1;
  rc = call_n("ffi.MapForwardIterFunctor", ARGS(dict), &rest);
  if (rc == 0) fh_any_drop(&rest);
  fh_any_drop(&dict);
  if (rc != 0 || call_n("ffi.Dict", NO_ARGS, &dict) != 0) return -1;
  for (int i = 0; i < 40 && rc == 0; ++i) {
    rc = call_n("ffi.DictSetItem", ARGS(dict, i64(i), raw("a long enough value")), &rest);
    expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  }
  if (rc == 0) rc = call_n("ffi.DictClear", ARGS(dict), &rest);
  fh_any_drop(&dict);
  return rc;
}
TEST(maps_survive_missing_memory) { test_sweep(use_maps, NULL); }

static void set_many(void *state, int thread) {
  TVMFFIAny dict = *(TVMFFIAny *)state;
  for (int i = 0; i < 300; ++i) {
    call_int("ffi.DictSetItem", ARGS(dict, i64(thread * 1000 + i), raw("a text longer than seven")));
    call_int("ffi.DictCount", ARGS(dict, i64(i)));
    if (i % 3 == 0) call_int("ffi.DictErase", ARGS(dict, i64(thread * 1000 + i)));
  }
}
TEST(dict_operations_from_many_threads_are_safe) {
  TVMFFIAny dict = call_ok("ffi.Dict", NO_ARGS);
  test_threads(4, set_many, &dict);
  expect_int(call_int("ffi.DictSize", ARGS(dict)), 800);
  expect(fh_hashmap_is_valid((fh_hashmap_object *)dict.v_obj));
  fh_any_drop(&dict);
}
