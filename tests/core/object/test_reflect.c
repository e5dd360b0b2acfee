/* test_reflect.c - fields, methods, metadata, attribute columns. */
#include "core/object/reflect.h"

#include <stdio.h>
#include <unistd.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/platform/mem.h"
#include "support/harness.h"

/* A type with one int64 after its header. */
typedef struct {
  TVMFFIObject header;
  int64_t number;
} number_object;

static int get_number(void *field, TVMFFIAny *result) {
  *result = fh_any_int(*(int64_t *)field);
  return 0;
}

static int set_number(void *field, const TVMFFIAny *value) {
  return fh_function_arg_int("set_number", value, 0, (int64_t *)field);
}

static TVMFFIFieldInfo field_of(const char *name) {
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = text_of(name);
  field.doc = text_of("its documentation");
  field.metadata = text_of("{}");
  field.flags = kTVMFFIFieldFlagBitMaskWritable;
  field.size = field.alignment = 8;
  field.offset = offsetof(number_object, number);
  field.getter = get_number;
  field.setter = (void *)(uintptr_t)&set_number;
  field.field_static_type_index = kTVMFFIInt;
  return field;
}

static int32_t type_of(const char *key) { return test_add_child(key, kTVMFFIObject, 0); }

TEST(a_field_is_kept_as_it_was_declared) {
  int32_t type_index = type_of("test.reflect.Field");
  char name[] = "number";
  TVMFFIFieldInfo field = field_of(name);
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  name[0] = 'X';
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  expect_int(info->num_fields, 1);
  expect_text(info->fields[0].name, "number");
  expect_text(info->fields[0].doc, "its documentation");
  expect_text(info->fields[0].metadata, "{}");
  expect_int(info->fields[0].offset, 24);
  expect_int(info->fields[0].flags, kTVMFFIFieldFlagBitMaskWritable);
  expect_int(info->fields[0].field_static_type_index, kTVMFFIInt);
  expect_int(info->fields[0].default_value_or_factory.type_index, kTVMFFINone);
  expect(test_find_field(info, text_of("number")) == &info->fields[0]);
  expect(test_find_field(info, text_of("numbe")) == NULL);
}

TEST(empty_texts_of_a_field_stay_empty) {
  int32_t type_index = type_of("test.reflect.Empty");
  TVMFFIFieldInfo field = field_of("number");
  field.doc.data = NULL;
  field.doc.size = 0;
  field.metadata.size = 0;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  const TVMFFIFieldInfo *kept = TVMFFIGetTypeInfo(type_index)->fields;
  expect(kept->doc.data == NULL && kept->doc.size == 0);
  expect(kept->metadata.data == NULL && kept->metadata.size == 0);
}

TEST(a_second_field_of_that_name_is_refused) {
  int32_t type_index = type_of("test.reflect.Duplicate");
  TVMFFIFieldInfo field = field_of("number");
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  expect_int(TVMFFITypeRegisterField(type_index, &field), -1);
  expect_raised("RuntimeError", "Duplicate field name \"number\" in type \"test.reflect.Duplicate\"");
  expect_int(TVMFFIGetTypeInfo(type_index)->num_fields, 1);
}

TEST(a_second_method_of_that_name_is_refused) {
  int32_t type_index = type_of("test.reflect.DuplicateMethod");
  TVMFFIMethodInfo method;
  TVMFFIObjectHandle other;
  memset(&method, 0, sizeof(method));
  expect_int(TVMFFIFunctionCreate(NULL, TVMFFIFunctionGetCellPtr(test_echo())->safe_call, NULL, &other), 0);
  method.name = text_of("sum");
  method.method = fh_any_object(test_echo());
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
  method.method = fh_any_object(other);
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), -1);
  expect_raised("RuntimeError", "Duplicate method name \"sum\" in type \"test.reflect.DuplicateMethod\"");
  expect_int(TVMFFIGetTypeInfo(type_index)->num_methods, 1);
  fh_object_release(other);
  method.method = fh_any_object(test_echo()); /* an overload: one function with two signatures */
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
  expect_int(TVMFFIGetTypeInfo(type_index)->num_methods, 2);
}

/* More members than the linear search compares. */
enum { MANY = 100 };

