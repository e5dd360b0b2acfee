/* test_overload.c - Functions with overloads, names and defaults. */
#include "core/bind/overload.h"

#include "core/bind/api.h"
#include "core/bind/sequence.h"
#include "core/container/seq.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/str.h"
#include "support/calls.h"
#include "support/harness.h"

static int n_freed;

/* The definition of an overload: capture[0] is the type index of its arguments, capture[1] whether it also accepts
 * bools, if it may convert. */
typedef struct {
  ffi_hpy_function_spec spec;
  ffi_hpy_param params[20];
  uint8_t type_flags[20];
} definition;

static int add_all(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) {
  int32_t wanted = (int32_t)(intptr_t)self->capture[0];
  bool converts = self->capture[1] != NULL;
  int64_t sum = 0;
  for (uint32_t i = 0; i < self->n_params; ++i) {
    if (self->params[i].flags & (kFfiHpyParamArgs | kFfiHpyParamKwargs)) { /* 1000 for each item, or name and value */
      sum += 1000 * fh_seq_size((const fh_seq_object *)(void *)args[i].v_obj);
      continue;
    }
    bool fits = args[i].type_index == wanted;
    fits |= converts && (self->params[i].flags & flags & kFfiHpyCastConvert) != 0 && args[i].type_index == kTVMFFIBool;
    if (!fits) return FFI_HPY_NEXT_OVERLOAD;
    sum = 10 * sum + args[i].v_int64;
  }
  *result = i64(converts ? sum : -sum);
  return 0;
}

static void count_freed(void **capture) {
  (void)capture;
  ++n_freed;
}

/* A definition with the names a, b, c, ... and the default 9 for the parameters from n_required on. */
static void make(definition *self, const char *name, const char *types, uint32_t n_params, uint32_t n_required) {
  static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                        "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
  memset(self, 0, sizeof(*self));
  self->spec = (ffi_hpy_function_spec){.name = name,
                                       .types = types,
                                       .type_flags = self->type_flags,
                                       .params = self->params,
                                       .n_params = n_params,
                                       .n_named = n_params,
                                       .n_positional = UINT32_MAX,
                                       .call = add_all,
                                       .free_capture = count_freed,
                                       .capture = {(void *)(intptr_t)kTVMFFIInt, NULL, NULL}};
  for (uint32_t i = 0; i < n_params; ++i) {
    self->params[i] = (ffi_hpy_param){.name = letters[i], .flags = kFfiHpyCastConvert};
    if (i < n_required) continue;
    self->params[i].flags |= kFfiHpyParamHasDefault;
    self->params[i].default_value = i64(9);
    self->params[i].shown = "9";
  }
}

static TVMFFIObjectHandle add_to(TVMFFIObjectHandle known, const definition *made) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny metadata = fh_any_none();
  expect_int(fh_api_table.function_define(&made->spec, known, &function, &metadata), 0);
  fh_any_drop(&metadata);
  return function;
}
static TVMFFIObjectHandle function_of(const definition *made) { return add_to(NULL, made); }

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

#define KWARGS obj(fh_sentinel_kwargs())

TEST(a_function_fills_in_defaults) {
  definition add;
  make(&add, "add", "int\nint\nint", 2, 1);
  TVMFFIObjectHandle function = function_of(&add);
  expect_int(result_of(function, ARGS(i64(1), i64(2))), -12);
  expect_int(result_of(function, ARGS(i64(1))), -19);
  expect_int(result_of(function, ARGS(i64(1), obj(fh_sentinel_missing()))), -19);
  expect_mismatch(function, "1. add(a: int, b: int = 9) -> int\n\nInvoked with types: ", NULL, 0);
  expect_mismatch(function, "Invoked with types: int, int, int", ARGS(i64(1), i64(1), i64(1)));
  expect_mismatch(function, "types: None", ARGS(fh_any_none()));
  expect_mismatch(function, "-> int\n\nInvoked with types: ", ARGS(obj(fh_sentinel_missing())));
  static const char *const names[] = {"types: list", "types: tuple", "types: set", "types: dict"};
  expect_int(fh_sequence_init(), 0);
  for (uint32_t kind = 0; kind < kFfiHpyNumContainers; ++kind) {
    TVMFFIObjectHandle container = NULL;
    expect_int(fh_api_table.container_new(kind, 0, &container), 0);
    expect_mismatch(function, names[kind], ARGS(obj(container)));
    fh_object_release(container);
  }
  n_freed = 0;
  fh_object_release(function);
  expect_int(n_freed, 1);
}

