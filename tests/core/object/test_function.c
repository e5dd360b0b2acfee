/* test_function.c - function objects, calls, argument checks. */
#include "core/object/function.h"

#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "support/harness.h"

static int return_handle(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  expect(args != NULL);
  expect_int(n_args, 0);
  *result = fh_any_ptr(handle);
  return 0;
}

static void add_one(void *self) { ++*(int *)self; }

TEST(a_closure_is_called_with_its_self) {
  int ends = 0;
  TVMFFIObjectHandle function;
  TVMFFIAny result = fh_any_none();
  expect_int(TVMFFIFunctionCreate(&ends, return_handle, add_one, &function), 0);
  expect_int(TVMFFIObjectGetTypeIndex(function), kTVMFFIFunction);
  expect(TVMFFIFunctionGetCellPtr(function)->cpp_call == NULL);
  expect_int(TVMFFIFunctionCall(function, NULL, 0, &result), 0);
  expect(result.v_ptr == &ends);
  fh_object_release(function);
  expect_int(ends, 1);
}

TEST(a_function_without_self_is_called_directly_with_its_handle) {
  TVMFFIObjectHandle function;
  TVMFFIAny result;
  expect_int(TVMFFIFunctionCreate(NULL, return_handle, NULL, &function), 0);
  expect(TVMFFIFunctionGetCellPtr(function)->safe_call == return_handle);
  expect_int(fh_function_call(function, fh_no_arguments, 0, &result), 0);
  expect(result.v_ptr == function);
  fh_object_release(function);
}

TEST(a_self_without_a_deleter_is_not_deleted) {
  int self = 0;
  TVMFFIObjectHandle function;
  TVMFFIAny result;
  expect_int(TVMFFIFunctionCreate(&self, return_handle, NULL, &function), 0);
  expect_int(fh_function_call(function, fh_no_arguments, 0, &result), 0);
  expect(result.v_ptr == &self);
  fh_object_release(function);
  expect_int(self, 0);
}

TEST(a_function_of_nothing_is_refused) {
  TVMFFIObjectHandle function;
  expect_int(TVMFFIFunctionCreate(NULL, NULL, NULL, &function), -1);
  expect_raised("ValueError", "Expected a function to call but got NULL");
  expect(function == NULL);
}

static int fail(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return fh_error_raise(FH_KEY_ERROR, "not here");
}

TEST(the_error_of_a_function_is_pending_after_the_call) {
  TVMFFIObjectHandle function;
  TVMFFIFunctionCreate(NULL, fail, NULL, &function);
  expect_int(fh_function_call_drop(function, NULL, 0), -1);
  expect_raised("KeyError", "not here");
  fh_object_release(function);
}

TEST(a_dropped_result_is_released) {
  int ends = 0;
  TVMFFIAny arg = fh_any_object(test_object_new(&ends));
  expect_int(fh_function_call_drop(test_echo(), &arg, 1), 0);
  expect_int(fh_object_use_count(arg.v_obj), 1);
  fh_any_drop(&arg);
  expect_int(ends, 1);
}

static int make_function(void *ends) {
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate(ends, return_handle, add_one, &function) != 0) return -1;
  fh_object_release(function);
  return 0;
}

TEST(a_function_that_finds_no_memory_leaves_self_alone) {
  int ends = 0;
  test_sweep(make_function, &ends);
  expect_int(ends, 1);
}

/* ---- Argument checks ---- */

TEST(the_number_of_arguments_is_checked) {
  expect_int(fh_function_check_count("f", 2, 2), 0);
  expect_int(fh_function_check_count("f", 3, 2), -1);
  expect_raised("TypeError", "Mismatched number of arguments when calling: `f`. Expected 2 but got 3 arguments");
}

