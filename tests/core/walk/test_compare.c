/* test_compare.c - equality and order of nested values. For values without hooks the expected results are those of the
 * reference implementation. */
#include "core/walk/nested.h"

#include <math.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/walk/walk.h"
#include "support/harness.h"
#include "support/nodes.h"

/* Compares two values in five ways, and drops them. order: -1, 0, 1, or 2 for unordered values (TypeError). */
static void expect_compared_at(int line, TVMFFIAny a, TVMFFIAny b, int equal, int order) {
  static const char *const names[] = {"ffi.RecursiveLt", "ffi.RecursiveLe", "ffi.RecursiveGt", "ffi.RecursiveGe"};
  int wanted[] = {order < 0, order <= 0, order > 0, order >= 0};
  TVMFFIAny args[2] = {a, b}, swapped[2] = {b, a}, result;
  if (call_int("ffi.RecursiveEq", args, 2) != equal || call_int("ffi.RecursiveEq", swapped, 2) != equal) {
    test_fail(__FILE__, line, "equality is not %d", equal);
  }
  for (int i = 0; i < 4; ++i) {
    int rc = call_n(names[i], args, 2, &result);
    if (order == 2) {
      expect_int(rc, -1);
      expect_raised("TypeError", "Expected ");
    } else if (rc != 0 || result.v_int64 != wanted[i]) {
      test_fail(__FILE__, line, "%s gives %d, %d", names[i], rc, (int)result.v_int64);
    }
    rc = call_n(names[i], swapped, 2, &result);
    if (order == 2)
      expect_raised("TypeError", "Expected ");
    else if (rc != 0 || result.v_int64 != wanted[(i + 2) % 4])
      test_fail(__FILE__, line, "%s, swapped", names[i]);
  }
  drop_all_of(a, b);
}
#define equal(a, b) expect_compared_at(__LINE__, a, b, 1, 0)
#define before(a, b) expect_compared_at(__LINE__, a, b, 0, -1)
#define apart(a, b) expect_compared_at(__LINE__, a, b, 0, 2)
#define equal_without_order(a, b) expect_compared_at(__LINE__, a, b, 1, 2)

static TVMFFIAny text(const char *content) { return call_ok("ffi.String", ARGS(raw(content))); }
static TVMFFIAny bytes(const char *content, size_t n) {
  TVMFFIAny value;
  expect_int(fh_bytes_new(content, n, &value), 0);
  return value;
}
static TVMFFIAny big(int64_t low, int64_t high) {
  int64_t words[2] = {low, high};
  TVMFFIByteArray input = {(const char *)words, sizeof(words)};
  TVMFFIAny value;
  expect_int(TVMFFIBigIntFromByteArray(&input, &value), 0);
  return value;
}

TEST(plain_values_compare_by_value_within_their_type) {
  equal(i64(1), i64(1));
  before(i64(INT64_MIN), i64(INT64_MAX));
  before(fh_any_bool(0), fh_any_bool(1));
  equal(fh_any_bool(1), fh_any_bool(1));
  before(f64(-INFINITY), f64(INFINITY));
  before(f64(1.25), f64(1.5));
  equal(f64(0.0), f64(-0.0));
  equal_without_order(f64(NAN), f64(-NAN));
  apart(f64(NAN), f64(1.0));
  apart(i64(1), f64(1.0));
  apart(i64(1), fh_any_bool(1));
  apart(i64(1), text("1"));
  apart(text("a"), bytes("a", 1));
}

TEST(none_comes_before_everything) {
  equal(none(), none());
  before(none(), i64(INT64_MIN));
  before(none(), f64(NAN));
  before(none(), text(""));
  before(none(), make_map(i64(1), i64(1)));
}

TEST(text_and_bytes_compare_by_content_whatever_their_form) {
  equal(text("1234567"), text("1234567"));
  equal(text("12345678"), text("12345678"));
  before(text("1234567"), text("12345678"));
  before(text("12345678"), text("2"));
  before(text(""), text("a"));
  equal(bytes("a\0b", 3), bytes("a\0b", 3));
  before(bytes("a\0b", 3), bytes("a\0c", 3));
  before(bytes("\x7f", 1), bytes("\x80", 1));
  TVMFFIByteArray content;
  fh_str_object *heap = test_long_form(2, kTVMFFIStr); /* a short string in the long form */
  content = fh_str_object_bytes(heap);
  memcpy((char *)(uintptr_t)content.data, "ab", 2);
  equal(obj(heap), text("ab"));
}

