/* test_any.c - the value cell: converting views to owned values, hash and equality, and hooks of both conventions. */
#include "core/object/any.h"
#include "core/object/any_hash.h"
#include "core/object/bigint.h"
#include "core/object/compare_hook.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "support/harness.h"

static TVMFFIAny raw_str(const char *text) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = text;
  return any;
}

TEST(raw_text_becomes_owned_text) {
  TVMFFIAny view = raw_str("short"), out;
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), 0);
  expect_int(out.type_index, kTVMFFISmallStr);
  view = raw_str("longer than seven");
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), 0);
  expect_int(out.type_index, kTVMFFIStr);
  expect_text(fh_str_object_bytes(out.v_obj), "longer than seven");
  fh_any_drop(&out);
}

TEST(a_byte_array_becomes_owned_bytes) {
  TVMFFIByteArray bytes = {"\0\1\2\3\4\5\6\7", 8};
  TVMFFIAny view = fh_any_ptr(&bytes), out;
  view.type_index = kTVMFFIByteArrayPtr;
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), 0);
  expect_int(out.type_index, kTVMFFIBytes);
  expect_int(fh_str_object_bytes(out.v_obj).size, 8);
  fh_any_drop(&out);
}

TEST(an_object_gains_a_reference) {
  int ends = 0;
  TVMFFIObjectHandle object = test_object_new(&ends);
  TVMFFIAny view = fh_any_object(object), out;
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), 0);
  expect_int(fh_object_use_count(object), 2);
  fh_any_drop(&out);
  expect_int(out.type_index, kTVMFFINone);
  expect_int(ends, 0);
  fh_object_release(object);
  expect_int(ends, 1);
}

TEST(an_rvalue_reference_is_taken_out_of_its_slot_once) {
  int ends = 0;
  TVMFFIObject *slot = (TVMFFIObject *)test_object_new(&ends);
  TVMFFIAny view = fh_any_ptr(&slot), out;
  view.type_index = kTVMFFIObjectRValueRef;
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), 0);
  expect(slot == NULL);
  expect_int(out.type_index, kTVMFFIObject);
  expect_int(fh_object_use_count(out.v_obj), 1);
  fh_any_drop(&out);
  expect_int(ends, 1);
  expect_int(TVMFFIAnyViewToOwnedAny(&view, &out), -1);
  expect_raised("InternalError", "it was taken already");
  expect_int(out.type_index, kTVMFFINone);
}

TEST(plain_data_is_copied_bit_by_bit) {
  DLTensor tensor;
  DLDataType dtype = {kDLFloat, 32, 1};
  DLDevice device = {kDLCUDA, 3};
  TVMFFIAny views[] = {fh_any_none(),       fh_any_int(-1),      fh_any_bool(7),        fh_any_float(1.5),
                       fh_any_ptr(&tensor), fh_any_dtype(dtype), fh_any_device(device), fh_any_ptr(&tensor)};
  views[7].type_index = kTVMFFIDLTensorPtr;
  expect_int(views[2].v_int64, 1);
  for (size_t i = 0; i < FH_COUNT_OF(views); ++i) {
    TVMFFIAny out;
    expect_int(TVMFFIAnyViewToOwnedAny(&views[i], &out), 0);
    expect(memcmp(&out, &views[i], sizeof(out)) == 0);
  }
}

static int own_text(void *unused) {
  (void)unused;
  TVMFFIAny view = raw_str("longer than seven"), out;
  if (TVMFFIAnyViewToOwnedAny(&view, &out) != 0) return -1;
  fh_any_drop(&out);
  return 0;
}

TEST(owning_text_without_memory_is_an_error) { test_sweep(own_text, NULL); }

/* ---- Hash and equality ---- */

static int are_equal(TVMFFIAny a, TVMFFIAny b) {
  int equal = 2, reversed = 2;
  expect_int(fh_any_equal(&a, &b, &equal), 0);
  expect_int(fh_any_equal(&b, &a, &reversed), 0);
  expect_int(equal, reversed);
  return equal;
}