/* Writes "number<i>" to the block and returns it; it is valid until the next call with that block. */
static TVMFFIByteArray numbered(char block[16], int i) {
  snprintf(block, 16, "number%d", i);
  return text_of(block);
}

TEST(many_fields_are_found_by_their_names) {
  int32_t type_index = type_of("test.reflect.ManyFields");
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  char name[16];
  for (int i = 0; i < MANY; ++i) {
    TVMFFIFieldInfo field = field_of("");
    field.name = numbered(name, i);
    expect(fh_reflect_own_field(info, field.name) == NULL);
    expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
    expect_int(TVMFFITypeRegisterField(type_index, &field), -1);
    fh_object_release(fh_error_take());
    for (int k = 0; k <= i; ++k) expect(fh_reflect_own_field(info, numbered(name, k)) == &info->fields[k]);
  }
  expect(fh_reflect_own_field(info, text_of("number")) == NULL);
  expect_int(info->num_fields, MANY);
  expect(!fh_reflect_may_repeat(info));
}

TEST(many_methods_are_found_by_their_names) {
  int32_t type_index = type_of("test.reflect.ManyMethods");
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  TVMFFIMethodInfo method;
  TVMFFIObjectHandle other;
  char name[16];
  memset(&method, 0, sizeof(method));
  expect_int(TVMFFIFunctionCreate(NULL, TVMFFIFunctionGetCellPtr(test_echo())->safe_call, NULL, &other), 0);
  for (int i = 0; i < MANY; ++i) {
    method.name = numbered(name, i);
    method.method = fh_any_object(test_echo());
    expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
    expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0); /* an overload */
    method.method = fh_any_object(other);
    expect_int(TVMFFITypeRegisterMethod(type_index, &method), -1);
    fh_object_release(fh_error_take());
  }
  expect_int(info->num_methods, 2 * MANY);
  fh_object_release(other);
}

TEST(a_type_records_whether_an_ancestor_may_have_a_field_of_the_same_name) {
  int32_t base = type_of("test.reflect.Repeat"), child = test_add_child("test.reflect.RepeatChild", base, 0);
  int32_t grandchild = test_add_child("test.reflect.RepeatGrandchild", child, 0);
  TVMFFIFieldInfo field = field_of("first");
  expect_int(TVMFFITypeRegisterField(grandchild, &field), 0);
  field.name = text_of("second");
  expect_int(TVMFFITypeRegisterField(child, &field), 0); /* after its subclass has declared the field */
  expect(!fh_reflect_may_repeat(TVMFFIGetTypeInfo(child)) && fh_reflect_may_repeat(TVMFFIGetTypeInfo(grandchild)));
  int32_t later = test_add_child("test.reflect.RepeatLater", child, 0);
  int32_t sibling = test_add_child("test.reflect.RepeatSibling", base, 0);
  expect_int(TVMFFITypeRegisterField(later, &field), 0); /* redeclares the field, with a message on stderr */
  expect(fh_reflect_may_repeat(TVMFFIGetTypeInfo(later)) && !fh_reflect_may_repeat(TVMFFIGetTypeInfo(sibling)));
  field.name = text_of("third");
  expect_int(TVMFFITypeRegisterField(base, &field), 0);
  expect(fh_reflect_may_repeat(TVMFFIGetTypeInfo(child)) && fh_reflect_may_repeat(TVMFFIGetTypeInfo(sibling)));
  expect(!fh_reflect_may_repeat(TVMFFIGetTypeInfo(base)));
}

TEST(members_of_an_unknown_type_are_refused) {
  TVMFFIFieldInfo field = field_of("number");
  TVMFFIMethodInfo method;
  TVMFFITypeMetadata metadata;
  TVMFFIByteArray name = text_of("test.attr");
  TVMFFIAny value = fh_any_int(1);
  memset(&method, 0, sizeof(method));
  memset(&metadata, 0, sizeof(metadata));
  expect_int(TVMFFITypeRegisterField(99999, &field), -1);
  expect_raised("RuntimeError", "Expected the index of a registered type but got 99999");
  expect_int(TVMFFITypeRegisterMethod(-1, &method), -1);
  expect_raised("RuntimeError", "but got -1");
  expect_int(TVMFFITypeRegisterMetadata(63, &metadata), -1);
  expect_raised("RuntimeError", "but got 63");
  expect_int(TVMFFITypeRegisterAttr(-7, &name, &value), -1);
  expect_raised("RuntimeError", "but got -7");
}