TEST(raw_text_compares_as_text) {
  TVMFFIAny long_text = text("a text of some length");
  expect_int(call_int("ffi.RecursiveEq", ARGS(raw("a text of some length"), long_text)), 1);
  expect_int(call_int("ffi.RecursiveLt", ARGS(raw("a"), long_text)), 1);
  fh_any_drop(&long_text);
}

TEST(data_types_and_devices_compare_by_their_parts) {
  DLDataType i32 = {kDLInt, 32, 1}, i64_type = {kDLInt, 64, 1}, f32 = {kDLFloat, 32, 1}, i32x4 = {kDLInt, 32, 4};
  DLDevice cpu = {kDLCPU, 0}, cuda = {kDLCUDA, 0}, cuda1 = {kDLCUDA, 1};
  equal(fh_any_dtype(i32), fh_any_dtype(i32));
  before(fh_any_dtype(i32), fh_any_dtype(i64_type));
  before(fh_any_dtype(i64_type), fh_any_dtype(f32));
  before(fh_any_dtype(i32), fh_any_dtype(i32x4));
  equal(fh_any_device(cuda), fh_any_device(cuda));
  before(fh_any_device(cpu), fh_any_device(cuda));
  before(fh_any_device(cuda), fh_any_device(cuda1));
}

TEST(pointers_are_equal_or_without_an_order) {
  static int a, b;
  equal(fh_any_ptr(&a), fh_any_ptr(&a));
  apart(fh_any_ptr(&a), fh_any_ptr(&b));
}

TEST(big_integers_compare_with_all_integers) {
  equal(big(5, 7), big(5, 7));
  before(big(5, 7), big(6, 7));
  before(big(-1, 7), big(0, 8));
  before(i64(INT64_MAX), big(0, 1));
  before(big(0, -2), i64(INT64_MIN));
  before(big(0, -2), big(0, 1));
  before(big(5, -7), big(6, -7));
  before(big(0, -8), big(0, -7));
}

TEST(sequences_compare_item_by_item) {
  equal(make_array(i64(1), i64(2)), make_array(i64(1), i64(2)));
  before(make_array(i64(1), i64(2)), make_array(i64(1), i64(3)));
  before(make_array(i64(1)), make_array(i64(1), i64(0)));
  before(make_array(i64(1), i64(9)), make_array(i64(2)));
  before(make_seq(kTVMFFIList, NULL, 0), make_list(none()));
  before(make_list(make_list(i64(1), i64(2))), make_list(make_list(i64(1), i64(2)), i64(0)));
  before(make_list(make_array(i64(1), i64(2)), i64(3)), make_list(make_array(i64(2)), i64(0)));
  before(make_array(none()), make_array(i64(1)));
  apart(make_array(i64(1)), make_list(i64(1)));
  apart(make_array(i64(1)), make_array(f64(1)));
  equal(call_ok("ffi.Shape", ARGS(i64(1), i64(2))), call_ok("ffi.Shape", ARGS(i64(1), i64(2))));
  before(call_ok("ffi.Shape", ARGS(i64(1), i64(2))), call_ok("ffi.Shape", ARGS(i64(1), i64(3))));
  before(call_ok("ffi.Shape", ARGS(i64(1))), call_ok("ffi.Shape", ARGS(i64(1), i64(0))));
}

TEST(maps_are_equal_in_any_order_and_else_have_none) {
  equal(make_map(i64(1), i64(10), text("k"), i64(20)), make_map(text("k"), i64(20), i64(1), i64(10)));
  equal(make_dict(i64(1), make_list(i64(2))), make_dict(i64(1), make_list(i64(2))));
  apart(make_map(i64(1), i64(10)), make_map(i64(1), i64(11)));
  apart(make_map(i64(1), i64(10)), make_map(i64(2), i64(10)));
  apart(make_map(i64(1), i64(10)), make_map(i64(1), i64(10), i64(2), i64(20)));
  apart(make_map(i64(1), i64(10)), make_dict(i64(1), i64(10)));
  apart(make_list(make_map(i64(1), make_array(i64(1)))), make_list(make_map(i64(1), make_array(i64(2)))));
}

