/* test_bad_input.c - impossible names, strings and pointers as arguments of the exported functions. */
#include "core/object/name.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include <limits.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "support/calls.h"

static const TVMFFIByteArray lost = {NULL, 5}, absurd = {"x", SIZE_MAX}, nul = {"one\0two", 7}, empty = {"", 0};

/* The error message for each of the four names. */
static const struct {
  const TVMFFIByteArray *name;
  const char *part;
} bad_names[] = {
    {&lost, "but got NULL as its 5 bytes"},
    {&absurd, "of at most 1048576 bytes but got 18446744073709551615"},
    {&nul, "without a NUL but got `one\\0two`"},
    {&empty, "but got an empty text"},
};

static int32_t fresh_type(const char *key) { return test_add_child(key, kTVMFFIObject, 0); }

static TVMFFIFieldInfo good_field(void) {
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = text_of("number");
  field.size = field.alignment = 8;
  field.offset = 24;
  return field;
}

static TVMFFIMethodInfo good_method(void) {
  TVMFFIMethodInfo method;
  memset(&method, 0, sizeof(method));
  method.name = text_of("number");
  method.method = obj(test_echo());
  return method;
}

TEST(members_and_functions_with_bad_names_are_refused) {
  int32_t type_index = fresh_type("test.bad.Names");
  TVMFFIAny value = i64(1);
  for (size_t i = 0; i < FH_COUNT_OF(bad_names); ++i) {
    TVMFFIFieldInfo field = good_field();
    TVMFFIMethodInfo method = good_method();
    field.name = method.name = *bad_names[i].name;
    expect_int(TVMFFITypeRegisterField(type_index, &field), -1);
    expect_raised("ValueError", "Expected the name of a field");
    expect_int(TVMFFITypeRegisterMethod(type_index, &method), -1);
    expect_raised("ValueError", bad_names[i].part);
    expect_int(TVMFFITypeRegisterAttr(type_index, bad_names[i].name, &value), -1);
    expect_raised("ValueError", bad_names[i].part);
  }
  for (size_t i = 0; i < FH_COUNT_OF(bad_names); ++i) {
    TVMFFIMethodInfo method = good_method();
    method.name = *bad_names[i].name;
    if (bad_names[i].name == &nul || bad_names[i].name == &absurd) continue; /* names of functions may be any string */
    expect_int(TVMFFIFunctionSetGlobal(bad_names[i].name, test_echo(), 1), -1);
    expect_raised("ValueError", bad_names[i].part);
    expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&method, 1), -1);
    expect_raised("ValueError", "Expected the name of a global function");
  }
  expect_int(TVMFFIGetTypeInfo(type_index)->num_fields, 0);
  expect_int(TVMFFIGetTypeInfo(type_index)->num_methods, 0);
}

TEST(types_with_bad_keys_are_refused) {
  for (size_t i = 0; i < FH_COUNT_OF(bad_names); ++i) {
    if (bad_names[i].name == &empty || bad_names[i].name == &absurd) continue;
    expect_int(TVMFFITypeGetOrAllocIndex(bad_names[i].name, -1, 1, 0, 1, kTVMFFIObject), -1);
    expect_raised("ValueError", bad_names[i].part);
  }
  int32_t type_index;
  expect_int(TVMFFITypeKeyToIndex(&lost, &type_index), -1);
  expect_raised("ValueError", "Expected a type key but got NULL as its 5 bytes");
}

TEST(names_with_a_nul_are_not_cut_where_they_are_looked_up) {
  int32_t type_index;
  DLDataType dtype;
  const TVMFFIByteArray key = {"ffi.Array\0x", 11}, float32 = {"float32\0", 8};
  TVMFFIAny prefix;
  expect_int(TVMFFITypeKeyToIndex(&key, &type_index), -1);
  expect_raised("ValueError", "Expected a type key without a NUL but got `ffi.Array\\0x`");
  expect_int(TVMFFIDataTypeFromString(&float32, &dtype), -1);
  expect_raised("ValueError", "Expected the name of a data type without a NUL but got `float32\\0`");
  expect_int(fh_str_new("one\0two", 7, &prefix), 0);
  expect_call_raises("ValueError", "Expected a prefix of symbols without a NUL", "ffi.SystemLib", ARGS(prefix));
  fh_any_drop(&prefix);
}