static uint64_t hash_of(TVMFFIAny any) {
  uint64_t hash;
  expect_int(fh_any_hash(&any, &hash), 0);
  return hash;
}

TEST(values_of_different_types_differ) {
  expect(!are_equal(fh_any_int(1), fh_any_float(1.0)));
  expect(!are_equal(fh_any_int(1), fh_any_bool(1)));
  expect(!are_equal(fh_any_int(0), fh_any_none()));
  expect(are_equal(fh_any_int(5), fh_any_int(5)));
  expect(!are_equal(fh_any_int(5), fh_any_int(6)));
  expect(!are_equal(fh_any_float(0.0), fh_any_float(-0.0))); /* by bits */
}

TEST(a_nan_equals_the_same_nan) {
  TVMFFIAny nan = fh_any_int(0x7ff8000000000001);
  nan.type_index = kTVMFFIFloat;
  expect(are_equal(nan, nan));
}

/* Makes the object form of a string that would fit into the small form, as a client may make it. */
static TVMFFIAny long_form(const char *text, int32_t type_index) {
  fh_str_object *str = test_long_form(strlen(text), type_index);
  memcpy(str->content, text, strlen(text));
  return fh_any_object(str);
}

TEST(text_goes_by_content_in_either_form) {
  TVMFFIAny small, object = long_form("abc", kTVMFFIStr), other = long_form("abd", kTVMFFIStr), bytes;
  fh_str_from_cstr("abc", &small);
  fh_bytes_new("abc", 3, &bytes);
  expect(are_equal(small, object));
  expect(hash_of(small) == hash_of(object));
  expect_int(hash_of(small), fh_span_hash_combine(65, fh_span_hash("abc", 3)));
  expect(!are_equal(small, other));
  expect(!are_equal(small, bytes));
  expect_int(hash_of(bytes), fh_span_hash_combine(66, fh_span_hash("abc", 3)));
  fh_any_drop(&object);
  fh_any_drop(&other);
}

TEST(other_objects_go_by_identity) {
  int ends = 0;
  TVMFFIAny a = fh_any_object(test_object_new(&ends)), b = fh_any_object(test_object_new(&ends));
  expect(are_equal(a, a));
  expect(!are_equal(a, b));
  expect_int(hash_of(a), fh_span_hash_combine(64, a.v_uint64));
  fh_any_drop(&a);
  fh_any_drop(&b);
  expect_int(ends, 2);
}

/* ---- Hooks. The objects of each type below are all equal and hash to 42, by different kinds of hooks. ---- */

static TVMFFIAny hash_newer(const TVMFFIAny *any) {
  (void)any;
  return fh_any_int(42);
}
static TVMFFIAny equal_newer(const TVMFFIAny *a, const TVMFFIAny *b) {
  (void)a;
  (void)b;
  return fh_any_bool(1);
}
static int64_t hash_older(const TVMFFIAny *any) {
  (void)any;
  return 42;
}
static _Bool equal_older(const TVMFFIAny *a, const TVMFFIAny *b) {
  (void)b;
  return a->v_obj != NULL;
}
static TVMFFIAny fail_native(const TVMFFIAny *any) {
  (void)any;
  fh_error_raise(FH_VALUE_ERROR, "no hash today");
  return fh_any_object(fh_error_take());
}
static TVMFFIAny fail_native_equal(const TVMFFIAny *a, const TVMFFIAny *b) {
  (void)b;
  return fail_native(a);
}
static int call_hash(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  (void)args;
  expect_int(n_args, 1);
  *result = fh_any_int(42);
  return 0;
}
static int call_equal(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  (void)args;
  expect_int(n_args, 2);
  *result = fh_any_bool(1);
  return 0;
}
static int call_fail(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return fh_error_raise(FH_VALUE_ERROR, "no hash today");
}