TEST(objects_compare_field_by_field) {
  int32_t type_index = plain_node_type();
  equal(make_node(type_index, i64(1), make_list(i64(2)), 3), make_node(type_index, i64(1), make_list(i64(2)), 3));
  before(make_node(type_index, i64(1), make_list(i64(2)), 3), make_node(type_index, i64(1), make_list(i64(2)), 4));
  before(make_node(type_index, i64(1), i64(9), 9), make_node(type_index, i64(2), i64(0), 0));
  apart(make_node(type_index, i64(1), none(), 0), make_list(i64(1)));
  int32_t other = node_type("test.compare.Other", 0, 0, 0);
  apart(make_node(type_index, i64(1), none(), 0), make_node(other, i64(1), none(), 0));
}

TEST(fields_with_compare_off_do_not_count) {
  int32_t type_index =
      node_type("test.compare.Off", kTVMFFIFieldFlagBitMaskHashOff, kTVMFFIFieldFlagBitMaskCompareOff, 0);
  equal(make_node(type_index, i64(1), i64(2), 3), make_node(type_index, i64(1), f64(NAN), 3));
  before(make_node(type_index, i64(1), i64(2), 3), make_node(type_index, i64(2), i64(2), 3));
}

TEST(objects_without_fields_are_equal_within_their_type) {
  TVMFFIObjectHandle function;
  expect_int(fh_function_new(NULL, node_copy, NULL, &function), 0);
  equal(obj(test_object_new(&(int){0})), obj(test_object_new(&(int){0})));
  expect_int(call_int("ffi.RecursiveEq", ARGS(obj(function), obj(test_echo()))), 1);
  fh_object_release(function);
}

TEST(an_object_equals_itself_whatever_it_holds) {
  TVMFFIAny list = make_list(f64(NAN));
  equal(again(list), list);
}

/* ---- Cycles and sharing ---- */

TEST(lists_of_themselves_are_equal_and_have_no_order) {
  TVMFFIAny once = make_list(i64(1)), twice = make_list(i64(1)), inner = make_list(i64(1)), other = make_list(i64(1));
  call_int("ffi.ListAppend", ARGS(once, once));
  call_int("ffi.ListAppend", ARGS(twice, inner));
  call_int("ffi.ListAppend", ARGS(inner, twice));
  expect_int(fh_seq_push(as_seq(other), make_list(i64(2))), 0);
  expect_int(call_int("ffi.RecursiveEq", ARGS(once, twice)), 1);
  expect_int(call_int("ffi.RecursiveEq", ARGS(once, once)), 1);
  expect_int(call_int("ffi.RecursiveEq", ARGS(once, other)), 0);
  expect_call_raises("ValueError", "cyclic reference", "ffi.RecursiveLt", ARGS(once, twice));
  call_int("ffi.ListClear", ARGS(once));
  call_int("ffi.ListClear", ARGS(twice));
  drop_all_of(once, twice, inner, other);
}

TEST(dicts_of_themselves_are_equal_and_have_no_order) {
  TVMFFIAny a = make_dict(i64(1), none()), b = make_dict(i64(1), none());
  call_int("ffi.DictSetItem", ARGS(a, i64(1), a));
  call_int("ffi.DictSetItem", ARGS(b, i64(1), b));
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  expect_call_raises("ValueError", "cyclic reference", "ffi.RecursiveGe", ARGS(a, b));
  call_int("ffi.DictClear", ARGS(a));
  call_int("ffi.DictClear", ARGS(b));
  drop_all_of(a, b);
}

/* Each level holds the next level twice: 2^200 paths, 200 objects. */
static TVMFFIAny diamond(int64_t core) {
  TVMFFIAny value = make_list(i64(core));
  for (int i = 0; i < 200; ++i) {
    TVMFFIAny shared = value;
    value = i % 2 ? make_array(again(shared), shared) : make_node(plain_node_type(), again(shared), shared, 0);
  }
  return value;
}

TEST(shared_values_are_compared_once) {
  equal(diamond(1), diamond(1));
  before(diamond(1), diamond(2));
}

/* ---- Hooks ---- */

static int eq_by_left(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  expect_int(n_args, 3);
  TVMFFIAny values[2] = {as_node(args[0])->left, as_node(args[1])->left};
  return fh_function_call(args[2].v_obj, values, 2, result);
}

static int eq_fails(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return fh_error_raise("KeyError", "no equality today");
}