TEST(an_operator_gets_missing_for_arguments_that_do_not_fit) {
  definition add, more;
  make(&add, "add", "int\nint\nint", 2, 1);
  TVMFFIObjectHandle function = function_of(&add);
  for (int n_overloads = 1; n_overloads <= 2; ++n_overloads) {
    TVMFFIAny result;
    expect_int(result_of(function, ARGS(i64(1), i64(2), KWARGS)), -12);
    expect_int(result_of(function, ARGS(i64(1), KWARGS)), -19);
    expect_int(fh_function_call(function, ARGS(fh_any_none(), KWARGS), &result), 0);
    expect_int(result.v_obj == fh_sentinel_missing(), 1);
    fh_any_drop(&result);
    expect_int(fh_function_call(function, ARGS(KWARGS), &result), 0);
    expect_int(result.v_obj == fh_sentinel_missing(), 1);
    fh_any_drop(&result);
    expect_mismatch(function, "types: None", ARGS(fh_any_none()));
    make(&more, "add", "int\nint\nint", 2, 2);
    fh_object_release(add_to(function, &more));
  }
  fh_object_release(function);
}

static int return_list(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) {
  (void)self, (void)args, (void)flags;
  TVMFFIObjectHandle made = NULL;
  if (fh_api_table.container_new(kFfiHpyList, 0, &made) != 0) return -1;
  *result = obj(made);
  return 0;
}

TEST(a_caller_that_takes_containers_gets_them_and_another_one_an_array) {
  definition list;
  make(&list, "f", "list", 0, 0);
  list.spec.call = return_list;
  expect_int(fh_sequence_init(), 0);
  TVMFFIObjectHandle function = function_of(&list);
  TVMFFIAny result = fh_any_none();
  expect_int(TVMFFIFunctionCall(function, NULL, 0, &result), 0);
  expect_int(result.type_index, kTVMFFIArray);
  fh_any_drop(&result);
  result = (TVMFFIAny){.zero_padding = FFI_HPY_TAKES_CONTAINERS};
  expect_int(TVMFFIFunctionCall(function, NULL, 0, &result), 0);
  expect(result.type_index >= kTVMFFIDynObjectBegin);
  fh_any_drop(&result);
  result = fh_any_none();
  expect_int(fh_api_table.call(function, NULL, 0, &result), 0);
  expect(result.type_index >= kTVMFFIDynObjectBegin);
  fh_any_drop(&result);
  fh_object_release(function);
}

static int leave_result(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return 0;
}

TEST(a_function_that_returns_nothing_gives_bound_libraries_a_plain_none) {
  TVMFFIObjectHandle function;
  TVMFFIAny result = fh_any_none();
  expect_int(TVMFFIFunctionCreate(NULL, leave_result, NULL, &function), 0);
  expect_int(fh_api_table.call(function, NULL, 0, &result), 0);
  expect_int(result.type_index, kTVMFFINone);
  expect_int(result.zero_padding, 0);
  fh_object_release(function);
}

