/* test_instance.c - bound classes, their objects and properties. */
#include "core/bind/instance.h"

#include "core/bind/api.h"
#include "core/object/field_guard.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "support/calls.h"
#include "support/harness.h"

typedef struct {
  int64_t n;
} number;
/* The base is behind the first member. */
typedef struct {
  int64_t own;
  number base;
} named_number;

static int n_ended;

static void end_number(void *value) {
  (void)value;
  ++n_ended;
}
static void *base_of(void *value) { return &((named_number *)value)->base; }
static void destroy_value(ffi_hpy_instance *self) { self->type->destroy(self->value); }

static ffi_hpy_class number_class = {
    .destroy = end_number, .cpp_name = "number", .size = sizeof(number), .alignment = 8};
static ffi_hpy_class named_class = {.base = &number_class,
                                    .to_base = base_of,
                                    .destroy = end_number,
                                    .cpp_name = "named_number",
                                    .size = sizeof(named_number),
                                    .alignment = 64};

/* Registers both classes, once. */
static void add_classes(void) {
  static bool is_done;
  if (is_done) return;
  TVMFFIByteArray doc = text_of("A number.");
  TVMFFIByteArray key = text_of("test.bind.Number"), named = text_of("test.bind.Named");
  expect_int(fh_api_table.class_add(&number_class, &key, &doc), 0);
  expect_int(fh_api_table.class_add(&named_class, &named, &doc), 0);
  is_done = true;
}

static ffi_hpy_instance *new_number(const ffi_hpy_class *type, int64_t n) {
  void *room;
  ffi_hpy_instance *made = NULL;
  expect_int(fh_api_table.instance_new(type, &room, &made), 0);
  expect_int((uintptr_t)room % type->alignment, 0);
  memset(room, 0, type->size);
  *(type == &named_class ? &((named_number *)room)->base.n : &((number *)room)->n) = n;
  made->release = destroy_value;
  expect(fh_api_table.instance_ready(made, room, 0) == NULL);
  return made;
}

TEST(a_class_is_a_type) {
  add_classes();
  expect(fh_api_table.class_find("number") == &number_class);
  expect(fh_api_table.class_find("unknown") == NULL);
  expect_text(fh_type_find(named_class.type_index)->type_key, "test.bind.Named");
  expect(fh_type_is_instance(named_class.type_index, number_class.type_index));
  TVMFFIByteArray key = text_of("test.bind.Other"), used = text_of("test.bind.Number"), doc = text_of("");
  ffi_hpy_class again = number_class, other = {.cpp_name = "other_number", .size = 8, .alignment = 8};
  expect_int(fh_api_table.class_add(&again, &key, &doc), -1);
  expect_raised("RuntimeError", "`test.bind.Other` is bound already");
  expect_int(fh_api_table.class_add(&other, &used, &doc), -1);
  expect_raised("RuntimeError", "`test.bind.Number` is bound already");
}

TEST(an_object_is_found_by_its_value_and_ends_once) {
  add_classes();
  n_ended = 0;
  ffi_hpy_instance *one = new_number(&number_class, 5);
  expect(fh_api_table.instance_find(&number_class, one->value) == one);
  expect(fh_api_table.instance_find(&named_class, one->value) == NULL);
  expect(fh_api_table.instance_find(&number_class, &n_ended) == NULL);
  const void *value = one->value;
  fh_object_release(one);
  expect_int(n_ended, 0);
  fh_object_release(one);
  expect_int(n_ended, 1);
  expect(fh_api_table.instance_find(&number_class, value) == NULL);
}

TEST(an_object_whose_constructor_failed_ends_silently) {
  add_classes();
  void *room;
  ffi_hpy_instance *made = NULL;
  n_ended = 0;
  expect_int(fh_api_table.instance_new(&number_class, &room, &made), 0);
  made->release = destroy_value;
  fh_object_release(made);
  expect_int(n_ended, 0);
}