static int eq_text(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  return fh_str_from_cstr("equal", result);
}

TEST(a_type_s_own_equality_decides) {
  int32_t type_index = node_type("test.compare.Eq", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_by_left);
  TVMFFIAny a = make_list(make_node(type_index, make_list(i64(1)), i64(2), 3));
  TVMFFIAny b = make_list(make_node(type_index, make_list(i64(1)), i64(9), 9));
  TVMFFIAny c = make_list(make_node(type_index, make_list(i64(2)), i64(2), 3));
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, c)), 0);
  expect_int(call_int("ffi.RecursiveLt", ARGS(a, b)), 1); /* ordering does not call the hook */
  drop_all_of(a, b, c);
}

TEST(a_type_s_own_comparison_decides_equality_and_order) {
  int32_t type_index = node_type("test.compare.Cmp", 0, 0, 0);
  node_add_hook(type_index, "__ffi_compare__", eq_by_left);
  equal(make_node(type_index, i64(1), f64(NAN), 2), make_node(type_index, i64(1), f64(NAN), 3));
  before(make_node(type_index, i64(1), none(), 9), make_node(type_index, i64(2), none(), 0));
  before(make_array(make_node(type_index, i64(1), none(), 9)), make_array(make_node(type_index, i64(2), none(), 0)));
  apart(make_map(i64(0), make_node(type_index, i64(1), none(), 9)),
        make_map(i64(0), make_node(type_index, i64(2), none(), 0)));
}

TEST(a_hook_s_error_and_a_wrong_result_are_errors) {
  int32_t failing = node_type("test.compare.Failing", 0, 0, 0), texts = node_type("test.compare.Texts", 0, 0, 0);
  int32_t pointer = node_type("test.compare.Pointer", 0, 0, 0);
  TVMFFIByteArray name = text_of("__ffi_eq__");
  TVMFFIAny address = fh_any_ptr(&name);
  node_add_hook(failing, "__ffi_eq__", eq_fails);
  node_add_hook(texts, "__ffi_eq__", eq_text);
  expect_int(TVMFFITypeRegisterAttr(pointer, &name, &address), 0);
  int32_t types[] = {failing, texts, pointer};
  const char *kinds[] = {"KeyError", "TypeError", "TypeError"};
  const char *parts[] = {"no equality today", "Expected __ffi_eq__ of `test.compare.Texts` to return `bool` but got `",
                         "Expected __ffi_eq__ of `test.compare.Pointer` to be `ffi.Function` but got `void*`"};
  for (int i = 0; i < 3; ++i) {
    TVMFFIAny a = make_list(make_node(types[i], none(), none(), 0)),
              b = make_list(make_node(types[i], none(), none(), 0));
    expect_call_raises(kinds[i], parts[i], "ffi.RecursiveEq", ARGS(a, b));
    drop_all_of(a, b);
  }
}

/* Reports equality if the left values differ. The comparison must continue after fn_eq has found that difference. */
static int eq_negated(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (eq_by_left(self, args, n_args, result) != 0) return -1;
  *result = fh_any_bool(!result->v_int64);
  return 0;
}

TEST(values_that_a_hook_found_different_are_not_equal_later) {
  int32_t type_index = node_type("test.compare.Not", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_negated);
  TVMFFIAny x = make_list(i64(1)), y = make_list(i64(2)), xs = make_array(again(x)), ys = make_array(again(y));
  TVMFFIAny a = make_array(make_node(type_index, again(xs), none(), 0), again(xs));
  TVMFFIAny b = make_array(make_node(type_index, again(ys), none(), 0), again(ys));
  TVMFFIAny c = make_array(make_node(type_index, again(xs), none(), 0), i64(5));
  TVMFFIAny d = make_array(make_node(type_index, again(ys), none(), 0), i64(5));
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 0);
  expect_int(call_int("ffi.RecursiveEq", ARGS(c, d)), 1);
  drop_all_of(x, y, xs, ys, a, b, c, d);
}

/* Calls fn_eq for the two objects themselves. */
static int eq_of_itself(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  return fh_function_call(args[2].v_obj, args, 2, result);
}

TEST(a_hook_that_asks_for_its_own_objects_finds_them_equal) {
  int32_t type_index = node_type("test.compare.Itself", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_of_itself);
  TVMFFIAny a = make_node(type_index, i64(1), none(), 0), b = make_node(type_index, i64(2), none(), 0);
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  drop_all_of(a, b);
}