TEST(a_mismatch_names_numbers_outside_the_range) {
  static const struct {
    uint8_t flags;
    int64_t number;
    const char *range; /* NULL: the number is inside */
  } rows[] = {
      {1 << FFI_HPY_TYPE_SIZE_SHIFT, 127, NULL},
      {1 << FFI_HPY_TYPE_SIZE_SHIFT, 128, "128, which is outside the range -128 to 127"},
      {2 << FFI_HPY_TYPE_SIZE_SHIFT, -32768, NULL},
      {2 << FFI_HPY_TYPE_SIZE_SHIFT, -32769, "-32769, which is outside the range -32768 to 32767"},
      {3 << FFI_HPY_TYPE_SIZE_SHIFT | kFfiHpyTypeUnsigned, 4294967295, NULL},
      {3 << FFI_HPY_TYPE_SIZE_SHIFT | kFfiHpyTypeUnsigned, -1, "-1, which is outside the range 0 to 4294967295"},
      {4 << FFI_HPY_TYPE_SIZE_SHIFT, INT64_MIN, NULL},
      {4 << FFI_HPY_TYPE_SIZE_SHIFT | kFfiHpyTypeUnsigned, -1, "range 0 to 18446744073709551615"},
      {0, -1, NULL}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    definition one;
    make(&one, "f", "int\nint", 1, 1);
    one.type_flags[0] = rows[i].flags;
    one.spec.capture[0] = (void *)(intptr_t)kTVMFFINone; /* it accepts no number */
    TVMFFIObjectHandle function = function_of(&one);
    TVMFFIAny refused;
    expect_int(fh_function_call(function, ARGS(i64(rows[i].number)), &refused), -1);
    expect_raised("TypeError", rows[i].range != NULL ? rows[i].range : "Invoked with types: int");
    expect_int(fh_function_call(function, ARGS(i64(rows[i].number)), &refused), -1);
    TVMFFIObjectHandle error;
    TVMFFIErrorMoveFromRaised(&error);
    TVMFFIByteArray message = TVMFFIErrorGetCellPtr(error)->message;
    expect_int(strstr(message.data, "    1. argument #0 `a` is ") != NULL, rows[i].range != NULL);
    fh_object_release(error);
    fh_object_release(function);
  }
}

TEST(a_type_with_none_says_so_once) {
  static const char *const types[] = {"int\nfloat", "int\nNone | float", "int\nfloat | None", "int\nlist[int | None]"};
  static const char *const shown[] = {"(a: float | None)", "(a: None | float)", "(a: float | None)",
                                      "(a: list[int | None] | None)"};
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    definition one;
    make(&one, "f", types[i], 1, 1);
    one.type_flags[0] = kFfiHpyTypeAcceptsNone;
    TVMFFIObjectHandle function = function_of(&one);
    expect_mismatch(function, shown[i], NULL, 0);
    fh_object_release(function);
  }
}

TEST(the_entry_point_tells_bound_functions_from_others) {
  definition one;
  make(&one, "f", "int\nint", 1, 1);
  TVMFFIObjectHandle function = function_of(&one), other = NULL;
  expect(TVMFFIFunctionGetCellPtr(function)->safe_call == fh_api_table.function_call);
  expect(fh_function_self(function, fh_api_table.function_call) == fh_function_self_in(function));
  expect_int(fh_function_new(&one, fh_api_table.function_call, NULL, &other), 0);
  expect(TVMFFIFunctionGetCellPtr(other)->safe_call != fh_api_table.function_call);
  fh_object_release(other);
  fh_object_release(function);
}

TEST(an_overload_without_conversion_comes_first) {
  definition converting, exact;
  make(&converting, "f", "int\nint", 1, 1);
  converting.spec.capture[1] = &converting;
  make(&exact, "f", "int\nbool", 1, 1);
  exact.spec.capture[0] = (void *)(intptr_t)kTVMFFIBool;
  TVMFFIObjectHandle function = function_of(&converting);
  expect_int(result_of(function, ARGS(fh_any_bool(1))), 1);
  fh_object_release(add_to(function, &exact));
  expect_int(result_of(function, ARGS(fh_any_bool(1))), -1);
  expect_int(result_of(function, ARGS(i64(5))), 5);
  expect_mismatch(function, "    1. f(a: int) -> int\n    2. f(a: bool) -> int\n\nInvoked with types: str",
                  ARGS(raw("x")));
  n_freed = 0;
  fh_object_release(function);
  expect_int(n_freed, 2);
}

