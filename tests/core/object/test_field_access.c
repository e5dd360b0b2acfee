/* test_field_access.c - threads that read, write and copy the fields of one object. */
#include "core/object/field_access.h"

#include "core/object/field_memory.h"
#include "core/platform/hazard.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "support/harness.h"
#include "support/records.h"

/* ---- Fields whose layout a binding chose ---- */

typedef struct {
  TVMFFIAny any;
  TVMFFIObject *object;
  int64_t number;
  double real;
  uint8_t truth;
  DLDataType dtype;
  DLDevice device;
} fields;

static TVMFFIAny read_field(void *field, int32_t type_index) {
  TVMFFIAny value, alone;
  expect_int(fh_field_memory_getter(type_index)(field, &value), 0);
  fh_field_memory_read_alone(field, type_index, &alone);
  expect_int(fh_any_same(&value, &alone), 1);
  fh_any_drop(&alone);
  return value;
}

TEST(an_exchanged_value_is_read_and_gives_the_former_one) {
  fields f;
  memset(&f, 0, sizeof(f));
  TVMFFIAny value = str("a text that is on the heap"), got;
  TVMFFIObject *text = value.v_obj;
  fh_field_memory_exchange(&f.any, kTVMFFIAny, &value);
  expect_int(value.type_index, kTVMFFINone);
  got = read_field(&f.any, kTVMFFIAny);
  expect(got.v_obj == text);
  fh_field_memory_exchange(&f.object, kTVMFFIObject, &got);
  expect_int(got.type_index, kTVMFFINone);
  got = read_field(&f.object, kTVMFFIStr);
  expect(got.v_obj == text);
  fh_any_drop(&got);
  fh_field_memory_exchange(&f.object, kTVMFFIObject, &got);
  expect(got.v_obj == text && f.object == NULL);
  fh_any_drop(&got);
  fh_field_memory_exchange(&f.any, kTVMFFIAny, &value);
  expect(value.v_obj == text);
  fh_any_drop(&value);
}

TEST(plain_values_are_exchanged_in_their_own_form) {
  fields f;
  memset(&f, 0, sizeof(f));
  TVMFFIAny number = fh_any_int(7), real = fh_any_float(0.5), truth = fh_any_bool(1);
  TVMFFIAny dtype = fh_any_dtype((DLDataType){kDLFloat, 32, 1}), device = fh_any_device((DLDevice){kDLCPU, 3});
  fh_field_memory_exchange(&f.number, kTVMFFIInt, &number);
  fh_field_memory_exchange(&f.real, kTVMFFIFloat, &real);
  fh_field_memory_exchange(&f.truth, kTVMFFIBool, &truth);
  fh_field_memory_exchange(&f.dtype, kTVMFFIDataType, &dtype);
  fh_field_memory_exchange(&f.device, kTVMFFIDevice, &device);
  expect_int(read_field(&f.number, kTVMFFIInt).v_int64, 7);
  expect(read_field(&f.real, kTVMFFIFloat).v_float64 == 0.5);
  expect_int(read_field(&f.truth, kTVMFFIBool).v_int64, 1);
  expect_int(read_field(&f.dtype, kTVMFFIDataType).v_dtype.bits, 32);
  expect_int(read_field(&f.device, kTVMFFIDevice).v_device.device_id, 3);
  expect(fh_field_memory_getter(kTVMFFISmallStr) == NULL);
}

TEST(a_copy_has_separate_references) {
  fields from, to;
  fh_field_memory_copying copying = {NULL, NULL};
  memset(&from, 0, sizeof(from));
  memset(&to, 0, sizeof(to));
  from.any = str("a text that is on the heap");
  from.number = 9;
  fh_field_memory_copy(&copying, &from.any, &to.any, kTVMFFIAny, sizeof(from.any));
  fh_field_memory_copy(&copying, &from.object, &to.object, kTVMFFIObject, sizeof(from.object));
  fh_field_memory_copy(&copying, &from.number, &to.number, kTVMFFIInt, sizeof(from.number));
  fh_field_memory_copy(&copying, &from.device, &to.device, kTVMFFIDevice, sizeof(from.device));
  fh_field_memory_copy_end(&copying);
  expect(to.any.v_obj == from.any.v_obj && to.object == NULL && to.number == 9);
  expect_int((int)fh_object_use_count(to.any.v_obj), 2);
  fh_any_drop(&from.any);
  fh_any_drop(&to.any);
}