TEST(a_value_elsewhere_has_one_object) {
  add_classes();
  number value = {7};
  ffi_hpy_instance *one = NULL, *two = NULL;
  expect_int(fh_api_table.instance_new(&number_class, NULL, &one), 0);
  expect(fh_api_table.instance_ready(one, &value, 1) == NULL);
  expect_int(fh_api_table.instance_new(&number_class, NULL, &two), 0);
  expect(fh_api_table.instance_ready(two, &value, 1) == one);
  fh_object_release(two);
  fh_object_release(one);
  expect(fh_api_table.instance_find(&number_class, &value) == one);
  fh_object_release(one);
  fh_object_release(one);
}

TEST(a_part_keeps_its_whole) {
  add_classes();
  n_ended = 0;
  ffi_hpy_instance *whole = new_number(&named_class, 1), *part = NULL;
  expect_int(fh_api_table.instance_new(&number_class, NULL, &part), 0);
  part->holder = whole;
  part->release = fh_api_table.instance_release_whole;
  expect(fh_api_table.instance_ready(part, base_of(whole->value), 1) == NULL);
  expect_int(n_ended, 0);
  fh_object_release(part);
  expect_int(n_ended, 1);
}

TEST(a_cast_finds_the_base_at_its_address) {
  add_classes();
  ffi_hpy_instance *named = new_number(&named_class, 3), *plain = new_number(&number_class, 4);
  TVMFFIAny view = obj(named), other = obj(plain), none = fh_any_none();
  expect(fh_api_table.instance_cast(&view, &named_class) == named->value);
  expect(fh_api_table.instance_cast(&view, &number_class) == base_of(named->value));
  expect(fh_api_table.instance_cast(&other, &number_class) == plain->value);
  expect(fh_api_table.instance_cast(&other, &named_class) == NULL);
  expect(fh_api_table.instance_cast(&none, &number_class) == NULL);
  fh_object_release(named);
  fh_object_release(plain);
}

/* ---- Properties ---- */

static int get_times(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  expect_int(n_args, 1);
  expect(result->type_index == kTVMFFINone && result->v_int64 == 0); /* bind.h reads flags of its caller there */
  number *value = (number *)fh_api_table.instance_cast(&args[0], &number_class);
  *result = i64(value->n * (int64_t)(intptr_t)self);
  return 0;
}
static int set_n(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)result;
  expect_int(n_args, 2);
  ((number *)fh_api_table.instance_cast(&args[0], &number_class))->n = args[1].v_int64;
  return 0;
}

static const TVMFFIFieldInfo *last_field(const ffi_hpy_class *type) {
  const TVMFFITypeInfo *info = fh_type_find(type->type_index);
  return &info->fields[info->num_fields - 1];
}

static const TVMFFIFieldInfo *add_property(const ffi_hpy_class *type, const char *name, int64_t times, bool has_set) {
  TVMFFIObjectHandle get, set = NULL;
  expect_int(TVMFFIFunctionCreate((void *)(intptr_t)times, get_times, NULL, &get), 0);
  if (has_set) expect_int(TVMFFIFunctionCreate(NULL, set_n, NULL, &set), 0);
  TVMFFIFieldInfo info;
  memset(&info, 0, sizeof(info));
  info.name = text_of(name);
  expect_int(fh_api_table.class_add_property(type, &info, get, set), 0);
  fh_object_release(get);
  fh_object_release(set);
  return last_field(type);
}

static int64_t read_field(const TVMFFIFieldInfo *field, ffi_hpy_instance *object) {
  TVMFFIAny value = i64(7); /* the memory of a result may have any content */
  expect_int(field->getter((char *)object + field->offset, &value), 0);
  return value.v_int64;
}