/* Says whether it gets a str. */
static int take_text(const ffi_hpy_overload *self, const TVMFFIAny *args, uint32_t flags, TVMFFIAny *result) {
  (void)flags;
  if (args[0].type_index != kTVMFFIStr) return FFI_HPY_NEXT_OVERLOAD;
  *result = i64((int64_t)(intptr_t)self->capture[0]);
  return 0;
}
static void make_text_taker(definition *self, int number, uint32_t flags) {
  make(self, "f", "int\nstr", 1, 1);
  self->spec.call = take_text;
  self->spec.capture[0] = (void *)(intptr_t)number;
  self->spec.flags = flags;
}
static int32_t borrows(TVMFFIObjectHandle function) {
  return ((const ffi_hpy_first_overload *)fh_function_self(function, fh_overload_call))->borrows;
}

TEST(an_overload_that_keeps_arguments_gets_none_that_end_with_the_call) {
  definition numbers, first, second;
  make_text_taker(&first, 1, 0);
  make_text_taker(&second, 2, kFfiHpyFunctionBorrows);
  make(&numbers, "f", "int\nint", 1, 1);
  numbers.spec.flags = kFfiHpyFunctionBorrows;
  TVMFFIObject lent = {.combined_ref_count = FFI_HPY_LENT_COUNT, .type_index = kTVMFFIStr};
  struct {
    TVMFFIObject header;
    TVMFFIByteArray bytes;
  } text = {lent, {"text", 4}};
  TVMFFIObjectHandle function = function_of(&numbers);
  expect_int(borrows(function), 1);
  fh_object_release(add_to(function, &first)); /* after the caller has found that the Function borrows */
  expect_int(borrows(function), 0);
  expect_mismatch(function, "Invoked with types: str", ARGS(obj(&text.header)));
  fh_object_release(add_to(function, &second));
  expect_int(result_of(function, ARGS(obj(&text.header))), 2);
  expect_int(borrows(function), 0);
  TVMFFIObjectHandle kept;
  TVMFFIAny owned;
  expect_int(fh_str_from_cstr("a text of the heap", &owned), 0);
  kept = owned.v_obj;
  expect_int(result_of(function, ARGS(obj(kept))), 1);
  fh_object_release(kept);
  fh_object_release(function);
}

TEST(a_parameter_can_refuse_conversion) {
  definition strict;
  make(&strict, "f", "int\nint", 1, 1);
  strict.spec.capture[1] = &strict;
  strict.params[0].flags = 0;
  TVMFFIObjectHandle function = function_of(&strict);
  expect_int(result_of(function, ARGS(i64(5))), 5);
  expect_mismatch(function, "types: bool", ARGS(fh_any_bool(1)));
  fh_object_release(function);
}

TEST(arguments_have_names) {
  definition three;
  make(&three, "f", "int\nint\nint\nint", 3, 2);
  three.spec.n_positional = 2;
  TVMFFIObjectHandle function = function_of(&three);
  expect_int(result_of(function, ARGS(i64(1), KWARGS, raw("b"), i64(2))), -129);
  expect_int(result_of(function, ARGS(KWARGS, raw("c"), i64(3), raw("b"), i64(2), raw("a"), i64(1))), -123);
  expect_mismatch(function, "f(a: int, b: int, *, c: int = 9) -> int\n\nInvoked with types: int, int, int",
                  ARGS(i64(1), i64(2), i64(3)));
  expect_mismatch(function, "types: int, kwargs = { a: int }", ARGS(i64(1), KWARGS, raw("a"), i64(1)));
  expect_mismatch(function, "types: int, int, kwargs = { z: int }", ARGS(i64(1), i64(2), KWARGS, raw("z"), i64(1)));
  fh_object_release(function);
}