/* Runs an action and returns its output on stderr, in a static buffer. */
static const char *stderr_of(void (*action)(void *), void *state) {
  static char text[1000];
  FILE *file = tmpfile();
  fflush(stderr);
  int kept = dup(2);
  dup2(fileno(file), 2);
  action(state);
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void register_number(void *type_index) {
  TVMFFIFieldInfo field = field_of("number");
  expect_int(TVMFFITypeRegisterField(*(int32_t *)type_index, &field), 0);
}

TEST(a_field_that_shadows_an_ancestor_s_is_kept_with_a_warning) {
  int32_t parent = type_of("test.reflect.Parent"), child = test_add_child("test.reflect.Child", parent, 0);
  expect_int(strlen(stderr_of(register_number, &parent)), 0);
  const char *text = stderr_of(register_number, &child);
  expect(strstr(text, "[WARNING] Field \"number\" of type \"test.reflect.Child\" is already a field of its ancestor "
                      "\"test.reflect.Parent\"\n") == text);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(child);
  expect(test_find_field(info, text_of("number")) == &info->fields[0]);
}

#if defined(__linux__) /* other systems have no custom streams in C */
/* A stream that declares the size of a type when something is written to the stream. */
static ssize_t declare_size(void *type_index, const char *text, size_t n_bytes) {
  (void)text;
  TVMFFITypeMetadata metadata = {.total_size = 28};
  expect_int(TVMFFITypeRegisterMetadata(*(int32_t *)type_index, &metadata), 0);
  return (ssize_t)n_bytes;
}

/* The line on stderr is written between the first checks and the publication of the field, where other threads may
 * run. */
TEST(a_field_is_compared_with_a_size_that_is_declared_during_its_registration) {
  int32_t parent = type_of("test.reflect.Unsized"), child = test_add_child("test.reflect.Sized", parent, 0);
  TVMFFIFieldInfo field = field_of("number"); /* ends after the 28th byte */
  expect_int(TVMFFITypeRegisterField(parent, &field), 0);
  cookie_io_functions_t functions = {.write = declare_size};
  FILE *before = stderr, *declaring = fopencookie(&child, "w", functions);
  setvbuf(declaring, NULL, _IONBF, 0);
  stderr = declaring;
  int rc = TVMFFITypeRegisterField(child, &field);
  stderr = before;
  expect_int(rc, -1);
  expect_raised("ValueError", "within the 28 bytes of the object but got offset 24, size 8");
  expect_int(TVMFFIGetTypeInfo(child)->metadata->total_size, 28);
  expect_int(TVMFFIGetTypeInfo(child)->num_fields, 0);
  fclose(declaring);
}
#endif

static int append_name(void *state, const TVMFFIFieldInfo *field) {
  strncat((char *)state, field->name.data, 20);
  return strcmp(field->name.data, "stop") == 0 ? 7 : 0;
}

TEST(fields_are_visited_from_the_root_on) {
  int32_t parent = type_of("test.reflect.Order"), child = test_add_child("test.reflect.Order1", parent, 0);
  static const char *const names[] = {"a", "b", "c", "stop", "d", "e", "f", "g", "h"};
  char seen[100] = "";
  for (size_t i = 0; i < FH_COUNT_OF(names); ++i) {
    TVMFFIFieldInfo field = field_of(names[i]);
    expect_int(TVMFFITypeRegisterField(i < 2 ? child : parent, &field), 0);
  }
  expect_int(fh_reflect_each_field(TVMFFIGetTypeInfo(child), append_name, seen), 7);
  expect_int(strcmp(seen, "cstop"), 0);
  expect(test_find_field(TVMFFIGetTypeInfo(child), text_of("h")) != NULL);
  expect(test_find_field(TVMFFIGetTypeInfo(parent), text_of("a")) == NULL);
}

TEST(a_list_that_grew_is_still_readable_where_it_was) {
  int32_t type_index = type_of("test.reflect.Grow");
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  const TVMFFIFieldInfo *first = NULL;
  for (int i = 0; i < 40; ++i) {
    char name[20];
    snprintf(name, sizeof(name), "field%d", i);
    TVMFFIFieldInfo field = field_of(name);
    expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
    if (first == NULL) first = info->fields;
  }
  expect(first != info->fields);
  expect_text(first[0].name, "field0");
  expect_text(info->fields[0].name, "field0");
  expect_text(info->fields[39].name, "field39");
}

TEST(fields_are_read_and_written_through_their_accessors) {
  number_object object = {{0}, 5};
  TVMFFIFieldInfo field = field_of("number");
  TVMFFIAny value;
  fh_object_init(&object.header, kTVMFFIObject, NULL);
  expect_int(fh_reflect_get(&field, &object, &value), 0);
  expect_int(value.v_int64, 5);
  value = fh_any_int(6);
  expect_int(fh_reflect_set(&field, &object, &value), 0);
  expect_int(object.number, 6);
  value = fh_any_float(1.5);
  expect_int(fh_reflect_set(&field, &object, &value), -1);
  expect_raised("TypeError", "Expected `int` but got `float`");
  field.setter = NULL;
  expect_int(fh_reflect_set(&field, &object, &value), -1);
  expect_raised("TypeError", "Field `number` cannot be written");
  field.getter = NULL;
  expect_int(fh_reflect_get(&field, &object, &value), -1);
  expect_raised("TypeError", "Field `number` cannot be read");
}

static int set_by_function(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)result;
  expect_int(n_args, 2);
  expect_int(args[0].type_index, kTVMFFIOpaquePtr);
  return set_number(args[0].v_ptr, &args[1]);
}

