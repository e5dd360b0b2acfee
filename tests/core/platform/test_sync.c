/* test_sync.c - the test build's check that no lock is held while a client's code runs: it must catch each kind of
 * call. */
#include "core/platform/fork.h"

#include "core/fields/create.h"
#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "core/serial/graph.h"
#include "core/structural/mutator.h"
#include "core/structural/visitor.h"
#include "core/tensor/env.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "core/object/any_hash.h"
#include "core/object/object_new.h"
#include "support/calls.h"

FH_LOCK(lock, "first of the test", FH_RANK_ONCE); /* of the first rank, so all other locks may be taken while it is
                                                   * held */
FH_LOCK(second, "second of the test", FH_RANK_PLAIN);

/* The action that a test runs with and without the lock. */
typedef void (*deed)(void);

static void do_locked(void *raw) {
  fh_mutex_lock(&lock);
  (*(deed *)raw)();
  fh_mutex_unlock(&lock);
}

static void expect_checked(deed what, const char *part) {
  what(); /* allowed without a lock */
  test_aborts(do_locked, &what, part);
}

static void release_object(void) {
  int ends = 0;
  fh_object_release(test_object_new(&ends));
}
static void release_shared_object(void) {
  fh_object_retain(test_echo());
  fh_object_release(test_echo());
}
static TVMFFIObjectHandle ended;
static void free_memory(void) { fh_object_weak_release(ended); }
TEST(a_release_under_a_lock_is_caught_also_if_it_is_not_the_last) {
  int ends = 0;
  expect_checked(release_object, "a release runs while this thread holds 1");
  expect_checked(release_shared_object, "a release runs");
  ended = test_object_new(&ends);
  for (int i = 0; i < 2; ++i) fh_object_weak_retain(ended); /* one for each of the two ways below */
  fh_object_release(ended);
  free_memory();
  test_aborts(do_locked, &(deed){free_memory}, "a deleter runs");
  free_memory();
}

static void raise_error(void) {
  fh_error_raise(FH_VALUE_ERROR, "of no thread");
  fh_error_clear();
}
static void raise_no_memory(void) {
  fh_error_raise_no_memory();
  fh_error_clear();
}
TEST(an_error_under_a_lock_is_caught_also_if_none_was_pending) {
  expect_checked(raise_error, "putting an error up runs");
  expect_checked(raise_no_memory, "putting an error up runs");
}

static int n_freed;
static void free_foreign(void *data) { n_freed += data == &n_freed; }
static void end_buffer(void) {
  fh_mem_aside aside = FH_MEM_NONE_ASIDE;
  fh_mem_put_aside(&aside, &n_freed, free_foreign);
  expect_int(n_freed, 0);
  fh_mem_free_aside(&aside);
  expect_int(n_freed, 1);
  n_freed = 0;
}
TEST(the_end_of_a_clients_buffer_under_a_lock_is_caught) { expect_checked(end_buffer, "a buffer's deleter runs"); }

static void call_abi(void) {
  TVMFFIAny result = fh_any_none();
  expect_int(TVMFFIFunctionCall(test_echo(), NULL, 0, &result), 0);
}
static void call_core(void) { expect_int(fh_function_call_drop(test_echo(), NULL, 0), 0); }
TEST(a_call_under_a_lock_is_caught) {
  expect_checked(call_abi, "a Function runs");
  expect_checked(call_core, "a Function runs");
}

static TVMFFIAny return_it(TVMFFIAny view) { return view; }
static void call_graph_hook(void) {
  TVMFFIAny hook = fh_any_ptr((void *)(uintptr_t)return_it), arg = i64(1), result;
  expect_int(fh_graph_call_hook(&hook, "__data_to_json__", &arg, &result), 0);
}
TEST(a_native_hook_of_graphs_under_a_lock_is_caught) { expect_checked(call_graph_hook, "a hook of JSON graphs runs"); }

/* ---- A type with hooks, fields and a creator ---- */

typedef struct {
  TVMFFIObject header;
  int64_t number;
} numbered;