static int eq_of_views(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  TVMFFIAny values[2] = {raw("a text of some length"), as_node(args[0])->left};
  return fh_function_call(args[2].v_obj, values, 2, result);
}

TEST(a_hook_may_ask_for_views) {
  int32_t type_index = node_type("test.compare.Views", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_of_views);
  TVMFFIAny a = make_node(type_index, text("a text of some length"), none(), 0),
            b = make_node(type_index, none(), none(), 0);
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  expect_int(call_int("ffi.RecursiveEq", ARGS(b, a)), 0);
  drop_all_of(a, b);
}

static int eq_of_one(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  return fh_function_call(args[2].v_obj, args, 1, result);
}

TEST(a_callback_with_too_few_arguments_is_an_error) {
  int32_t type_index = node_type("test.compare.Few", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_of_one);
  TVMFFIAny a = make_node(type_index, none(), none(), 0), b = make_node(type_index, none(), none(), 0);
  expect_call_raises("TypeError", "Expected 2 but got 1 arguments", "ffi.RecursiveEq", ARGS(a, b));
  drop_all_of(a, b);
}

static TVMFFIObject *kept_callback;

static int eq_keeps_callback(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  kept_callback = args[2].v_obj;
  fh_object_retain(kept_callback);
  *result = fh_any_bool(1);
  return 0;
}

TEST(a_callback_that_outlives_its_hook_is_an_error) {
  int32_t type_index = node_type("test.compare.Keeps", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_keeps_callback);
  TVMFFIAny a = make_node(type_index, i64(1), none(), 0), b = make_node(type_index, i64(2), none(), 0), result;
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  expect_int(fh_function_call(kept_callback, ARGS(a, b), &result), -1);
  expect_raised("RuntimeError", "while the hook runs");
  fh_object_release(kept_callback);
  drop_all_of(a, b);
}

TEST(hooks_within_hooks_without_end_are_a_value_error) {
  int32_t type_index = node_type("test.compare.Chain", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_by_left);
  TVMFFIAny a = none(), b = none();
  for (int i = 0; i < FH_WALK_MAX_HOOKS + 10; ++i) {
    a = make_node(type_index, a, none(), 0);
    b = make_node(type_index, b, none(), 0);
  }
  expect_call_raises("ValueError", "hooks to call back", "ffi.RecursiveEq", ARGS(a, b));
  drop_all_of(a, b);
}

static TVMFFIObject *lent_callback;
static TVMFFIAny *lent_values;

static void call_lent(void *unused, int i) {
  (void)unused;
  TVMFFIAny result;
  if (i != 0) return;
  expect_int(fh_function_call(lent_callback, lent_values, 2, &result), -1);
  expect_raised("RuntimeError", "in its thread");
}

static int eq_in_another_thread(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  TVMFFIAny values[2] = {args[0], args[1]};
  lent_callback = args[2].v_obj;
  lent_values = values;
  test_threads(1, call_lent, NULL);
  *result = fh_any_bool(1);
  return 0;
}

TEST(a_callback_in_another_thread_is_an_error) {
  int32_t type_index = node_type("test.compare.Thread", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_in_another_thread);
  TVMFFIAny a = make_node(type_index, none(), none(), 0), b = make_node(type_index, none(), none(), 0);
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 1);
  drop_all_of(a, b);
}

/* ---- Depth, failures, threads ---- */

TEST(values_a_million_deep_are_compared) {
  TVMFFIAny a = nest(kTVMFFIList, 1000000, i64(1)), b = nest(kTVMFFIList, 1000000, i64(2));
  expect_int(call_int("ffi.RecursiveEq", ARGS(a, b)), 0);
  expect_int(call_int("ffi.RecursiveLt", ARGS(a, b)), 1);
  drop_all_of(a, b);
}

static int compare_both(void *state) {
  const TVMFFIAny *values = (const TVMFFIAny *)state;
  int result;
  if (fh_compare_equal(&values[0], &values[1], &result) != 0) return -1;
  expect_int(result, 1);
  return fh_compare_order(&values[0], &values[1], &result);
}