TEST(a_function_takes_other_arguments) {
  definition rest;
  make(&rest, "f", "int\nint\ntuple\nint\ndict", 4, 4);
  rest.type_flags[1] = kFfiHpyTypeArgs;
  rest.type_flags[3] = kFfiHpyTypeKwargs;
  TVMFFIObjectHandle function = function_of(&rest);
  expect_int(result_of(function, ARGS(i64(1), KWARGS, raw("c"), i64(2))), -12);
  expect_int(result_of(function, ARGS(i64(1), i64(5), i64(5), KWARGS, raw("c"), i64(2), raw("z"), i64(3))), -22012);
  expect_mismatch(function, "f(a: int, *b, c: int, **d) -> int\n\nInvoked with types: int", ARGS(i64(1)));
  fh_object_release(function);
}

/** Defines a function, and compares its metadata. */
static void expect_metadata(const definition *typed, const char *expected) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny metadata = fh_any_none();
  expect_int(fh_api_table.function_define(&typed->spec, NULL, &function, &metadata), 0);
  TVMFFIByteArray text;
  expect_int(fh_str_content(&metadata, &text), 1);
  expect_text(text, expected);
  fh_any_drop(&metadata);
  fh_object_release(function);
}

TEST(the_metadata_has_types_and_names) {
  definition typed;
  make(&typed, "f", "list[int] | None\ncollections.abc.Callable[[int, str], None]\ndict[str, int | float | None]\nint",
       3, 2);
  typed.spec.n_positional = 2;
  typed.spec.signature = "@d\ndef f(a, b) -> \"x\"";
  typed.params[2].flags |= kFfiHpyParamWritten;
  typed.type_flags[0] = kFfiHpyTypeTakesPython;
  static const char expected[] =
      "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":"
      "[{\\\"type\\\":\\\"Optional\\\",\\\"args\\\":[{\\\"type\\\":\\\"list\\\",\\\"args\\\":[{\\\"type\\\":"
      "\\\"int\\\"}]}]}],"
      "\\\"params\\\":[{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[{\\\"type\\\":"
      "\\\"None\\\"}],"
      "\\\"params\\\":[{\\\"type\\\":\\\"int\\\"},{\\\"type\\\":\\\"str\\\"}]}},"
      "{\\\"type\\\":\\\"dict\\\",\\\"args\\\":[{\\\"type\\\":\\\"str\\\"},{\\\"type\\\":\\\"Union\\\",\\\"args\\\":"
      "[{\\\"type\\\":\\\"int\\\"},{\\\"type\\\":\\\"float\\\"},{\\\"type\\\":\\\"None\\\"}]}]},{\\\"type\\\":"
      "\\\"int\\\"}]}}\","
      "\"params\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\",\"shown\":\"9\",\"written\":true,\"kind\":"
      "\"keyword\"}],"
      "\"signature\":\"f(a, b) -> \\\"x\\\"\",\"written\":\"@d\\u000adef f(a, b) -> "
      "\\\"x\\\"\",\"named_by_function\":true,\"python_arguments\":true,"
      "\"nonblocking\":true,\"python_results\":true}";
  expect_metadata(&typed, expected);
}

TEST(the_metadata_has_the_form_of_an_array) {
  definition typed;
  make(&typed, "f", "list[int]\nlist[numpy.ndarray[dtype=float32, shape=(3, *)]]\nndarray[order='C'] | None", 2, 0);
  static const char expected[] =
      "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":"
      "[{\\\"type\\\":\\\"list\\\",\\\"args\\\":[{\\\"type\\\":\\\"int\\\"}]}],\\\"params\\\":["
      "{\\\"type\\\":\\\"list\\\",\\\"args\\\":[{\\\"type\\\":\\\"numpy.ndarray\\\","
      "\\\"array\\\":\\\"[dtype=float32, shape=(3, *)]\\\"}]},"
      "{\\\"type\\\":\\\"Optional\\\",\\\"args\\\":[{\\\"type\\\":\\\"ndarray\\\","
      "\\\"array\\\":\\\"[order='C']\\\"}]}]}}\","
      "\"params\":[{\"name\":\"a\",\"shown\":\"9\"},{\"name\":\"b\",\"shown\":\"9\"}],"
      "\"signature\":\"f(a: list[numpy.ndarray[dtype=float32, shape=(3, *)]] = 9, b: ndarray[order='C'] | None = 9) -> "
      "list[int]\",\"nonblocking\":true,\"python_results\":true}";
  expect_metadata(&typed, expected);
}

