/* test_record.c - objects of types whose layout a binding chose. */
#include "core/fields/field.h"

#include "core/object/reflect.h"
#include "support/records.h"

TEST(a_record_is_made_from_its_fields_copied_and_ended) {
  int ends = 0;
  int32_t type_index = record_type("test.record.Pair", kTVMFFISEqHashKindTreeNode, 0, 0);
  const TVMFFIAny *copy = fh_reflect_attr(fh_reflect_column(FH_ATTR_SHALLOW_COPY), type_index);
  const TVMFFIAny *init = fh_reflect_attr(fh_reflect_column(FH_ATTR_INIT), type_index);
  TVMFFIAny record, copied, held = obj(test_object_new(&ends));
  expect_int(fh_function_call(init->v_obj, ARGS(held, raw("text that is long enough")), &record), 0);
  drop(held);
  expect_int(fh_function_call(copy->v_obj, &record, 1, &copied), 0);
  expect(copied.v_obj != record.v_obj);
  expect(as_record(copied)->a.v_obj == as_record(record)->a.v_obj);
  drop(record);
  expect_int(ends, 0);
  drop(copied);
  expect_int(ends, 1);
}

TEST(records_nested_deeply_end_without_recursion) {
  int32_t type_index = record_type("test.record.Pair", kTVMFFISEqHashKindTreeNode, 0, 0);
  int ends = 0;
  TVMFFIAny chain = obj(test_object_new(&ends));
  for (int i = 0; i < 300000; ++i) chain = record_of(type_index, chain, none());
  drop(chain);
  expect_int(ends, 1);
}

TEST(a_layout_that_does_not_hold_its_fields_is_refused) {
  int32_t type_index = test_add_child("test.record.Small", kTVMFFIObject, 0);
  node_add_field(type_index, "a", 40, kTVMFFIAny, 0);
  const char *name = "ffi._PyClassRegisterTypeAttrColumns";
  expect_call_raises("ValueError", "Expected field `a` of `test.record.Small` inside 48 bytes but it has 16 at 40",
                     name, ARGS(i64(type_index), i64(48)));
  expect_call_raises("ValueError", "Expected the size of objects with a header of 24 bytes but got 8", name,
                     ARGS(i64(type_index), i64(8)));
  expect_call_raises("RuntimeError", "Cannot find a type with index 12345678", name, ARGS(i64(12345678), i64(48)));
}

static int register_one(void *counter) {
  char key[64];
  snprintf(key, sizeof(key), "test.record.Sweep%d", ++*(int *)counter);
  int32_t type_index = test_add_child(key, kTVMFFIObject, 0);
  return type_index < 0 ? -1 : fh_record_register(type_index, 24);
}

TEST(a_layout_without_memory_is_not_complete) {
  for (int n = 1;; ++n) {
    static int counter;
    fh_mem_fail_nth(n);
    int rc = register_one(&counter);
    int has_failed = fh_mem_has_failed();
    fh_mem_fail_nth(0);
    if (!has_failed) {
      expect_int(rc, 0);
      break;
    }
    expect_int(rc, -1);
    expect_raised("MemoryError", "");
  }
  test_keeps(RECORD_TYPE_BLOCKS); /* only of the last type: failed registrations keep no blocks */
}