TEST(texts_without_their_bytes_are_refused) {
  TVMFFIAny out = i64(1);
  DLDataType dtype;
  TVMFFIObjectHandle handle;
  expect_int(TVMFFIStringFromByteArray(&lost, &out), -1);
  expect_raised("ValueError", "Expected a text but got NULL as its 5 bytes");
  expect_int(out.type_index, kTVMFFINone);
  expect_int(TVMFFIBytesFromByteArray(&lost, &out), -1);
  expect_raised("ValueError", "Expected bytes but got NULL as its 5 bytes");
  expect_int(TVMFFIBigIntFromByteArray(&(TVMFFIByteArray){NULL, 16}, &out), -1);
  expect_raised("ValueError", "Expected the words of a BigInt but got NULL as its 16 bytes");
  expect_int(TVMFFIDataTypeFromString(&lost, &dtype), -1);
  expect_raised("ValueError", "Expected the name of a data type but got NULL");
  expect_int(TVMFFIFunctionGetGlobal(&lost, &handle), -1);
  expect_raised("ValueError", "Expected the name of a global function but got NULL");
  expect(TVMFFIGetTypeAttrColumn(&lost) == NULL);
  expect_int(TVMFFIErrorCreate(&lost, &lost, &lost, &handle),
             0); /* this function cannot report missing strings, and treats them as empty */
  expect_text(TVMFFIErrorGetCellPtr(handle)->message, "");
  fh_object_release(handle);
  TVMFFIFieldInfo field = good_field();
  field.doc = lost;
  int32_t type_index = fresh_type("test.bad.Texts");
  expect_int(TVMFFITypeRegisterField(type_index, &field), -1);
  expect_raised("ValueError", "Expected documentation but got NULL as its 5 bytes");
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = lost;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), -1);
  expect_raised("ValueError", "Expected documentation but got NULL as its 5 bytes");
}

TEST(names_that_are_missing_are_refused) {
  TVMFFIObjectHandle handle;
  int context;
  expect_int(TVMFFIEnvRegisterCAPI(NULL, &context), -1);
  expect_raised("ValueError", "Expected the name of a function but got NULL");
  expect_int(TVMFFIEnvModRegisterContextSymbol(NULL, &context), -1);
  expect_raised("ValueError", "Expected the name of a symbol but got NULL");
  expect_int(TVMFFIEnvModRegisterSystemLibSymbol(NULL, &context), -1);
  expect_raised("ValueError", "Expected the name of a symbol but got NULL");
  expect_int(TVMFFIEnvModLookupFromImports(&context, NULL, &handle), -1);
  expect_raised("ValueError", "Expected the name of a function but got NULL");
}

static void expect_field_refused(int32_t type_index, TVMFFIFieldInfo field, const char *kind, const char *part) {
  expect_int(TVMFFITypeRegisterField(type_index, &field), -1);
  expect_raised(kind, part);
}

TEST(fields_at_impossible_places_are_refused) {
  int32_t type_index = fresh_type("test.bad.Places");
  TVMFFITypeMetadata metadata;
  TVMFFIFieldInfo field = good_field();
  field.size = INT64_MIN;
  expect_field_refused(type_index, field, "ValueError", "Expected a size from 0 on of field `number` of type");
  field = good_field();
  field.alignment = 12;
  expect_field_refused(type_index, field, "ValueError", "Expected a power of two as alignment of field `number`");
  memset(&metadata, 0, sizeof(metadata));
  metadata.total_size = 32;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), 0);
  field = good_field();
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  field.name = text_of("second");
  field.offset = 25;
  expect_field_refused(type_index, field, "ValueError",
                       "Expected field `second` of type `test.bad.Places` within the 32 bytes of the object but got "
                       "offset 25, size 8");
  field.offset = field.size = INT64_MAX;
  expect_field_refused(type_index, field, "ValueError", "within the 32 bytes of the object");
  field = good_field();
  field.name = text_of("before");
  field.offset = -16;
  expect_field_refused(type_index, field, "ValueError", "within the 32 bytes of the object but got offset -16, size 8");
  field.offset = -8; /* the rest of the 32 bytes is the header */
  field.size = 33;
  expect_field_refused(type_index, field, "ValueError", "within the 32 bytes of the object but got offset -8, size 33");
  field.offset = INT64_MIN;
  expect_field_refused(type_index, field, "ValueError", "within the 32 bytes of the object");
  expect_int(TVMFFIGetTypeInfo(type_index)->num_fields, 1);
}

TEST(a_size_that_does_not_hold_the_fields_is_refused) {
  int32_t type_index = fresh_type("test.bad.Size");
  TVMFFITypeMetadata metadata;
  TVMFFIFieldInfo field = good_field();
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  memset(&metadata, 0, sizeof(metadata));
  metadata.total_size = 31;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), -1);
  expect_raised("ValueError", "within the 31 bytes of the object but got offset 24, size 8");
  metadata.total_size = INT_MIN;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), -1);
  expect_raised("ValueError", "Expected a size of type `test.bad.Size` from 0 on but got -2147483648");
  metadata.total_size = 32;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), 0);
}

TEST(members_without_their_function_are_refused) {
  int32_t type_index = fresh_type("test.bad.Functions");
  TVMFFIMethodInfo method = good_method();
  method.method = fh_any_none();
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), -1);
  expect_raised("TypeError", "Expected `ffi.Function` as the code of method `number` of type `test.bad.Functions` but "
                             "got `None`");
  method.method = obj(test_echo());
  method.method.v_obj = NULL;
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), -1);
  expect_raised("TypeError", "but got `NULL`");
  TVMFFIFieldInfo field = good_field();
  field.flags = kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitMaskDefaultFromFactory;
  field.default_value_or_factory = i64(1);
  expect_field_refused(type_index, field, "TypeError",
                       "Expected `ffi.Function` as default factory of field `number` of type `test.bad.Functions` but "
                       "got `int`");
}