/* ---- Guards ---- */

static int thing, other_thing;

TEST(a_guard_does_not_block_the_thread_that_is_inside) {
  expect_int(fh_field_guard_is_inside(), 0);
  fh_guard_state outer = fh_field_guard_enter(&thing, FH_GUARD_WRITE);
  expect_int(outer, FH_GUARD_LOCKED);
  expect_int(fh_field_guard_is_inside(), 1);
  fh_guard_state again = fh_field_guard_enter(&thing, FH_GUARD_WRITE);
  expect_int(again, FH_GUARD_WITHOUT);
  fh_field_guard_leave(&thing, again);
  fh_guard_state read = fh_field_guard_enter(&thing, FH_GUARD_READ);
  expect_int(read, FH_GUARD_WITHOUT);
  fh_field_guard_leave(&thing, read);
  fh_field_guard_leave(&thing, outer);
  expect_int(fh_field_guard_is_inside(), 0);
}

/* Readers take the lock until it was read often enough, and then register a hazard pointer. */
TEST(a_reader_that_begins_to_write_does_not_wait_for_itself) {
  fh_guard_state state = FH_GUARD_LOCKED;
  for (int i = 0; state == FH_GUARD_LOCKED && i <= FH_SHARED_READS; ++i) {
    state = fh_field_guard_enter(&thing, FH_GUARD_READ);
    if (state == FH_GUARD_LOCKED) fh_field_guard_leave(&thing, state);
  }
  expect_int(state, FH_GUARD_NOTED);
  fh_guard_state write = fh_field_guard_enter(&thing, FH_GUARD_WRITE);
  expect_int(write, FH_GUARD_WITHOUT);
  fh_field_guard_leave(&thing, write);
  write = fh_field_guard_enter(&thing, FH_GUARD_WRITE); /* the first attempt has not changed the reader's access */
  expect_int(write, FH_GUARD_WITHOUT);
  fh_field_guard_leave(&thing, write);
  fh_field_guard_leave(&thing, state);
  state = fh_field_guard_enter(&thing, FH_GUARD_WRITE);
  expect_int(state, FH_GUARD_LOCKED);
  fh_field_guard_leave(&thing, state);
}

static int raise_error(void *field, TVMFFIAny *out) {
  FH_UNUSED(field);
  FH_UNUSED(out);
  return fh_error_raise(FH_VALUE_ERROR, "%s", "no value");
}
static int give_number(void *field, TVMFFIAny *out) {
  *out = fh_any_int(*(const int32_t *)field);
  return 0;
}
static int take_number(void *field, const TVMFFIAny *value) {
  if (value->type_index != kTVMFFIInt) return fh_error_raise(FH_TYPE_ERROR, "%s", "no int");
  *(int32_t *)field = (int32_t)value->v_int64;
  return 0;
}

TEST(getters_and_setters_may_raise_errors_inside_a_guard) {
  TVMFFIAny value, one = fh_any_int(1), none = fh_any_none();
  expect_int(fh_field_guard_get(raise_error, (TVMFFIObject *)(void *)&thing, 0, &value), -1);
  expect_raised("ValueError", "no value");
  expect_int(fh_field_guard_set(take_number, (TVMFFIObject *)(void *)&thing, 0, &none), -1);
  expect_raised("TypeError", "no int");
  expect_int(fh_field_guard_set(take_number, (TVMFFIObject *)(void *)&thing, 0, &one), 0);
  expect_int(fh_field_guard_get(give_number, (TVMFFIObject *)(void *)&thing, 0, &value), 0);
  expect_int(value.v_int64, 1);
  expect_int(fh_field_guard_is_inside(), 0);
}

#if !defined(_WIN32)
typedef struct {
  pthread_barrier_t meet;
  int n_begun, n_ended, is_inside;
} waiting_state;
static waiting_state waiting;