static TVMFFIAny pointer_to(void (*function)(void)) { return fh_any_ptr((void *)(uintptr_t)function); }
#define POINTER_TO(function) pointer_to((void (*)(void))(function))

/* Adds a type with these hooks. The registry makes Functions of native hooks, and keeps all hooks. */
static int32_t type_with_hooks(const char *key, TVMFFIAny hash, TVMFFIAny equal) {
  int32_t type_index = test_add_child(key, kTVMFFIObject, 0);
  TVMFFIByteArray hash_name = text_of("__any_hash__"), equal_name = text_of("__any_equal__");
  expect_int(TVMFFITypeRegisterAttr(type_index, &hash_name, &hash), 0);
  expect_int(TVMFFITypeRegisterAttr(type_index, &equal_name, &equal), 0);
  /* a Function and its state, and a Function */
  test_keeps((hash.type_index == kTVMFFIOpaquePtr) * 2 + (equal.type_index == kTVMFFIOpaquePtr));
  return type_index;
}

static void expect_all_equal(int32_t type_index) {
  TVMFFIAny a = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
  TVMFFIAny b = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
  expect(are_equal(a, b));
  expect_int(hash_of(a), fh_span_hash_combine((uint64_t)type_index, 42));
  fh_any_drop(&a);
  fh_any_drop(&b);
}

TEST(native_hooks_of_the_newer_convention_decide) {
  expect_all_equal(type_with_hooks("test.any.Newer", POINTER_TO(hash_newer), POINTER_TO(equal_newer)));
}

TEST(native_hooks_of_the_older_convention_decide) {
  if (FH_OLDER_HOOKS)
    expect_all_equal(type_with_hooks("test.any.Older", POINTER_TO(hash_older), POINTER_TO(equal_older)));
}

/* Hooks of the older convention whose results look like newer results: the first word is that of an Int or an Error.
 * The second register has an arbitrary value. */
static TVMFFIAny hash_older_1(const TVMFFIAny *any) {
  return (TVMFFIAny){.type_index = kTVMFFIInt, .v_uint64 = any->v_uint64};
}
static TVMFFIAny hash_older_67(const TVMFFIAny *any) {
  (void)any;
  return (TVMFFIAny){.type_index = kTVMFFIError, .v_uint64 = 16};
}
TEST(a_hash_of_the_older_convention_may_look_like_a_newer_result) {
  static const struct {
    TVMFFIAny (*hook)(const TVMFFIAny *any);
    const char *key;
    uint64_t hash;
  } each[] = {{hash_older_1, "test.any.Older1", 1}, {hash_older_67, "test.any.Older67", 67}};
  for (size_t i = 0; FH_OLDER_HOOKS && i < FH_COUNT_OF(each); ++i) {
    int32_t type_index = type_with_hooks(each[i].key, POINTER_TO(each[i].hook), POINTER_TO(equal_older));
    TVMFFIAny value = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
    for (int k = 0; k < 2; ++k) {
      expect_int(hash_of(value), fh_span_hash_combine((uint64_t)type_index, each[i].hash));
    }
    fh_any_drop(&value);
  }
}

TEST(a_hash_without_an_equality_function_is_of_the_newer_convention) {
  TVMFFIAny echo = fh_any_object(test_echo());
  int32_t type_index = type_with_hooks("test.any.HashOnly", POINTER_TO(hash_newer), echo);
  TVMFFIAny value = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
  expect_int(hash_of(value), fh_span_hash_combine((uint64_t)type_index, 42));
  fh_any_drop(&value);
}

TEST(function_hooks_decide) {
  TVMFFIObjectHandle hash, equal;
  TVMFFIFunctionCreate(NULL, call_hash, NULL, &hash);
  TVMFFIFunctionCreate(NULL, call_equal, NULL, &equal);
  expect_all_equal(type_with_hooks("test.any.Function", fh_any_object(hash), fh_any_object(equal)));
  fh_object_release(hash);
  fh_object_release(equal);
  test_keeps(2); /* the Functions of the type's hooks */
}