TEST(comparing_survives_missing_memory) {
  int32_t type_index = node_type("test.compare.Sweep", 0, 0, 0);
  node_add_hook(type_index, "__ffi_eq__", eq_by_left);
  node_add_hook(type_index, "__ffi_compare__", eq_by_left);
  TVMFFIAny values[2];
  for (int i = 0; i < 2; ++i) {
    TVMFFIAny shared = make_list(i64(1), make_dict(i64(1), make_array(i64(2))));
    values[i] = make_array(again(shared), make_node(type_index, make_map(i64(3), again(shared)), none(), 0), shared,
                           diamond(1));
  }
  test_sweep(compare_both, values);
  drop_all_of(values[0], values[1]);
}

typedef struct {
  TVMFFIAny a, b;
} two_lists;

static void compare_or_change(void *state, int i) {
  two_lists *lists = (two_lists *)state;
  for (int n = 0; n < 300; ++n) {
    if (i < 2) {
      TVMFFIAny list = i == 0 ? lists->a : lists->b, item = make_list(i64(n % 3));
      call_int("ffi.ListAppend", ARGS(list, item));
      fh_any_drop(&item);
      if (n % 5 == 4) call_int("ffi.ListClear", ARGS(list));
    } else {
      call_int("ffi.RecursiveEq", ARGS(lists->a, lists->b));
      call_int("ffi.RecursiveHash", ARGS(lists->a));
      TVMFFIAny copy = call_ok("ffi.DeepCopy", ARGS(lists->b));
      fh_any_drop(&copy);
    }
  }
}

TEST(lists_are_compared_hashed_and_copied_while_other_threads_change_them) {
  two_lists lists = {make_seq(kTVMFFIList, NULL, 0), make_seq(kTVMFFIList, NULL, 0)};
  test_threads(4, compare_or_change, &lists);
  drop_all_of(lists.a, lists.b);
}

/* ---- Loose comparison ---- */

static int n_asked;
static bool is_yes; /* the answer */

static int answer(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self), FH_UNUSED(args);
  expect_int(n_args, 2);
  ++n_asked;
  *result = fh_any_bool(is_yes);
  return 0;
}

static int raise_answer(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self), FH_UNUSED(args), FH_UNUSED(n_args), FH_UNUSED(result);
  return fh_error_raise(FH_VALUE_ERROR, "no answer");
}

/* Compares [map, 1] with [other, last] by a function, and drops the maps. Returns the result, and -1 for an error. */
static int compare_in_arrays(TVMFFIAny map, TVMFFIAny other, int64_t last, TVMFFISafeCallType ask) {
  TVMFFIObjectHandle function;
  TVMFFIAny result;
  expect_int(TVMFFIFunctionCreate(NULL, ask, NULL, &function), 0);
  TVMFFIAny a = call_ok("ffi.Array", ARGS(map, i64(1))), b = call_ok("ffi.Array", ARGS(other, i64(last)));
  n_asked = 0;
  int rc = call_n("ffi_hpy.LooseEq", ARGS(a, b, obj(function)), &result);
  drop_all_of(a, b);
  drop_all_of(map, other);
  fh_object_release(function);
  return rc == 0 ? (int)result.v_int64 : -1;
}

static TVMFFIAny map_of(TVMFFIAny key) { return call_ok("ffi.Map", ARGS(key, i64(5))); }
static TVMFFIAny dict_of(TVMFFIAny key) { return call_ok("ffi.Dict", ARGS(key, i64(5))); }

TEST(a_loose_comparison_asks_about_mappings_whose_keys_are_not_found) {
  for (int i = 0; i < 2; ++i) {
    is_yes = i == 1;
    expect_int(compare_in_arrays(map_of(i64(1)), dict_of(fh_any_bool(1)), 1, answer), i);
    expect_int(n_asked, 1);
    expect_int(compare_in_arrays(dict_of(fh_any_bool(1)), map_of(i64(1)), 2, answer), 0);
    expect_int(n_asked, 1);
    expect_int(compare_in_arrays(map_of(i64(1)), map_of(i64(1)), 1, answer), 1);
    expect_int(compare_in_arrays(map_of(raw("a")), map_of(i64(1)), 1, answer), 0);
    expect_int(compare_in_arrays(map_of(fh_any_none()), map_of(raw("a")), 1, answer), 0);
    expect_int(n_asked, 0);
  }
  expect_int(compare_in_arrays(map_of(i64(1)), map_of(fh_any_bool(1)), 1, raise_answer), -1);
  expect_raised("ValueError", "no answer");
}