TEST(numbers_are_accepted_if_they_convert_without_loss) {
  TVMFFIAny args[] = {fh_any_int(-4), fh_any_bool(1), fh_any_float(2.5), fh_any_none()};
  int64_t number = 0;
  int truth = 0;
  expect_int(fh_function_arg_int("f", args, 0, &number), 0);
  expect_int(number, -4);
  expect_int(fh_function_arg_int("f", args, 1, &number), 0);
  expect_int(number, 1);
  expect_int(fh_function_arg_int("f", args, 2, &number), -1);
  expect_raised("TypeError", "Mismatched type on argument #2 when calling: `f`. Expected `int` but got `float`");
  expect_int(fh_function_arg_bool("f", args, 0, &truth), 0);
  expect_int(truth, 1);
  expect_int(fh_function_arg_bool("f", args, 3, &truth), -1);
  expect_raised("TypeError", "Expected `bool` but got `None`");
}

TEST(a_pointer_may_be_none) {
  int target;
  void *ptr = &ptr;
  TVMFFIAny args[] = {fh_any_ptr(&target), fh_any_none(), fh_any_int(1)};
  expect_int(fh_function_arg_ptr("f", args, 0, &ptr), 0);
  expect(ptr == &target);
  expect_int(fh_function_arg_ptr("f", args, 1, &ptr), 0);
  expect(ptr == NULL);
  expect_int(fh_function_arg_ptr("f", args, 2, &ptr), -1);
  expect_raised("TypeError", "Expected `void*` but got `int`");
}

TEST(text_and_bytes_are_taken_in_all_their_forms) {
  TVMFFIAny args[4], slot_view;
  TVMFFIByteArray content;
  expect_int(fh_str_from_cstr("abc", &args[0]), 0);
  expect_int(fh_str_from_cstr("longer than seven", &args[1]), 0);
  expect_int(fh_bytes_new("xyz", 3, &args[2]), 0);
  args[3] = fh_any_int(1);
  expect_int(fh_function_arg_str("f", args, 0, &content), 0);
  expect(content.data == args[0].v_bytes);
  expect_int(fh_function_arg_str("f", args, 1, &content), 0);
  expect_text(content, "longer than seven");
  TVMFFIObject *slot = args[1].v_obj;
  slot_view = fh_any_ptr(&slot);
  slot_view.type_index = kTVMFFIObjectRValueRef;
  expect_int(fh_function_arg_str("f", &slot_view, 0, &content), 0);
  expect_text(content, "longer than seven");
  expect_int(fh_function_arg_bytes("f", &slot_view, 0, &content), 0);
  expect_int(fh_function_arg_str("f", args, 2, &content), -1);
  expect_raised("TypeError", "Expected `str` but got `ffi.SmallBytes`");
  expect_int(fh_function_arg_bytes("f", args, 2, &content), 0);
  expect_int(fh_function_arg_bytes("f", args, 0, &content), 0);
  expect_int(fh_function_arg_bytes("f", args, 3, &content), -1);
  expect_raised("TypeError", "Expected `bytes` but got `int`");
  fh_any_drop(&args[1]);
}

TEST(objects_are_taken_by_type) {
  int ends = 0;
  TVMFFIObject *object = NULL, *slot = (TVMFFIObject *)test_object_new(&ends);
  TVMFFIAny args[] = {fh_any_object(test_echo()), fh_any_none(), fh_any_ptr(&slot), fh_any_int(1)};
  args[2].type_index = kTVMFFIObjectRValueRef;
  expect_int(fh_function_arg_object("f", args, 0, kTVMFFIFunction, &object), 0);
  expect(object == test_echo());
  expect_int(fh_function_arg_object("f", args, 0, kTVMFFIObject, &object), 0);
  expect_int(fh_function_arg_object("f", args, 0, kTVMFFIError, &object), -1);
  expect_raised("TypeError", "Expected `ffi.Error` but got `ffi.Function`");
  expect_int(fh_function_arg_object("f", args, 1, kTVMFFIObject, &object), -1);
  expect_raised("TypeError", "Expected `ffi.Object` but got `None`");
  expect_int(fh_function_arg_object("f", args, 2, kTVMFFIObject, &object), 0);
  expect(object == slot && slot != NULL);
  expect_int(fh_function_arg_object("f", args, 3, kTVMFFIObject, &object), -1);
  expect_raised("TypeError", "but got `int`");
  fh_object_release(slot);
}
