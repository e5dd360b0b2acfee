/* test_seq.c - Array and List: the functions of seq.h and the ffi.Array*, ffi.List* globals. */
#include "core/container/seq.h"
#include "core/object/error.h"

#include "support/calls.h"

TEST(array_holds_the_given_items) {
  TVMFFIAny array = call_ok("ffi.Array", ARGS(i64(7), raw("a text longer than seven"), fh_any_none()));
  expect_int(array.type_index, kTVMFFIArray);
  expect_int(call_int("ffi.ArraySize", ARGS(array)), 3);
  expect_int(call_int("ffi.ArrayGetItem", ARGS(array, i64(0))), 7);
  expect_str(call_ok("ffi.ArrayGetItem", ARGS(array, i64(1))), "a text longer than seven");
  expect_int(call_int("ffi.ArrayContains", ARGS(array, raw("a text longer than seven"))), 1);
  expect_int(call_int("ffi.ArrayContains", ARGS(array, fh_any_float(7))), 0);
  expect_repr(array, "(7, \"a text longer than seven\", None)");
  fh_any_drop(&array);
}

static void expect_holds(TVMFFIAny seq, TVMFFIAny value, int32_t type_index, int64_t found) {
  TVMFFIAny result = call_ok("ffi_hpy.SeqHolds", ARGS(seq, value));
  expect_int(result.type_index, type_index);
  if (type_index == kTVMFFIBool) expect_int(result.v_int64, found);
}

TEST(a_sequence_holds_the_numbers_and_strings_that_a_python_list_would) {
  TVMFFIAny array = call_ok("ffi.Array", ARGS(fh_any_none(), fh_any_bool(1), fh_any_float(2), raw("text"), i64(3)));
  TVMFFIAny list = call_ok("ffi.List", ARGS(raw("a text longer than seven"), array, i64(4)));
  for (int64_t i = 0; i < 5; ++i) expect_holds(array, i64(i), kTVMFFIBool, i >= 1 && i <= 3);
  expect_holds(array, raw("text"), kTVMFFIBool, 1);
  expect_holds(array, raw("3"), kTVMFFIBool, 0);
  expect_holds(array, i64(INT64_C(1) << 53), kTVMFFINone, 0);
  expect_holds(array, fh_any_float(3), kTVMFFINone, 0);
  expect_holds(list, raw("a text longer than seven"), kTVMFFIBool, 1);
  expect_holds(list, i64(4), kTVMFFINone, 0); /* Python compares with the Array before it */
  expect_call_raises("TypeError", "argument #0", "ffi_hpy.SeqHolds", ARGS(i64(1), i64(1)));
  fh_any_drop(&list);
  fh_any_drop(&array);
}

TEST(array_without_items_is_empty) {
  TVMFFIAny array = call_ok("ffi.Array", NO_ARGS);
  expect_int(call_int("ffi.ArraySize", ARGS(array)), 0);
  expect_call_raises("IndexError", "Index 0 out of bounds 0", "ffi.ArrayGetItem", ARGS(array, i64(0)));
  expect_int(call_int("ffi.ArrayContains", ARGS(array, fh_any_none())), 0);
  expect_repr(array, "()");
  fh_any_drop(&array);
}

TEST(array_functions_name_the_expected_arguments) {
  TVMFFIAny list = call_ok("ffi.List", ARGS(i64(1)));
  expect_call_raises("TypeError", "argument #0 when calling: `ffi.ArraySize`. Expected `ffi.Array` but got `ffi.List`",
                     "ffi.ArraySize", ARGS(list));
  expect_call_raises("TypeError", "argument #1 when calling: `ffi.ListGetItem`. Expected `int` but got `float`",
                     "ffi.ListGetItem", ARGS(list, fh_any_float(1)));
  expect_call_raises("TypeError", "Expected 2 but got 1 arguments", "ffi.ArrayGetItem", ARGS(list));
  expect_call_raises("IndexError", "Index -1 out of bounds 1", "ffi.ListGetItem", ARGS(list, i64(-1)));
  expect_call_raises("IndexError", "Index 1 out of bounds 1", "ffi.ListSetItem", ARGS(list, i64(1), i64(2)));
  expect_call_raises("IndexError", "Index 3 out of bounds [0, 1]", "ffi.ListInsert", ARGS(list, i64(3), i64(2)));
  expect_call_raises("IndexError", "Range [0, 2) out of bounds 1", "ffi.ListEraseRange", ARGS(list, i64(0), i64(2)));
  expect_call_raises("TypeError", "argument #3", "ffi.ListReplaceSlice", ARGS(list, i64(0), i64(0), i64(2)));
  fh_any_drop(&list);
}

