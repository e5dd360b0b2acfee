/* test_hash.c - the hash of nested values agrees with their equality. */
#include "core/walk/nested.h"

#include <math.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "support/harness.h"
#include "support/nodes.h"

static int64_t hash_of(TVMFFIAny value) { return call_int("ffi.RecursiveHash", ARGS(value)); }

/* Drops both values. */
static void expect_hashes_at(int line, TVMFFIAny a, TVMFFIAny b, int is_same) {
  if (call_int("ffi.RecursiveEq", ARGS(a, b)) != is_same) test_fail(__FILE__, line, "equality is not %d", is_same);
  if ((hash_of(a) == hash_of(b)) != is_same) test_fail(__FILE__, line, "hashes are the same: %d", !is_same);
  drop_all_of(a, b);
}
#define same(a, b) expect_hashes_at(__LINE__, a, b, 1)
#define differ(a, b) expect_hashes_at(__LINE__, a, b, 0)

static TVMFFIAny text(const char *content) { return call_ok("ffi.String", ARGS(raw(content))); }

TEST(equal_plain_values_have_the_same_hash) {
  same(i64(5), i64(5));
  same(none(), none());
  same(f64(0.0), f64(-0.0));
  same(f64(NAN), f64(-NAN));
  same(text("1234567"), text("1234567"));
  same(text("a text of some length"), text("a text of some length"));
  differ(i64(1), i64(2));
  differ(i64(1), f64(1));
  differ(i64(1), fh_any_bool(1));
  differ(i64(0), none());
  differ(text("a"), text("b"));
  differ(text("a text of some length"), text("a text of some lengtH"));
  differ(fh_any_dtype((DLDataType){kDLInt, 32, 1}), fh_any_dtype((DLDataType){kDLInt, 32, 2}));
  differ(fh_any_device((DLDevice){kDLCUDA, 0}), fh_any_device((DLDevice){kDLCUDA, 1}));
}

TEST(both_forms_of_short_text_have_one_hash) {
  fh_str_object *heap = test_long_form(2, kTVMFFIStr);
  memcpy((char *)(uintptr_t)fh_str_object_bytes(heap).data, "ab", 2);
  same(obj(heap), text("ab"));
  expect_int(hash_of(raw("ab")) == hash_of(raw("abc")), 0);
}

TEST(big_integers_have_the_hash_of_their_number) {
  int64_t words[2] = {5, 7}, others[2] = {5, 8};
  TVMFFIByteArray input = {(const char *)words, sizeof(words)}, other = {(const char *)others, sizeof(others)};
  TVMFFIAny a, b, c;
  expect_int(TVMFFIBigIntFromByteArray(&input, &a), 0);
  expect_int(TVMFFIBigIntFromByteArray(&input, &b), 0);
  expect_int(TVMFFIBigIntFromByteArray(&other, &c), 0);
  differ(again(a), c);
  same(a, b);
}

TEST(containers_hash_by_their_contents) {
  same(make_array(i64(1), make_list(i64(2))), make_array(i64(1), make_list(i64(2))));
  differ(make_array(i64(1), i64(2)), make_array(i64(2), i64(1)));
  differ(make_array(i64(1)), make_array(i64(1), i64(1)));
  differ(make_array(i64(1)), make_list(i64(1)));
  differ(make_array(make_array(i64(1)), i64(2)), make_array(make_array(i64(1), i64(2))));
  differ(make_array(make_seq(kTVMFFIArray, NULL, 0)), make_seq(kTVMFFIArray, NULL, 0));
  differ(make_array(none(), i64(1)), make_array(i64(1), none()));
  same(make_map(i64(1), i64(2), i64(3), i64(4)), make_map(i64(3), i64(4), i64(1), i64(2)));
  differ(make_map(i64(1), i64(2), i64(3), i64(4)), make_map(i64(1), i64(4), i64(3), i64(2)));
  differ(make_map(i64(1), i64(2)), make_map(i64(2), i64(1)));
  differ(make_map(i64(1), i64(2)), make_dict(i64(1), i64(2)));
  same(call_ok("ffi.Shape", ARGS(i64(1), i64(2))), call_ok("ffi.Shape", ARGS(i64(1), i64(2))));
  differ(call_ok("ffi.Shape", ARGS(i64(1), i64(2))), call_ok("ffi.Shape", ARGS(i64(2), i64(1))));
}

TEST(pairs_of_small_integers_do_not_collide) {
  enum { N = 60 };
  static int64_t hashes[N * N];
  for (int i = 0; i < N * N; ++i) {
    TVMFFIAny pair = make_array(i64(i / N), i64(i % N));
    hashes[i] = hash_of(pair);
    fh_any_drop(&pair);
    for (int j = 0; j < i; ++j) expect(hashes[i] != hashes[j]);
  }
}