static TVMFFIAny hash_by_number(const TVMFFIAny *any) { return i64(((numbered *)any->v_obj)->number); }
static TVMFFIAny always_equal(const TVMFFIAny *a, const TVMFFIAny *b) {
  (void)a, (void)b;
  return fh_any_bool(1);
}
static int create_numbered(TVMFFIObjectHandle *out);
static int get_number(void *field, TVMFFIAny *out) {
  *out = i64(*(int64_t *)field);
  return 0;
}
static int set_number(void *field, const TVMFFIAny *value) {
  *(int64_t *)field = value->v_int64;
  return 0;
}

static int32_t numbered_type(void) {
  static int32_t type_index;
  if (type_index != 0) return type_index;
  type_index = test_add_child("test.sync.Numbered", kTVMFFIObject, 0);
  TVMFFIByteArray hash = text_of("__any_hash__"), equal = text_of("__any_equal__");
  TVMFFIAny hash_hook = fh_any_ptr((void *)(uintptr_t)hash_by_number);
  TVMFFIAny equal_hook = fh_any_ptr((void *)(uintptr_t)always_equal);
  expect_int(TVMFFITypeRegisterAttr(type_index, &hash, &hash_hook), 0);
  expect_int(TVMFFITypeRegisterAttr(type_index, &equal, &equal_hook), 0);
  test_keeps(3); /* the Functions that call the hooks, one with a state */
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = text_of("number");
  field.flags = kTVMFFIFieldFlagBitMaskWritable;
  field.size = field.alignment = 8;
  field.offset = offsetof(numbered, number);
  field.getter = get_number;
  field.setter = (void *)(uintptr_t)set_number;
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.creator = create_numbered;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), 0);
  return type_index;
}
static int create_numbered(TVMFFIObjectHandle *out) {
  *out = fh_object_new(sizeof(numbered), numbered_type(), fh_object_delete_plain);
  return *out != NULL ? 0 : -1;
}

static TVMFFIAny one, other;
static void hash_it(void) {
  uint64_t hash;
  expect_int(fh_any_hash(&one, &hash), 0);
}
static void compare_them(void) {
  int equal;
  expect_int(fh_any_equal(&one, &other, &equal), 0);
}
static const TVMFFIFieldInfo *number_field(void) {
  return test_find_field(fh_type_find(numbered_type()), text_of("number"));
}
static void read_it(void) {
  TVMFFIAny value;
  expect_int(fh_reflect_get(number_field(), one.v_obj, &value), 0);
}
static void write_it(void) {
  TVMFFIAny value = i64(5);
  expect_int(fh_reflect_set(number_field(), one.v_obj, &value), 0);
}
static TVMFFIObject *last_made;
static void make_it(void) { last_made = fh_create_empty(fh_type_find(numbered_type())); }

TEST(hooks_accessors_and_creators_under_a_lock_are_caught) {
  (void)numbered_type();
  make_it();
  one = obj(last_made);
  make_it();
  other = obj(last_made);
  expect_checked(hash_it, "a hash or equality hook runs");
  expect_checked(compare_them, "a hash or equality hook runs");
  expect_checked(read_it, "a field getter runs");
  expect_checked(write_it, "a field setter runs");
  expect_checked(make_it, "a creator runs");
  fh_object_release(last_made);
  fh_any_drop(&one);
  fh_any_drop(&other);
}

/* ---- Visitors and mutators ---- */

static TVMFFIAny visit_nothing(fh_visitor_object *visitor, TVMFFIAny value) {
  (void)visitor, (void)value;
  return fh_any_none();
}
static TVMFFIAny mutate_nothing(fh_mutator_object *mutator, TVMFFIAny value) {
  (void)mutator, (void)value;
  return fh_mutator_unchanged();
}
static TVMFFIAny remap_nothing(fh_mutator_object *mutator, TVMFFIAny var, TVMFFIAny mapped) {
  (void)mutator, (void)var, (void)mapped;
  return fh_any_none();
}
static const fh_visitor_table visitor_table = {visit_nothing};
static const fh_mutator_table mutator_table = {mutate_nothing, mutate_nothing, mutate_nothing, remap_nothing};
static fh_visitor_object visitor = {.table = &visitor_table};
static fh_mutator_object mutator = {.table = &mutator_table};

