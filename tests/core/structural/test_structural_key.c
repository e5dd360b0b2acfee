/* test_structural_key.c - ffi.StructuralKey, and the global functions for structural operations. */
#include "core/structural/operations.h"

#include "support/records.h"

TEST(a_structural_key_finds_its_value_in_a_map) {
  TVMFFIAny one = make_array(i64(1), i64(2)), same = make_array(i64(1), i64(2)), other = make_array(i64(1), i64(3));
  TVMFFIAny key = call_ok("ffi.StructuralKey", ARGS(one)), same_key = call_ok("ffi.StructuralKey", ARGS(same));
  TVMFFIAny other_key = call_ok("ffi.StructuralKey", ARGS(other));
  TVMFFIAny map = make_map(again(key), str("found"));
  expect_str(call_ok("ffi.MapGetItem", ARGS(map, same_key)), "found");
  expect_int(call_int("ffi.MapCount", ARGS(map, other_key)), 0);
  expect_int(call_int("ffi.StructuralKeyEqual", ARGS(key, same_key)), 1);
  expect_int(call_int("ffi.StructuralKeyEqual", ARGS(key, other_key)), 0);
  expect_int(call_int("ffi.StructuralKeyEqual", ARGS(key, key)), 1);
  expect_int(((fh_structural_key_object *)(void *)key.v_obj)->hash, 2823322240268045181);
  expect_call_raises("TypeError", "Expected `ffi.StructuralKey` but got `int`", "ffi.StructuralKeyEqual",
                     ARGS(i64(1), key));
  drop_all_of(one, same, other, same_key, other_key, map, key);
}

TEST(a_structural_key_of_a_value_without_structure_is_refused) {
  expect_call_raises("TypeError", "is not set for type `ffi.Function`", "ffi.StructuralKey", ARGS(obj(test_echo())));
  expect_call_raises("TypeError", "Expected 1 but got 0 arguments", "ffi.StructuralKey", NO_ARGS);
}

/* A key that has a hash, but holds a value that cannot be compared. */
TEST(an_error_of_a_key_s_comparison_comes_out_of_the_map) {
  fh_structural_key_object *a = fh_structural_key_new(&(TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = 1});
  fh_structural_key_object *b = fh_structural_key_new(&(TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = 1});
  a->key = again(obj(test_echo()));
  b->key = again(obj(test_echo()));
  TVMFFIAny map = make_map(obj(a), i64(1));
  expect_call_raises("TypeError", "is not set for type `ffi.Function`", "ffi.MapGetItem", ARGS(map, obj(b)));
  drop_all_of(map, obj(b));
}

TEST(the_global_functions_about_structure_check_their_arguments) {
  TVMFFIAny array = make_array(i64(1), str("a long enough text"));
  expect_int(call_int("ffi.StructuralEqual", ARGS(array, array, fh_any_bool(0), fh_any_bool(0))), 1);
  expect_int(call_int("ffi.StructuralHash", ARGS(raw("text"), fh_any_bool(0), fh_any_bool(0))),
             call_int("ffi.StructuralHash", ARGS(raw("text"), fh_any_bool(1), fh_any_bool(1))));
  TVMFFIAny paths = call_ok("ffi.GetFirstStructuralMismatch", ARGS(array, raw("text"), fh_any_bool(0), fh_any_bool(0)));
  expect_repr(paths, "(<root>, <root>)");
  expect_call_raises("TypeError", "Expected 4 but got 2 arguments", "ffi.StructuralEqual", ARGS(array, array));
  expect_call_raises("TypeError", "Expected `bool` but got `None`", "ffi.StructuralHash",
                     ARGS(array, none(), fh_any_bool(0)));
  drop_all_of(array, paths);
}

static int make_key(void *value) {
  fh_structural_key_object *key = fh_structural_key_new((const TVMFFIAny *)value);
  fh_object_release(key);
  return key != NULL ? 0 : -1;
}

TEST(a_structural_key_without_memory_is_an_error) {
  TVMFFIAny text = raw("a text that becomes an object");
  test_sweep(make_key, &text);
}