TEST(fields_that_are_off_do_not_count) {
  int32_t type_index = node_type("test.hash.Off", kTVMFFIFieldFlagBitMaskHashOff, kTVMFFIFieldFlagBitMaskCompareOff, 0);
  TVMFFIAny a = make_node(type_index, i64(1), i64(2), 3), b = make_node(type_index, i64(9), i64(9), 3);
  TVMFFIAny c = make_node(type_index, i64(1), i64(2), 4);
  expect(hash_of(a) == hash_of(b));
  expect(hash_of(a) != hash_of(c));
  drop_all_of(a, b, c);
  int32_t other = node_type("test.hash.Other", 0, 0, 0);
  differ(make_node(other, i64(1), none(), 0), make_node(plain_node_type(), i64(1), none(), 0));
}

TEST(sharing_does_not_change_a_hash) {
  TVMFFIAny shared = make_list(i64(1), make_map(i64(1), i64(2)));
  same(make_array(again(shared), again(shared)),
       make_array(make_list(i64(1), make_map(i64(1), i64(2))), make_list(i64(1), make_map(i64(1), i64(2)))));
  same(make_map(i64(0), again(shared), i64(1), again(shared)),
       make_map(i64(1), make_list(i64(1), make_map(i64(1), i64(2))), i64(0), shared));
}

TEST(shared_values_are_hashed_once) {
  TVMFFIAny value = make_list(i64(1));
  for (int i = 0; i < 200; ++i) value = make_array(again(value), value);
  hash_of(value);
  fh_any_drop(&value);
}

/* ---- Cycles ---- */

/* A list that contains 1 and, through n_more lists of the same kind, itself. */
static TVMFFIAny knot(int n_more) {
  TVMFFIAny first = make_list(i64(1)), last = again(first);
  for (int i = 0; i < n_more; ++i) {
    TVMFFIAny next = make_list(i64(1));
    call_int("ffi.ListAppend", ARGS(last, next));
    fh_any_drop(&last);
    last = next;
  }
  call_int("ffi.ListAppend", ARGS(last, first));
  fh_any_drop(&last);
  return first;
}

TEST(equal_cycles_have_the_same_hash_in_every_shape) {
  int64_t wanted = 0;
  for (int n = 0; n < 8; ++n) {
    TVMFFIAny list = knot(n), in_list = make_list(i64(1), again(list)), in_map = make_map(i64(1), again(list));
    if (n == 0) wanted = hash_of(list);
    expect(hash_of(list) == wanted);
    expect_int(call_int("ffi.RecursiveEq", ARGS(list, in_list)), 1);
    expect(hash_of(in_list) == wanted);
    expect(hash_of(in_map) != wanted);
    call_int("ffi.ListClear", ARGS(list));
    drop_all_of(list, in_list, in_map);
  }
}

TEST(dicts_of_themselves_have_a_hash) {
  TVMFFIAny a = make_dict(i64(1), none()), b = make_dict(i64(1), none());
  call_int("ffi.DictSetItem", ARGS(a, i64(1), a));
  call_int("ffi.DictSetItem", ARGS(b, i64(1), b));
  expect(hash_of(a) == hash_of(b));
  call_int("ffi.DictClear", ARGS(a));
  call_int("ffi.DictClear", ARGS(b));
  drop_all_of(a, b);
}

TEST(many_references_into_a_cycle_are_hashed_in_time) {
  TVMFFIAny list = make_list(i64(1)), alike = make_list(i64(1)), other = make_list(i64(2));
  for (int i = 0; i < 20000; ++i) {
    call_int("ffi.ListAppend", ARGS(list, list));
    call_int("ffi.ListAppend", ARGS(alike, alike));
    call_int("ffi.ListAppend", ARGS(other, other));
  }
  expect(hash_of(alike) == hash_of(list));
  expect(hash_of(other) != hash_of(list));
  call_int("ffi.ListClear", ARGS(list));
  call_int("ffi.ListClear", ARGS(alike));
  call_int("ffi.ListClear", ARGS(other));
  drop_all_of(list, alike, other);
}

/* ---- Hooks ---- */

static int hash_left(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  expect_int(n_args, 2);
  return fh_function_call(args[1].v_obj, &as_node(args[0])->left, 1, result);
}

static int hash_itself(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  return fh_function_call(args[1].v_obj, args, 1, result);
}

static int hash_text(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  return fh_str_from_cstr("hash", result);
}

static int hash_fails(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return fh_error_raise("KeyError", "no hash today");
}

TEST(a_type_s_own_hash_counts) {
  int32_t type_index = node_type("test.hash.Hook", 0, 0, 0);
  node_add_hook(type_index, "__ffi_hash__", hash_left);
  TVMFFIAny a = make_list(make_node(type_index, make_list(i64(1)), i64(2), 3));
  TVMFFIAny b = make_list(make_node(type_index, make_list(i64(1)), i64(9), 9));
  TVMFFIAny c = make_list(make_node(type_index, make_list(i64(2)), i64(2), 3));
  expect(hash_of(a) == hash_of(b));
  expect(hash_of(a) != hash_of(c));
  drop_all_of(a, b, c);
}

