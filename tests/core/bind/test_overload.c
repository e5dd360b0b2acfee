/* test_overload.c - Functions with overloads, names and defaults. */
#include "core/bind/overload.h"

#include "core/bind/api.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "support/calls.h"
#include "support/harness.h"

static int n_destroyed;

/* An overload of ints, with a default for the last parameter. */
typedef struct {
  ffi_hpy_overload head;
  ffi_hpy_param params[20];
  int32_t wanted; /* type index of each argument */
  bool converts;  /* whether it also accepts bools, if it may convert */
} int_overload;

static int add_all(const ffi_hpy_overload *head, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) {
  const int_overload *self = (const int_overload *)(const void *)head;
  int64_t sum = 0;
  for (uint32_t i = 0; i < head->n_params; ++i) {
    bool fits = args[i].type_index == self->wanted;
    fits |= self->converts && (flags & FFI_HPY_CONVERT) != 0 && args[i].type_index == kTVMFFIBool;
    if (!fits) return FFI_HPY_NEXT_OVERLOAD;
    sum += args[i].v_int64;
  }
  *result = i64(self->converts ? sum : -sum);
  return 0;
}

static void destroy(ffi_hpy_overload *head) {
  (void)head;
  ++n_destroyed;
}

static void make(int_overload *self, const char *signature, uint32_t n_params, uint32_t n_required) {
  memset(self, 0, sizeof(*self));
  self->head.call = add_all;
  self->head.destroy = destroy;
  self->head.signature = signature;
  self->head.params = self->params;
  self->head.n_params = n_params;
  self->head.n_required = n_required;
  self->wanted = kTVMFFIInt;
  for (uint32_t i = n_required; i < n_params; ++i) {
    self->params[i].flags = kFfiHpyParamHasDefault;
    self->params[i].default_value = i64(100);
  }
}

static TVMFFIObjectHandle function_of(int_overload *overload) {
  TVMFFIObjectHandle function = NULL;
  expect_int(fh_api_table.function_new(&overload->head, &function), 0);
  return function;
}

static int64_t result_of(TVMFFIObjectHandle function, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result;
  expect_int(fh_function_call(function, args, n, &result), 0);
  return result.v_int64;
}

#define expect_mismatch(function, part, ...)                           \
  do {                                                                 \
    TVMFFIAny refused;                                                 \
    expect_int(fh_function_call(function, __VA_ARGS__, &refused), -1); \
    expect_raised("TypeError", part);                                  \
  } while (0)

TEST(a_function_fills_in_defaults) {
  int_overload overload;
  make(&overload, "add(a: int, b: int = 100) -> int", 2, 1);
  TVMFFIObjectHandle function = function_of(&overload);
  expect_int(result_of(function, ARGS(i64(1), i64(2))), -3);
  expect_int(result_of(function, ARGS(i64(1))), -101);
  expect_int(result_of(function, ARGS(i64(1), obj(fh_sentinel_missing()))), -101);
  expect_mismatch(function, "1. add(a: int, b: int = 100) -> int\n\nInvoked with types: add()", NULL, 0);
  expect_mismatch(function, "Invoked with types: add(int, int, int)", ARGS(i64(1), i64(1), i64(1)));
  expect_mismatch(function, "add(None)", ARGS(fh_any_none()));
  expect_mismatch(function, "add(ffi.Object)", ARGS(obj(fh_sentinel_missing())));
  n_destroyed = 0;
  fh_object_release(function);
  expect_int(n_destroyed, 1);
}

TEST(an_overload_without_conversion_comes_first) {
  int_overload converting, exact;
  make(&converting, "f(a: int) -> int", 1, 1);
  converting.converts = true;
  make(&exact, "f(a: bool) -> int", 1, 1);
  exact.wanted = kTVMFFIBool;
  TVMFFIObjectHandle function = function_of(&converting);
  expect_int(result_of(function, ARGS(fh_any_bool(1))), 1);
  expect_int(fh_api_table.function_add(function, &exact.head), 0);
  expect_int(result_of(function, ARGS(fh_any_bool(1))), -1);
  expect_int(result_of(function, ARGS(i64(5))), 5);
  expect_mismatch(function, "    1. f(a: int) -> int\n    2. f(a: bool) -> int\n\nInvoked with types: f(str)",
                  ARGS(raw("x")));
  n_destroyed = 0;
  fh_object_release(function);
  expect_int(n_destroyed, 2);
}

TEST(a_function_with_many_parameters_fills_in_defaults) {
  int_overload overload;
  make(&overload, "many() -> int", 20, 0);
  TVMFFIObjectHandle function = function_of(&overload);
  expect_int(result_of(function, NULL, 0), -2000);
  expect_int(result_of(function, ARGS(i64(1))), -1901);
  fh_object_release(function);
}

TEST(only_a_function_of_overloads_gets_another_one) {
  int_overload overload;
  make(&overload, "f() -> int", 0, 0);
  TVMFFIObjectHandle other;
  TVMFFIByteArray name = text_of("ffi.Array");
  expect_int(TVMFFIFunctionGetGlobal(&name, &other), 0);
  expect_int(fh_api_table.function_add(other, &overload.head), -1);
  expect_raised("TypeError", "Expected a function of bind.h");
  fh_object_release(other);
}

static int call_with_defaults(void *state) {
  (void)state;
  int_overload overload;
  make(&overload, "many() -> int", 20, 0);
  TVMFFIObjectHandle function = NULL;
  if (fh_api_table.function_new(&overload.head, &function) != 0) return -1;
  TVMFFIAny result;
  int rc = fh_function_call(function, NULL, 0, &result);
  fh_object_release(function);
  return rc;
}

TEST(overloads_without_memory) { test_sweep(call_with_defaults, NULL); }

static int fail_to_match(void *state) {
  (void)state;
  int_overload overload;
  make(&overload, "one(a: int) -> int", 1, 1);
  TVMFFIObjectHandle function = NULL;
  if (fh_api_table.function_new(&overload.head, &function) != 0) return -1;
  TVMFFIAny result;
  int rc = fh_function_call(function, NULL, 0, &result);
  fh_object_release(function);
  expect_int(rc, -1);
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  bool is_mismatch = strcmp(TVMFFIErrorGetCellPtr(error)->kind.data, "TypeError") == 0;
  if (!is_mismatch) TVMFFIErrorSetRaised(error);
  fh_object_release(error);
  return is_mismatch ? 0 : -1;
}

TEST(a_mismatch_without_memory) { test_sweep(fail_to_match, NULL); }