TEST(a_setter_may_be_a_function_which_the_registry_keeps) {
  int32_t type_index = type_of("test.reflect.Setter");
  number_object object = {{0}, 5};
  TVMFFIFieldInfo field = field_of("number");
  TVMFFIAny value = fh_any_int(8);
  expect_int(TVMFFIFunctionCreate(NULL, set_by_function, NULL, &field.setter), 0);
  field.flags |= kTVMFFIFieldFlagBitSetterIsFunctionObj;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  fh_object_release(field.setter);
  expect_int(fh_reflect_set(TVMFFIGetTypeInfo(type_index)->fields, &object, &value), 0);
  expect_int(object.number, 8);
  value = fh_any_none();
  expect_int(fh_reflect_set(TVMFFIGetTypeInfo(type_index)->fields, &object, &value), -1);
  expect_raised("TypeError", "but got `None`");
  test_keeps(1); /* the Function that is the field's setter */
}

TEST(a_default_value_is_owned_by_the_registry) {
  int32_t type_index = type_of("test.reflect.Default");
  TVMFFIFieldInfo field = field_of("number");
  char text[] = "a default of some length";
  field.default_value_or_factory.type_index = kTVMFFIRawStr;
  field.default_value_or_factory.v_c_str = text;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0); /* without the flag the default is ignored */
  expect_int(TVMFFIGetTypeInfo(type_index)->fields[0].default_value_or_factory.type_index, kTVMFFINone);
  field.name = text_of("other");
  field.flags |= kTVMFFIFieldFlagBitMaskHasDefault;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  text[0] = 'X';
  TVMFFIAny kept = TVMFFIGetTypeInfo(type_index)->fields[1].default_value_or_factory;
  expect_int(kept.type_index, kTVMFFIStr);
  expect_text(fh_str_object_bytes(kept.v_obj), "a default of some length");
  test_keeps(1); /* the string that is the field's default value */
}

static int field_sweep(void *counter) {
  TVMFFIFieldInfo field;
  char name[30];
  snprintf(name, sizeof(name), "field%d", ++*(int *)counter);
  field = field_of(name);
  field.flags |= kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitSetterIsFunctionObj;
  field.setter = test_echo();
  field.default_value_or_factory.type_index = kTVMFFIRawStr;
  field.default_value_or_factory.v_c_str = "a default of some length";
  return TVMFFITypeRegisterField(type_of("test.reflect.Sweep"), &field);
}

TEST(a_field_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  type_of("test.reflect.Sweep");
  for (int i = 0; i < 20; ++i) test_sweep(field_sweep, &counter); /* more fields than the linear search compares */
  expect_int(TVMFFIGetTypeInfo(type_of("test.reflect.Sweep"))->num_fields, 20);
  test_keeps(20); /* the default values */
}