TEST(a_hash_hook_that_asks_for_its_own_object_gets_a_number) {
  int32_t type_index = node_type("test.hash.Itself", 0, 0, 0);
  node_add_hook(type_index, "__ffi_hash__", hash_itself);
  TVMFFIAny a = make_node(type_index, i64(1), none(), 0), b = make_node(type_index, i64(2), none(), 0);
  expect(hash_of(a) == hash_of(b));
  drop_all_of(a, b);
}

TEST(an_equality_without_a_hash_is_refused) {
  int32_t eq = node_type("test.hash.Eq", 0, 0, 0), cmp = node_type("test.hash.Cmp", 0, 0, 0);
  node_add_hook(eq, "__ffi_eq__", hash_text);
  node_add_hook(cmp, "__ffi_compare__", hash_text);
  TVMFFIAny a = make_node(eq, none(), none(), 0), b = make_list(make_node(cmp, none(), none(), 0));
  expect_call_raises("ValueError", "`test.hash.Eq` defines __ffi_eq__ or __ffi_compare__ but not __ffi_hash__",
                     "ffi.RecursiveHash", ARGS(a));
  expect_call_raises("ValueError", "`test.hash.Cmp` defines __ffi_eq__ or __ffi_compare__ but not __ffi_hash__",
                     "ffi.RecursiveHash", ARGS(b));
  drop_all_of(a, b);
}

TEST(a_hash_hook_s_error_and_a_wrong_result_are_errors) {
  int32_t texts = node_type("test.hash.Texts", 0, 0, 0), failing = node_type("test.hash.Failing", 0, 0, 0);
  node_add_hook(texts, "__ffi_hash__", hash_text);
  node_add_hook(failing, "__ffi_hash__", hash_fails);
  TVMFFIAny a = make_list(make_node(texts, none(), none(), 0)), b = make_list(make_node(failing, none(), none(), 0));
  expect_call_raises("TypeError", "Expected __ffi_hash__ of `test.hash.Texts` to return `int` but got `",
                     "ffi.RecursiveHash", ARGS(a));
  expect_call_raises("KeyError", "no hash today", "ffi.RecursiveHash", ARGS(b));
  drop_all_of(a, b);
}

/* ---- Depth, failures, and agreement of equality and hash for random values ---- */

TEST(values_a_million_deep_are_hashed) {
  TVMFFIAny list = nest(kTVMFFIList, 1000000, i64(1)), inner = fh_seq_items(as_seq(list))[0];
  expect(hash_of(list) != hash_of(inner));
  fh_any_drop(&list);
}

static int hash_it(void *value) {
  int64_t hash;
  return fh_hash_nested((const TVMFFIAny *)value, &hash);
}

TEST(hashing_survives_missing_memory) {
  int32_t type_index = node_type("test.hash.Sweep", 0, 0, 0);
  node_add_hook(type_index, "__ffi_hash__", hash_left);
  TVMFFIAny shared = make_list(i64(1), make_dict(i64(1), make_array(i64(2)))), cycle = knot(2);
  TVMFFIAny value = make_array(again(shared), make_node(type_index, make_map(i64(3), again(shared)), none(), 0), shared,
                               again(cycle), nest(kTVMFFIList, 20, none()));
  test_sweep(hash_it, &value);
  call_int("ffi.ListClear", ARGS(cycle));
  drop_all_of(cycle, value);
}

static uint32_t random_state;

static int random_below(int n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int)((random_state >> 16) % (uint32_t)n);
}

/* A value of few shapes, so that equal values are frequent; its parts come from `pool` and are shared. */
static TVMFFIAny random_value(TVMFFIAny *pool, int n_pool) {
  TVMFFIAny a = again(pool[random_below(n_pool)]), b = again(pool[random_below(n_pool)]);
  switch (random_below(5)) {
  case 0: return make_array(a, b);
  case 1: return make_list(a, b);
  case 2: return make_map(i64(random_below(2)), a, i64(2), b);
  case 3: return make_node(plain_node_type(), a, b, random_below(2));
  default: fh_any_drop(&a); return b;
  }
}

TEST(random_values_that_are_equal_have_the_same_hash_and_equal_their_copies) {
  enum { N = 200 };
  static TVMFFIAny pool[N];
  int n_equal = 0;
  random_state = 7;
  pool[0] = none();
  pool[1] = i64(1);
  for (int n = 2; n < N; ++n) pool[n] = random_value(pool, n < 5 ? n : 5);
  for (int i = 0; i < N; ++i) {
    TVMFFIAny copy = call_ok("ffi.DeepCopy", ARGS(pool[i]));
    expect_int(call_int("ffi.RecursiveEq", ARGS(pool[i], copy)), 1);
    expect(hash_of(copy) == hash_of(pool[i]));
    fh_any_drop(&copy);
    for (int j = 0; j < i; ++j) {
      int is_equal = (int)call_int("ffi.RecursiveEq", ARGS(pool[i], pool[j]));
      expect_int(hash_of(pool[i]) == hash_of(pool[j]), is_equal);
      n_equal += is_equal && pool[i].v_obj != pool[j].v_obj;
    }
  }
  expect(n_equal > 100);
  for (int i = 0; i < N; ++i) fh_any_drop(&pool[i]);
}