TEST(a_property_is_a_field) {
  enum { N = 20, N_FUNCTIONS = 2 * N + 1 };
  add_classes();
  test_keeps(N_FUNCTIONS);
  const TVMFFIFieldInfo *fields[2 * N];
  char name[32];
  for (int i = 0; i < 2 * N; ++i) { /* in turn, so that the numbers of base and derived class differ */
    (void)snprintf(name, sizeof(name), "times%d", i);
    fields[i] = add_property(i % 2 ? &named_class : &number_class, name, i + 1, i == 0);
  }
  ffi_hpy_instance *plain = new_number(&number_class, 10), *named = new_number(&named_class, 20);
  const TVMFFITypeInfo *info = fh_type_find(number_class.type_index);
  expect_int(info->num_fields, N);
  for (int i = 0; i < N; ++i) {
    expect_int(read_field(&info->fields[i], plain), 10 * (2 * i + 1));
    expect_int(read_field(&info->fields[i], named), 20 * (2 * i + 1));
    expect_int(read_field(&fh_type_find(named_class.type_index)->fields[i], named), 20 * (2 * i + 2));
  }
  TVMFFIAny value = i64(3);
  TVMFFIFieldSetter set;
  memcpy(&set, &info->fields[0].setter, sizeof(set));
  expect_int(set((char *)named + info->fields[0].offset, &value), 0);
  expect_int(read_field(&info->fields[1], named), 9);
  expect(info->fields[1].setter == NULL);
  TVMFFIAny read = fh_any_none();
  const TVMFFIFieldInfo *of_named = &fh_type_find(named_class.type_index)->fields[0];
  expect_int(of_named->getter((char *)plain + of_named->offset, &read), -1);
  expect_raised("TypeError", "`test.bind.Number` has no such property");
  fh_object_release(plain);
  fh_object_release(named);
  (void)fields;
}

TEST(a_property_of_one_word_needs_no_guard) {
  add_classes();
  for (int is_word = 0; is_word < 2; ++is_word) {
    TVMFFIObjectHandle get, set;
    TVMFFIFieldInfo info;
    memset(&info, 0, sizeof(info));
    info.name = text_of(is_word ? "word" : "text");
    info.flags = is_word ? FFI_HPY_FIELD_IS_WORD | kTVMFFIFieldFlagBitMaskReprOff : 0;
    expect_int(TVMFFIFunctionCreate((void *)(intptr_t)1, get_times, NULL, &get), 0);
    expect_int(TVMFFIFunctionCreate(NULL, set_n, NULL, &set), 0);
    expect_int(fh_api_table.class_add_property(&number_class, &info, get, set), 0);
    test_keeps(2);
    fh_object_release(get);
    fh_object_release(set);
    expect_int(fh_field_guard_is_for(last_field(&number_class)), !is_word);
    expect_int(last_field(&number_class)->flags & kTVMFFIFieldFlagBitMaskReprOff, 0);
  }
}

/* ---- Threads and memory ---- */

static void find_and_drop(void *state, int i) {
  number *values = (number *)state;
  for (int n = 0; n < 2000; ++n) {
    number *value = &values[(i + n) % 8];
    ffi_hpy_instance *found = fh_api_table.instance_find(&number_class, value);
    if (found == NULL) {
      ffi_hpy_instance *made = NULL;
      expect_int(fh_api_table.instance_new(&number_class, NULL, &made), 0);
      found = fh_api_table.instance_ready(made, value, 1);
      if (found == NULL) {
        found = made;
      } else {
        fh_object_release(made);
      }
    }
    expect(found->value == value);
    fh_object_release(found);
  }
}

TEST(threads_find_and_drop_objects) {
  static number values[8];
  add_classes();
  test_threads(4, find_and_drop, values);
}

static int make_object(void *state) {
  (void)state;
  ffi_hpy_instance *made = NULL;
  void *room;
  if (fh_api_table.instance_new(&number_class, &room, &made) != 0) return -1;
  fh_object_release(made);
  return 0;
}

TEST(objects_without_memory) {
  add_classes();
  test_sweep(make_object, NULL);
}