/* ---- Methods ---- */

static TVMFFIMethodInfo method_of(const char *name) {
  TVMFFIMethodInfo method;
  memset(&method, 0, sizeof(method));
  method.name = text_of(name);
  method.doc = text_of("doc");
  method.flags = kTVMFFIFieldFlagBitMaskIsStaticMethod;
  method.method = fh_any_object(test_echo());
  return method;
}

TEST(methods_are_kept_in_order_and_found_by_inheritance) {
  int32_t parent = type_of("test.reflect.Methods"), child = test_add_child("test.reflect.Methods1", parent, 0);
  TVMFFIMethodInfo one = method_of("one"), two = method_of("two");
  expect_int(TVMFFITypeRegisterMethod(parent, &one), 0);
  expect_int(TVMFFITypeRegisterMethod(parent, &two), 0);
  expect_int(TVMFFITypeRegisterMethod(child, &one), 0);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(parent), *child_info = TVMFFIGetTypeInfo(child);
  expect_int(info->num_methods, 2);
  expect_text(info->methods[1].name, "two");
  expect(info->methods[1].method.v_obj == test_echo());
  expect(test_find_method(child_info, text_of("one")) == &child_info->methods[0]);
  expect(test_find_method(child_info, text_of("two")) == &info->methods[1]);
  expect(test_find_method(child_info, text_of("three")) == NULL);
}

static int method_sweep(void *counter) {
  char name[30];
  snprintf(name, sizeof(name), "method%d", ++*(int *)counter);
  TVMFFIMethodInfo method = method_of(name);
  return TVMFFITypeRegisterMethod(type_of("test.reflect.MethodSweep"), &method);
}

TEST(one_function_may_have_several_signatures) {
  int32_t type_index = type_of("test.reflect.Overloaded");
  TVMFFIMethodInfo method = method_of("sum");
  method.metadata = text_of("{\"n\":1}");
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
  method.metadata = text_of("{\"n\":2}");
  expect_int(TVMFFITypeRegisterMethod(type_index, &method), 0);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  expect_int(info->num_methods, 2);
  expect(strcmp(info->methods[1].metadata.data, "{\"n\":2}") == 0);
}

TEST(a_method_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  type_of("test.reflect.MethodSweep");
  for (int i = 0; i < 10; ++i) test_sweep(method_sweep, &counter);
  expect_int(TVMFFIGetTypeInfo(type_of("test.reflect.MethodSweep"))->num_methods, 10);
}

/* ---- Metadata ---- */

TEST(metadata_is_registered_once) {
  int32_t type_index = type_of("test.reflect.Metadata");
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = text_of("a doc text");
  metadata.total_size = 32;
  metadata.structural_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  expect(TVMFFIGetTypeInfo(type_index)->metadata == NULL);
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), 0);
  const TVMFFITypeMetadata *kept = TVMFFIGetTypeInfo(type_index)->metadata;
  expect_text(kept->doc, "a doc text");
  expect_int(kept->total_size, 32);
  expect_int(kept->structural_eq_hash_kind, kTVMFFISEqHashKindTreeNode);
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), -1);
  expect_raised("RuntimeError", "Metadata of type `test.reflect.Metadata` is already registered");
}

static int metadata_sweep(void *counter) {
  char key[40];
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = text_of("a doc text");
  snprintf(key, sizeof(key), "test.reflect.MetadataSweep%d", ++*(int *)counter);
  int32_t type_index = type_of(key);
  return type_index < 0 ? -1 : TVMFFITypeRegisterMetadata(type_index, &metadata);
}

TEST(metadata_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  test_sweep(metadata_sweep, &counter);
}

/* ---- Attribute columns ---- */