static void call_visitor(void) { expect_int(fh_visitor_call(&visitor, one).type_index, kTVMFFINone); }
static void call_visit_hook(void) {
  TVMFFIAny hook = fh_any_ptr((void *)(uintptr_t)visit_nothing);
  expect_int(fh_visitor_call_hook(&hook, &visitor, one).type_index, kTVMFFINone);
}
static void call_mutator(void) { expect_int(fh_mutator_call(&mutator, mutator.table->mutate, &one, &other), 0); }
static void call_remap_set(void) { expect_int(fh_mutator_call_remap_set(&mutator, &one, &one, &other), 0); }
static void call_mutate_hook(void) {
  TVMFFIAny hook = fh_any_ptr((void *)(uintptr_t)mutate_nothing);
  expect_int(fh_mutator_call_hook(&hook, &mutator, &one, &other), 0);
}

TEST(visitors_and_mutators_under_a_lock_are_caught) {
  one = i64(1);
  expect_checked(call_visitor, "a visitor runs");
  expect_checked(call_visit_hook, "a hook that visits runs");
  expect_checked(call_mutator, "a mutator runs");
  expect_checked(call_remap_set, "a mutator runs");
  expect_checked(call_mutate_hook, "a hook that mutates runs");
}

/* ---- The surroundings of a call ---- */

static int give_address(void **result) {
  *result = &lock;
  return 0;
}
static int take_address(void *handle) { return handle == &lock ? 0 : -1; }
static void *once_handle;
static void init_handle(void) {
  once_handle = NULL;
  expect_int(TVMFFIHandleInitOnce(&once_handle, give_address), 0);
}
static void deinit_handle(void) {
  once_handle = &lock;
  expect_int(TVMFFIHandleDeinitOnce(&once_handle, take_address), 0);
}
static int no_signal(void) { return 0; }
static void check_signals(void) { expect_int(TVMFFIEnvCheckSignals(), 0); }

TEST(callbacks_of_the_environment_under_a_lock_are_caught) {
  expect_checked(init_handle, "the init function of a handle runs");
  expect_checked(deinit_handle, "the deinit function of a handle runs");
  expect_int(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)no_signal), 0);
  expect_checked(check_signals, "the check for signals runs");
  expect_int(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", NULL), 0);
}

TEST(a_lock_that_was_given_back_is_not_held) {
  fh_mutex_lock(&lock);
  fh_mutex_lock(&second);
  expect_int(fh_sync_n_held, 2);
  fh_mutex_unlock(&lock); /* two locks may be released in any order */
  fh_mutex_unlock(&second);
  release_object();
}

static int n_thread_ends;
static void FH_TLS_CALLBACK count_end(void *value) { n_thread_ends += value == &n_thread_ends; }
static void set_tls(void *raw, int i) {
  (void)i;
  expect_int(fh_tls_set((fh_tls *)raw, &n_thread_ends), 0);
}
TEST(the_destructor_of_a_thread_local_pointer_runs_at_the_end_of_its_thread) {
  static fh_tls unmade, made;
  n_thread_ends = 0;
  expect_int(fh_tls_set(&unmade, &unmade), -1); /* before fh_tls_new */
  expect_int(fh_tls_new(&made, count_end), 0);
  test_threads(1, set_tls, &made);
  expect_int(n_thread_ends, 1);
}

#if !defined(_WIN32) /* the keys of Windows are never another client's number */
TEST(a_thread_local_pointer_without_a_key_touches_no_other_key) {
  static fh_tls unmade;
  static pthread_key_t taken[4096];
  int n_taken = 0;
  while (n_taken < 4096 && pthread_key_create(&taken[n_taken], NULL) == 0) ++n_taken;
  expect(n_taken > 0 && n_taken < 4096);
  void *first = pthread_getspecific(0);
  expect_int(fh_tls_new(&unmade, count_end), -1);
  expect_int(fh_tls_set(&unmade, &unmade), -1);
  expect(pthread_getspecific(0) == first);
  for (int i = 0; i < n_taken; ++i) expect(pthread_getspecific(taken[i]) == NULL);
  for (int i = 0; i < n_taken; ++i) expect_int(pthread_key_delete(taken[i]), 0);
}
#endif