static void *begin_waiting(void) {
  waiting.n_begun += 1;
  pthread_barrier_wait(&waiting.meet); /* the other thread leaves only now */
  return &waiting;
}
static void end_waiting(void *state) { ((waiting_state *)state)->n_ended += 1; }

static void *hold_guard(void *unused) {
  FH_UNUSED(unused);
  fh_guard_state state = fh_field_guard_enter(&other_thing, FH_GUARD_WRITE);
  pthread_barrier_wait(&waiting.meet);
  pthread_barrier_wait(&waiting.meet);
  fh_field_guard_leave(&other_thing, state);
  return NULL;
}

TEST(a_thread_that_waits_for_a_guard_lets_go_of_the_interpreter) {
  static const fh_field_guard_waiting host = {begin_waiting, end_waiting};
  pthread_t thread;
  pthread_barrier_init(&waiting.meet, NULL, 2);
  fh_field_guard_set_waiting(&host);
  expect_int(pthread_create(&thread, NULL, hold_guard, NULL), 0);
  pthread_barrier_wait(&waiting.meet);
  fh_guard_state state = fh_field_guard_enter(&other_thing, FH_GUARD_READ);
  expect_int(state != FH_GUARD_WITHOUT, 1);
  fh_field_guard_leave(&other_thing, state);
  expect_int(pthread_join(thread, NULL), 0);
  fh_field_guard_set_waiting(NULL);
  expect_int(waiting.n_begun, 1);
  expect_int(waiting.n_ended, 1);
  pthread_barrier_destroy(&waiting.meet);
}

/* Two numbers that are equal except while a setter writes them. */
static int32_t twins[2];
static int set_twins(void *field, const TVMFFIAny *value) {
  int32_t *both = (int32_t *)field;
  both[0] = (int32_t)value->v_int64;
  both[1] = (int32_t)value->v_int64;
  return 0;
}
static int get_twins(void *field, TVMFFIAny *out) {
  const int32_t *both = (const int32_t *)field;
  *out = fh_any_bool(both[0] == both[1]);
  return 0;
}

static void *write_twins(void *unused) {
  FH_UNUSED(unused);
  for (int i = 0; i < 20000; ++i) {
    TVMFFIAny value = fh_any_int(i);
    fh_field_guard_set(set_twins, (TVMFFIObject *)(void *)twins, 0, &value);
  }
  return NULL;
}

TEST(no_reader_meets_a_setter_in_the_middle) {
  pthread_t thread;
  int64_t n_same = 0;
  expect_int(pthread_create(&thread, NULL, write_twins, NULL), 0);
  for (int i = 0; i < 20000; ++i) {
    TVMFFIAny same;
    fh_field_guard_get(get_twins, (TVMFFIObject *)(void *)twins, 0, &same);
    n_same += same.v_int64;
  }
  expect_int(pthread_join(thread, NULL), 0);
  expect_int(n_same, 20000);
}

static TVMFFIAny shared_field;
static void *exchange_texts(void *unused) {
  FH_UNUSED(unused);
  for (int i = 0; i < 5000; ++i) {
    TVMFFIAny value = i % 2 ? str("a text that is on the heap") : fh_any_int(i);
    fh_field_memory_exchange(&shared_field, kTVMFFIAny, &value);
    fh_any_drop(&value);
  }
  return NULL;
}

TEST(a_field_is_read_whole_while_another_thread_exchanges_it) {
  pthread_t thread;
  TVMFFIByteArray content;
  expect_int(pthread_create(&thread, NULL, exchange_texts, NULL), 0);
  for (int i = 0; i < 5000; ++i) {
    TVMFFIAny value;
    fh_field_memory_getter(kTVMFFIAny)(&shared_field, &value);
    expect_int(value.type_index <= kTVMFFIInt || (fh_str_content(&value, &content) && content.size == 26), 1);
    fh_any_drop(&value);
  }
  expect_int(pthread_join(thread, NULL), 0);
  fh_any_drop(&shared_field);
}
#endif