TEST(the_columns_that_clients_cache_exist_from_the_start) {
  static const char *const names[] = {
      "__any_hash__",     "__any_equal__",      "__ffi_shallow_copy__", "__ffi_repr__",
      "__ffi_hash__",     "__ffi_eq__",         "__ffi_compare__",      "__ffi_new__",
      "__ffi_init__",     "__ffi_convert__",    "__ffi_enum__",         "__s_equal__",
      "__s_hash__",       "__s_visit__",        "__s_mutate__",         "__s_maybe_inplace_mutate__",
      "__data_to_json__", "__data_from_json__", "__ffi_enum_entries__", "__ffi_enum_attrs__"};
  for (size_t i = 0; i < FH_COUNT_OF(names); ++i) {
    TVMFFIByteArray name = text_of(names[i]);
    expect(TVMFFIGetTypeAttrColumn(&name) != NULL);
    expect(TVMFFIGetTypeAttrColumn(&name) == fh_reflect_column((fh_reflect_attr_id)i));
    expect_int(TVMFFIGetTypeAttrColumn(&name)->begin_index, 0);
  }
}

TEST(a_column_appears_when_it_is_first_named) {
  TVMFFIByteArray name = text_of("test.column");
  TVMFFIAny value = fh_any_int(3);
  expect(TVMFFIGetTypeAttrColumn(&name) == NULL);
  expect_int(TVMFFITypeRegisterAttr(kTVMFFINone, &name, &value), 0);
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&name);
  expect_int(column->size, 0);
  expect(fh_reflect_attr(column, 0) == NULL);
  expect_int(TVMFFITypeRegisterAttr(kTVMFFINone, &name, &value), 0); /* a second registration is not an error */
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIInt, &name, &value), 0);
  expect(TVMFFIGetTypeAttrColumn(&name) == column);
  expect_int(column->size, 2);
  expect_int(column->data[0].type_index, kTVMFFINone);
  expect_int(column->data[1].v_int64, 3);
}

TEST(builtin_types_say_whether_they_are_final) {
  static const char *const final[] = {"ffi.BigInt",         "ffi.Module",        "ffi.EnumState",
                                      "ffi.VisitInterrupt", "ffi.StructuralKey", "ffi.reflection.AccessPath"};
  static const char *const open[] = {"ffi.Enum", "ffi.IntEnum", "ffi.StructuralVisitor", "ffi.StructuralMutator"};
  const TVMFFITypeAttrColumn *column = test_column(text_of("__ffi_type_final__"));
  for (size_t i = 0; i < FH_COUNT_OF(final); ++i) {
    const TVMFFIAny *value = fh_reflect_attr(column, fh_type_find_key(text_of(final[i])));
    expect(value != NULL && value->type_index == kTVMFFIBool && value->v_int64 == 1);
  }
  for (size_t i = 0; i < FH_COUNT_OF(open); ++i) {
    const TVMFFIAny *value = fh_reflect_attr(column, fh_type_find_key(text_of(open[i])));
    expect(value != NULL && value->type_index == kTVMFFIBool && value->v_int64 == 0);
  }
}

TEST(an_attribute_is_set_once) {
  TVMFFIByteArray name = text_of("test.once");
  TVMFFIAny value = fh_any_int(3), none = fh_any_none();
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &none), 0); /* None is not a value yet */
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &value), 0);
  value = fh_any_int(4);
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &value), -1);
  expect_raised("RuntimeError", "TypeAttr `test.once` is already registered for type `ffi.String`");
  expect_int(fh_reflect_attr(test_column(name), kTVMFFIStr)->v_int64, 3);
}

TEST(an_attribute_that_the_core_has_set_may_be_set_again) {
  TVMFFIByteArray name = text_of("__ffi_repr__");
  int32_t type_index = fh_type_find_key(text_of("ffi.reflection.AccessPath"));
  const TVMFFIAny *own = fh_reflect_attr(fh_reflect_column(FH_ATTR_REPR), type_index);
  TVMFFIAny value = fh_any_none(), before;
  expect(own != NULL);
  before = *own;
  value.type_index = kTVMFFIRawStr;
  value.v_c_str = "a text of some length, which is released";
  expect_int(TVMFFITypeRegisterAttr(type_index, &name, &value), 0);
  expect(fh_reflect_attr(fh_reflect_column(FH_ATTR_REPR), type_index)->v_int64 == before.v_int64);
}

TEST(a_refused_attribute_is_released) {
  TVMFFIByteArray name = text_of("test.refused");
  TVMFFIAny one = fh_any_int(1), text = fh_any_none();
  text.type_index = kTVMFFIRawStr;
  text.v_c_str = "a text of some length";
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &one), 0);
  expect_int(TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &text), -1);
  expect_raised("RuntimeError", "already registered");
}