TEST(list_append_keeps_the_value_alive) {
  int ends = 0;
  TVMFFIAny list = call_ok("ffi.List", NO_ARGS), value = obj(test_object_new(&ends));
  call_int("ffi.ListAppend", ARGS(list, value));
  fh_any_drop(&value);
  expect_int(ends, 0);
  call_int("ffi.ListErase", ARGS(list, i64(0)));
  expect_int(ends, 1);
  fh_any_drop(&list);
}

TEST(a_pushed_item_arrives_once_also_when_the_list_grows) {
  int ends = 0;
  fh_seq_object *list = fh_seq_new_list(0);
  for (int i = 0; i < 20; ++i) expect_int(fh_seq_push(list, fh_any_object(test_object_new(&ends))), 0);
  expect_int(fh_seq_size(list), 20);
  fh_object_release(list);
  expect_int(ends, 20);
}

TEST(list_changes_in_place) {
  TVMFFIAny list = call_ok("ffi.List", ARGS(i64(0), i64(1), i64(2), i64(3), i64(4)));
  call_int("ffi.ListSetItem", ARGS(list, i64(0), raw("zero")));
  call_int("ffi.ListInsert", ARGS(list, i64(5), i64(5)));
  call_int("ffi.ListReverse", ARGS(list));
  expect_repr(list, "[5, 4, 3, 2, 1, \"zero\"]");
  expect_int(call_int("ffi.ListPop", ARGS(list, i64(4))), 1);
  call_int("ffi.ListEraseRange", ARGS(list, i64(1), i64(3)));
  expect_repr(list, "[5, 2, \"zero\"]");
  call_int("ffi.ListReplaceSlice", ARGS(list, i64(1), i64(2), list));
  expect_repr(list, "[5, 5, 2, \"zero\", \"zero\"]");
  call_int("ffi.ListReplaceSlice", ARGS(list, i64(5), i64(5), list));
  expect_int(call_int("ffi.ListSize", ARGS(list)), 10);
  expect_int(call_int("ffi.ListContains", ARGS(list, raw("zero"))), 1);
  call_int("ffi.ListReserve", ARGS(list, i64(100)));
  expect(((fh_seq_object *)list.v_obj)->cell.capacity >= 100);
  call_int("ffi.ListClear", ARGS(list));
  expect_repr(list, "[]");
  fh_any_drop(&list);
}

/* A list that an item's destruction changes. */
static TVMFFIAny reentered;
static void look_at_list(void *self) {
  (void)self;
  call_int("ffi.ListAppend", ARGS(reentered, i64(9)));
}

TEST(list_can_be_changed_by_the_end_of_its_item) {
  TVMFFIObjectHandle item;
  expect_int(TVMFFIObjectCreateOpaque(&reentered, kTVMFFIOpaquePyObject, look_at_list, &item), 0);
  reentered = call_ok("ffi.List", ARGS(obj(item)));
  fh_object_release(item);
  call_int("ffi.ListClear", ARGS(reentered)); /* hangs if the list holds its lock here */
  expect_repr(reentered, "[9]");
  fh_any_drop(&reentered);
}

static int use_lists(void *state) {
  TVMFFIAny list, rest;
  (void)state;
  if (call_n("ffi.List", ARGS(raw("first long text"), raw("second long text")), &list) != 0) return -1;
  int rc = call_n("ffi.ListInsert", ARGS(list, i64(0), raw("third long text")), &rest);
  if (rc == 0) rc = call_n("ffi.ListAppend", ARGS(list, raw("fourth long text")), &rest);
  if (rc == 0) rc = call_n("ffi.ListAppend", ARGS(list, raw("fifth long text")), &rest);
  if (rc == 0) rc = call_n("ffi.ListReplaceSlice", ARGS(list, i64(0), i64(2), list), &rest);
  if (rc == 0) rc = call_n("ffi.ListSetItem", ARGS(list, i64(0), raw("sixth long text")), &rest);
  if (rc == 0) rc = call_n("ffi.ListClear", ARGS(list), &rest);
  fh_any_drop(&list);
  return rc;
}
TEST(lists_survive_missing_memory) { test_sweep(use_lists, NULL); }

static void append_many(void *state, int thread) {
  TVMFFIAny list = *(TVMFFIAny *)state;
  for (int i = 0; i < 500; ++i) {
    call_int("ffi.ListAppend", ARGS(list, raw("a text longer than seven")));
    TVMFFIAny item = call_ok("ffi.ListGetItem", ARGS(list, i64(0)));
    fh_any_drop(&item);
    if (thread == 0 && i % 50 == 0) call_int("ffi.ListReverse", ARGS(list));
  }
}
TEST(list_appends_from_many_threads_all_arrive) {
  TVMFFIAny list = call_ok("ffi.List", NO_ARGS);
  test_threads(4, append_many, &list);
  expect_int(call_int("ffi.ListSize", ARGS(list)), 2000);
  fh_any_drop(&list);
}