static TVMFFIAny call_attr(int32_t type_index, const char *name, const TVMFFIAny *args, int32_t n_args) {
  TVMFFIByteArray attr = text_of(name);
  const TVMFFIAny *hook = fh_reflect_attr(TVMFFIGetTypeAttrColumn(&attr), type_index);
  TVMFFIAny result;
  expect_int(hook->type_index, kTVMFFIFunction);
  expect_int(fh_function_call(hook->v_obj, args, n_args, &result), 0);
  return result;
}

TEST(the_headers_of_every_release_find_a_function) {
  int32_t types[] = {type_with_hooks("test.any.NewerFound", POINTER_TO(hash_newer), POINTER_TO(equal_newer)),
                     type_with_hooks("test.any.OlderFound", POINTER_TO(hash_older), POINTER_TO(equal_older))};
  for (size_t i = 0; i < (FH_OLDER_HOOKS ? 2 : 1); ++i) {
    TVMFFIAny value = fh_any_object(fh_object_new(24, types[i], fh_object_delete_plain)), pair[2] = {value, value};
    TVMFFIAny hash = call_attr(types[i], "__any_hash__", &value, 1),
              equal = call_attr(types[i], "__any_equal__", pair, 2);
    expect(hash.type_index == kTVMFFIInt && hash.v_int64 == 42);
    expect(equal.type_index == kTVMFFIBool && equal.v_int64 == 1);
    fh_any_drop(&value);
  }
  TVMFFIAny big;
  expect_int(fh_bigint_from_decimal(text_of("123456789012345678901234567890"), &big), 0);
  expect_int(call_attr(kTVMFFIBigInt, "__any_hash__", &big, 1).type_index, kTVMFFIInt);
  fh_any_drop(&big);
}

static void expect_hooks_fail(int32_t type_index, const char *kind, const char *text) {
  TVMFFIAny a = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
  TVMFFIAny b = fh_any_object(fh_object_new(24, type_index, fh_object_delete_plain));
  uint64_t hash;
  int equal;
  expect_int(fh_any_hash(&a, &hash), -1);
  expect_raised(kind, text);
  expect_int(fh_any_equal(&a, &b, &equal), -1);
  expect_raised(kind, text);
  expect_int(fh_any_equal(&a, &a, &equal), 0); /* equal bytes: no hook is called */
  expect_int(equal, 1);
  fh_any_drop(&a);
  fh_any_drop(&b);
}

TEST(an_error_that_a_native_hook_returns_is_raised) {
  expect_hooks_fail(type_with_hooks("test.any.Fails", POINTER_TO(fail_native), POINTER_TO(fail_native_equal)),
                    "ValueError", "no hash today");
}

TEST(an_error_that_a_function_hook_raises_is_passed_on) {
  TVMFFIObjectHandle fails;
  TVMFFIFunctionCreate(NULL, call_fail, NULL, &fails);
  expect_hooks_fail(type_with_hooks("test.any.FunctionFails", fh_any_object(fails), fh_any_object(fails)), "ValueError",
                    "no hash today");
  fh_object_release(fails);
  test_keeps(1); /* the Function that is both of the type's hooks */
}

TEST(a_hook_that_is_not_a_function_is_an_error) {
  expect_hooks_fail(type_with_hooks("test.any.Garbage", fh_any_int(1), fh_any_int(1)), "TypeError", "but got `int`");
}

TEST(a_hook_that_returns_another_type_is_an_error) {
  TVMFFIObjectHandle echo = test_echo(); /* returns the object itself */
  expect_hooks_fail(type_with_hooks("test.any.Wrong", fh_any_object(echo), fh_any_object(echo)), "TypeError",
                    "but got `test.any.Wrong`");
}
