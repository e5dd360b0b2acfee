/* test_convert.c - __ffi_convert__ of the built-in types. */
#include "core/fields/builtin.h"

#include "core/object/reflect.h"
#include "support/records.h"

/* Converts a view to a type and returns the owned result. */
static TVMFFIAny converted(const char *key, TVMFFIAny value) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_CONVERT), fh_type_find_key(text_of(key)));
  TVMFFIAny result;
  expect(hook != NULL);
  expect_int(fh_function_call(hook->v_obj, &value, 1, &result), 0);
  return result;
}

static void expect_refused(const char *key, TVMFFIAny value, const char *message) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_CONVERT), fh_type_find_key(text_of(key)));
  TVMFFIAny result;
  expect_int(fh_function_call(hook->v_obj, &value, 1, &result), -1);
  expect_raised("TypeError", message);
}

TEST(an_instance_converts_to_itself) {
  static const char *const keys[] = {"ffi.Object", "ffi.Array"};
  TVMFFIAny array = make_array(i64(1));
  for (size_t i = 0; i < FH_COUNT_OF(keys); ++i) {
    TVMFFIAny same = converted(keys[i], array);
    expect(same.v_obj == array.v_obj);
    drop(same);
  }
  expect_str(converted("ffi.String", raw("text")), "text");
  expect_int(converted("ffi.Object", none()).type_index, kTVMFFINone);
  expect_int(converted("ffi.Function", none()).type_index, kTVMFFINone);
  expect_int(converted("ffi.Tensor", none()).type_index, kTVMFFINone);
  drop(array);
}

TEST(containers_convert_to_their_other_kind) {
  TVMFFIAny array = make_array(i64(1), i64(2)), dict = make_dict(i64(1), i64(2)), texts = make_list(raw("x"));
  TVMFFIAny made[] = {converted("ffi.List", array), converted("ffi.Map", dict), converted("ffi.Shape", array)};
  TVMFFIAny back[] = {converted("ffi.Array", made[0]), converted("ffi.Dict", made[1]), converted("ffi.Shape", made[2])};
  expect_repr(made[0], "[1, 2]");
  expect_int(made[1].type_index, kTVMFFIMap);
  expect_repr(made[2], "Shape(1, 2)");
  expect_repr(back[0], "(1, 2)");
  expect_int(back[1].type_index, kTVMFFIDict);
  expect(back[2].v_obj == made[2].v_obj);
  expect_refused("ffi.Shape", texts, "Cannot cast from `ffi.List` to `ffi.Shape`");
  drop_values(made, 3);
  drop_values(back, 3);
  drop_all_of(array, dict, texts);
}

TEST(mismatched_values_are_refused) {
  TVMFFIAny array = make_array(i64(1));
  expect_refused("ffi.Object", i64(1), "Cannot cast from `int` to `ffi.Object`");
  expect_refused("ffi.String", array, "Cannot cast from `ffi.Array` to `str`");
  expect_refused("ffi.Bytes", raw("text"), "Cannot cast from `const char*` to `bytes`");
  expect_refused("ffi.Error", none(), "Cannot cast from `None` to `ffi.Error`");
  expect_refused("ffi.Function", array, "Cannot cast from `ffi.Array` to `ffi.Function`");
  expect_refused("ffi.Map", array, "Cannot cast from `ffi.Array` to `Map<Any, Any>`");
  expect_refused("ffi.List", none(), "Cannot cast from `None` to `List<Any>`");
  expect_refused("ffi.IntEnum", i64(1), "Cannot cast from `int` to `ffi.IntEnum`");
  expect_refused("ffi.StrEnum", array, "Cannot cast from `ffi.Array` to `ffi.StrEnum`");
  drop(array);
}

static int convert_all(void *state) {
  const TVMFFIAny *values = (const TVMFFIAny *)state;
  static const char *const keys[] = {"ffi.List", "ffi.Shape", "ffi.Dict"};
  for (int i = 0; i < 3; ++i) {
    const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_CONVERT), fh_type_find_key(text_of(keys[i])));
    TVMFFIAny result;
    if (fh_function_call(hook->v_obj, &values[i], 1, &result) != 0) return -1;
    drop(result);
  }
  return 0;
}

TEST(converting_without_memory_is_an_error) {
  TVMFFIAny values[] = {make_array(i64(1)), make_list(i64(1)),
                        make_map(i64(1), i64(2), i64(3), i64(4), i64(5), i64(6), i64(7), i64(8), i64(9), i64(10))};
  test_sweep(convert_all, values);
  drop_values(values, 3);
}