TEST(a_function_with_many_parameters_fills_in_defaults) {
  definition many;
  make(&many, "many", "int", 17, 0);
  TVMFFIObjectHandle function = function_of(&many);
  expect_int(result_of(function, NULL, 0), -99999999999999999);
  expect_int(result_of(function, ARGS(i64(1))), -19999999999999999);
  fh_object_release(function);
}

TEST(a_definition_is_refused) {
  definition wrong;
  TVMFFIObjectHandle function = NULL, other;
  TVMFFIAny metadata = fh_any_none();
  TVMFFIByteArray name = text_of("ffi.Array");
  expect_int(TVMFFIFunctionGetGlobal(&name, &other), 0);
  make(&wrong, "f", "int", 0, 0);
  n_freed = 0;
  expect_int(fh_api_table.function_define(&wrong.spec, other, &function, &metadata), -1);
  expect_raised("TypeError", "Expected a function of bind.h");
  make(&wrong, "f", "int\nint\nint", 2, 2);
  wrong.spec.n_named = 1;
  expect_int(fh_api_table.function_define(&wrong.spec, NULL, &function, &metadata), -1);
  expect_raised("TypeError", "`f` has 2 parameters, but 1 have a name");
  make(&wrong, "f", "int\nint\nint", 2, 1);
  wrong.type_flags[1] = 1 << FFI_HPY_TYPE_SIZE_SHIFT;
  wrong.params[1].default_value = i64(128);
  expect_int(fh_api_table.function_define(&wrong.spec, NULL, &function, &metadata), -1);
  expect_raised("OverflowError", "`f`: parameter `b`: the default is 128, which is outside the range -128 to 127");
  expect_int(n_freed, 3);
  fh_object_release(other);
}

static int call_with_defaults(void *state) {
  (void)state;
  definition many;
  make(&many, "many", "int", 17, 0);
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny metadata = fh_any_none(), result;
  if (fh_api_table.function_define(&many.spec, NULL, &function, &metadata) != 0) return -1;
  fh_any_drop(&metadata);
  int rc = fh_function_call(function, NULL, 0, &result);
  fh_object_release(function);
  return rc;
}

TEST(overloads_without_memory) { test_sweep(call_with_defaults, NULL); }

static int call_with_the_rest(void *state) {
  (void)state;
  definition rest;
  make(&rest, "f", "int\ntuple\ndict", 2, 2);
  rest.type_flags[0] = kFfiHpyTypeArgs;
  rest.type_flags[1] = kFfiHpyTypeKwargs;
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny metadata = fh_any_none(), result;
  if (fh_api_table.function_define(&rest.spec, NULL, &function, &metadata) != 0) return -1;
  fh_any_drop(&metadata);
  int rc = fh_function_call(function, ARGS(i64(1), KWARGS, raw("a long name"), i64(2)), &result);
  fh_object_release(function);
  return rc;
}

TEST(other_arguments_without_memory) { test_sweep(call_with_the_rest, NULL); }

static int fail_to_match(void *state) {
  (void)state;
  definition one;
  make(&one, "one", "int\nint", 1, 1);
  one.type_flags[0] = 1 << FFI_HPY_TYPE_SIZE_SHIFT;
  one.spec.capture[0] = (void *)(intptr_t)kTVMFFINone;
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny metadata = fh_any_none(), result;
  if (fh_api_table.function_define(&one.spec, NULL, &function, &metadata) != 0) return -1;
  fh_any_drop(&metadata);
  int rc = fh_function_call(function, ARGS(i64(300)), &result);
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