TEST(attributes_are_asked_for_one_type_without_its_ancestors) {
  TVMFFIByteArray name = text_of("test.inherit");
  int32_t parent = type_of("test.reflect.Attr"), child = test_add_child("test.reflect.Attr1", parent, 0);
  TVMFFIAny value = fh_any_int(3);
  expect_int(TVMFFITypeRegisterAttr(parent, &name, &value), 0);
  const TVMFFITypeAttrColumn *column = test_column(name);
  expect_int(column->size, parent + 1);
  expect(fh_reflect_attr(column, child) == NULL);
  expect(fh_reflect_attr(NULL, child) == NULL);
  expect(fh_reflect_attr(column, -1) == NULL);
  expect(fh_reflect_attr(column, 1 << 30) == NULL);
}

static int attr_sweep(void *counter) {
  char text[40];
  TVMFFIAny value = fh_any_none();
  value.type_index = kTVMFFIRawStr;
  value.v_c_str = "a text of some length";
  snprintf(text, sizeof(text), "test.attr_sweep%d", ++*(int *)counter);
  TVMFFIByteArray name = text_of(text);
  return TVMFFITypeRegisterAttr(kTVMFFIStr, &name, &value);
}

TEST(an_attribute_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  for (int i = 0; i < 100; ++i) test_sweep(attr_sweep, &counter);
  test_keeps(100); /* the values */
}

/* ---- Races: one thread declares, the others read without a lock, as C++ clients do ---- */

enum { N_MEMBERS = 300 };
typedef struct {
  int32_t types[N_MEMBERS];
  TVMFFIByteArray column_name;
} reflect_race;

static void declare_all(reflect_race *race) {
  for (int n = 0; n < N_MEMBERS; ++n) {
    char name[20];
    snprintf(name, sizeof(name), "member%d", n);
    TVMFFIFieldInfo field = field_of(name);
    TVMFFIMethodInfo method = method_of(name);
    TVMFFIAny value = fh_any_int(n + 1);
    expect_int(TVMFFITypeRegisterField(race->types[0], &field), 0);
    expect_int(TVMFFITypeRegisterMethod(race->types[0], &method), 0);
    /* from the last type to the first, so that readers see the cells while they are filled */
    expect_int(TVMFFITypeRegisterAttr(race->types[N_MEMBERS - 1 - n], &race->column_name, &value), 0);
  }
}

static void read_all(reflect_race *race) {
  const TVMFFITypeInfo *info = fh_type_find(race->types[0]);
  const TVMFFITypeAttrColumn *column = test_column(race->column_name);
  for (int n = 0; n < N_MEMBERS; ++n) {
    char name[20];
    snprintf(name, sizeof(name), "member%d", n);
    const TVMFFIFieldInfo *field = test_find_field(info, text_of(name));
    const TVMFFIMethodInfo *method = test_find_method(info, text_of(name));
    const TVMFFIAny *value = fh_reflect_attr(column, race->types[n]);
    expect(field == NULL || (field->offset == 24 && strcmp(field->name.data, name) == 0));
    expect(method == NULL || method->method.v_obj == test_echo());
    expect(value == NULL || value->v_int64 == N_MEMBERS - n);
  }
}

static void declare_or_read(void *raw, int i) {
  reflect_race *race = (reflect_race *)raw;
  const TVMFFITypeAttrColumn *column = test_column(race->column_name);
  if (i == 0) declare_all(race);
  while (fh_reflect_attr(column, race->types[0]) == NULL) read_all(race); /* the value that the writer registers last */
}

TEST(readers_see_complete_members_while_another_thread_declares) {
  static reflect_race race;
  race.column_name = text_of("test.race");
  for (int n = 0; n < N_MEMBERS; ++n) {
    char key[40];
    snprintf(key, sizeof(key), "test.reflect.Race%d", n);
    race.types[n] = type_of(key);
  }
  TVMFFITypeRegisterAttr(kTVMFFINone, &race.column_name, NULL);
  test_threads(4, declare_or_read, &race);
  expect_int(fh_type_find(race.types[0])->num_fields, N_MEMBERS);
  expect_int(fh_type_find(race.types[0])->num_methods, N_MEMBERS);
}
