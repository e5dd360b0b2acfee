/* test_global.c - the table of global functions. */
#include "core/object/global.h"

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/platform/mem.h"
#include "support/harness.h"

static int return_number(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)args, (void)n_args;
  *result = fh_any_int((int64_t)(intptr_t)self);
  return 0;
}

static TVMFFIObjectHandle function_of(int64_t number) {
  TVMFFIObjectHandle function;
  expect_int(TVMFFIFunctionCreate((void *)(intptr_t)number, return_number, NULL, &function), 0);
  return function;
}

static int set_global(const char *name, TVMFFIObjectHandle function, int can_override) {
  TVMFFIByteArray text = text_of(name);
  return TVMFFIFunctionSetGlobal(&text, function, can_override);
}

/* Returns the result of the global function of that name, or -1 if there is none. */
static int64_t number_of(const char *name) {
  TVMFFIByteArray text = text_of(name);
  TVMFFIObjectHandle function = &function;
  TVMFFIAny result;
  expect_int(TVMFFIFunctionGetGlobal(&text, &function), 0);
  if (function == NULL) return -1;
  expect_int(fh_function_call(function, NULL, 0, &result), 0);
  fh_object_release(function);
  return result.v_int64;
}

static void forget(const char *name) { expect_int(fh_global_remove(text_of(name)), 1); }

TEST(a_global_function_is_found_by_its_name) {
  TVMFFIObjectHandle function = function_of(5);
  char name[] = "test.global.found";
  expect_int(set_global(name, function, 0), 0);
  fh_object_release(function);
  name[5] = 'X';
  expect_int(number_of("test.global.found"), 5);
  expect_int(number_of("test.Xlobal.found"), -1);
  expect_int(number_of("test.global.foun"), -1);
  expect_int(number_of(""), -1);
  forget("test.global.found");
  expect_int(number_of("test.global.found"), -1);
  expect_int(fh_global_remove(text_of("test.global.found")), 0);
  expect_int(fh_global_remove(text_of("test.global.never")), 0);
}

TEST(a_name_in_use_is_only_given_away_by_override) {
  TVMFFIObjectHandle one = function_of(1), two = function_of(2);
  expect_int(set_global("test.global.override", one, 0), 0);
  expect_int(set_global("test.global.override", two, 0), -1);
  expect_raised("RuntimeError", "Global Function `test.global.override` is already registered");
  expect_int(number_of("test.global.override"), 1);
  expect_int(set_global("test.global.override", two, 1), 0);
  expect_int(number_of("test.global.override"), 2);
  expect_int(fh_object_use_count(one), 1); /* the table has released the function */
  forget("test.global.override");
  expect_int(set_global("test.global.override", one, 0), 0); /* a removed name is free */
  expect_int(number_of("test.global.override"), 1);
  expect_int(fh_global_remove(text_of("test.global.override")), 1);
  fh_object_release(one);
  fh_object_release(two);
}

TEST(only_a_function_can_be_global) {
  int ends = 0;
  TVMFFIObjectHandle object = test_object_new(&ends);
  expect_int(set_global("test.global.wrong", object, 0), -1);
  expect_raised("TypeError",
                "Expected `ffi.Function` for the global function `test.global.wrong` but got `ffi.Object`");
  expect_int(set_global("test.global.wrong", NULL, 0), -1);
  expect_raised("TypeError", "but got `None`");
  fh_object_release(object);
}

static TVMFFIMethodInfo info_of(const char *name, TVMFFIObjectHandle function) {
  TVMFFIMethodInfo info;
  memset(&info, 0, sizeof(info));
  info.name = text_of(name);
  info.doc = text_of("a doc text");
  info.metadata = text_of("{\"type_schema\": \"{}\"}");
  info.flags = kTVMFFIFieldFlagBitMaskIsStaticMethod;
  info.method = fh_any_object(function);
  return info;
}

TEST(method_info_has_metadata) {
  TVMFFIObjectHandle function = function_of(7);
  TVMFFIMethodInfo info = info_of("test.global.info", function);
  TVMFFIAny text;
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), 0);
  expect_int(number_of("test.global.info"), 7);
  expect_int(fh_global_text(text_of("test.global.info"), 0, &text), 0);
  expect_text(fh_str_object_bytes(text.v_obj), "{\"type_schema\": \"{}\"}");
  fh_any_drop(&text);
  expect_int(fh_global_text(text_of("test.global.info"), 1, &text), 0);
  expect_text(fh_str_object_bytes(text.v_obj), "a doc text");
  fh_any_drop(&text);
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), -1);
  expect_raised("RuntimeError", "is already registered");
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1), 0);
  info.method = fh_any_int(1);
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1), -1);
  expect_raised("TypeError", "Expected `ffi.Function`");
  fh_object_release(function);
  forget("test.global.info");
}

TEST(metadata_of_an_unknown_function_are_an_error) {
  TVMFFIAny text;
  expect_int(fh_global_text(text_of("test.global.never"), 0, &text), -1);
  expect_raised("RuntimeError", "Expected a global function `test.global.never` but there is none");
}

static int has_name(const char *name) {
  TVMFFIAny *names;
  int64_t n_names;
  int n_found = 0;
  expect_int(fh_global_names(&names, &n_names), 0);
  for (int64_t i = 0; i < n_names; ++i) {
    TVMFFIByteArray content;
    n_found += fh_str_content(&names[i], &content) && fh_span_is(content, name);
    fh_any_drop(&names[i]);
  }
  fh_mem_free(names);
  return n_found;
}

TEST(names_are_listed_while_they_are_in_use) {
  expect_int(has_name("test.global.listed"), 0);
  expect_int(set_global("test.global.listed", test_echo(), 0), 0);
  expect_int(has_name("test.global.listed"), 1);
  forget("test.global.listed");
  expect_int(has_name("test.global.listed"), 0);
}

static int sweep_global(void *counter) {
  char name[40];
  snprintf(name, sizeof(name), "test.global.sweep%d", ++*(int *)counter);
  return set_global(name, test_echo(), 0);
}

static int sweep_texts(void *unused) {
  (void)unused;
  TVMFFIAny text, *names;
  int64_t n_names;
  if (fh_global_text(text_of("test.global.sweep"), 0, &text) != 0) return -1;
  fh_any_drop(&text);
  if (fh_global_names(&names, &n_names) != 0) return -1;
  for (int64_t i = 0; i < n_names; ++i) fh_any_drop(&names[i]);
  fh_mem_free(names);
  return 0;
}

TEST(a_global_function_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  for (int i = 0; i < 100; ++i) test_sweep(sweep_global, &counter); /* often enough to grow the table */
  expect_int(number_of("test.global.sweep1"), -1);
  for (int i = 1; i <= counter; ++i) {
    char name[40];
    snprintf(name, sizeof(name), "test.global.sweep%d", i);
    (void)fh_global_remove(text_of(name));
  }
}

TEST(listing_without_memory_is_an_error) {
  TVMFFIMethodInfo info = info_of("test.global.sweep", test_echo());
  expect_int(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), 0);
  test_sweep(sweep_texts, NULL);
  forget("test.global.sweep");
}

/* The self of a Function. The deleter of this self uses the table, as a client's code may. */
static void use_table(void *name) {
  TVMFFIObjectHandle function;
  fh_global_find(text_of((const char *)name), &function);
  expect(function != NULL);
  fh_object_release(function);
  expect_int(set_global("test.global.from_deleter", test_echo(), 1), 0);
}

TEST(the_end_of_a_replaced_function_may_use_the_table) {
  char name[] = "test.global.foreign";
  TVMFFIObjectHandle function;
  expect_int(TVMFFIFunctionCreate(name, return_number, use_table, &function), 0);
  expect_int(set_global(name, function, 0), 0);
  fh_object_release(function);
  expect_int(set_global(name, test_echo(), 1), 0);
  forget(name);
  forget("test.global.from_deleter");
}

enum { N_ROUNDS = 2000 };

static void replace_or_read(void *raw, int i) {
  (void)raw;
  for (int round = 0; round < N_ROUNDS; ++round) {
    if (i == 0) {
      TVMFFIObjectHandle function = function_of(round);
      expect_int(set_global("test.global.race", function, 1), 0);
      fh_object_release(function);
      if (round % 7 == 0) fh_global_remove(text_of("test.global.race"));
    } else {
      expect(number_of("test.global.race") >= -1); /* the call shows that the function is alive */
    }
  }
}

TEST(a_function_found_stays_alive_while_another_thread_replaces_it) {
  test_threads(4, replace_or_read, NULL);
  (void)fh_global_remove(text_of("test.global.race"));
}

static void add_many(void *raw, int i) {
  (void)raw;
  for (int n = 0; n < 300; ++n) {
    char name[40];
    snprintf(name, sizeof(name), "test.global.many%d", n);
    if (set_global(name, test_echo(), 0) != 0) expect_raised("RuntimeError", "already registered");
    TVMFFIObjectHandle function;
    expect_int(fh_global_find(text_of(name), &function), 1);
    fh_object_release(function);
    (void)i;
  }
}

TEST(of_threads_that_register_a_name_one_succeeds) {
  test_threads(4, add_many, NULL);
  expect_int(has_name("test.global.many299"), 1);
  for (int n = 0; n < 300; ++n) {
    char name[40];
    snprintf(name, sizeof(name), "test.global.many%d", n);
    forget(name);
  }
}

/* Returns the position of a name in the list of names, or -1 if it is missing. */
static int64_t position_of(const char *name) {
  TVMFFIAny *names;
  int64_t n_names, found = -1;
  expect_int(fh_global_names(&names, &n_names), 0);
  for (int64_t i = 0; i < n_names; ++i) {
    TVMFFIByteArray content;
    if (fh_str_content(&names[i], &content) && fh_span_is(content, name)) found = i;
    fh_any_drop(&names[i]);
  }
  fh_mem_free(names);
  return found;
}

TEST(new_names_reuse_the_memory_of_removed_ones_and_the_others_keep_their_order) {
  expect_int(set_global("test.global.first", test_echo(), 0), 0);
  expect_int(set_global("test.global.second", test_echo(), 0), 0);
  int64_t n_blocks = fh_mem_live_blocks();
  for (int n = 0; n < 10000; ++n) {
    char name[40];
    snprintf(name, sizeof(name), "test.global.new%d", n);
    expect_int(set_global(name, test_echo(), 0), 0);
    forget(name);
  }
  expect_int(fh_mem_live_blocks(), n_blocks);
  expect(position_of("test.global.first") < position_of("test.global.second"));
  forget("test.global.first");
  expect_int(set_global("test.global.first", test_echo(), 0), 0);
  expect(position_of("test.global.first") > position_of("test.global.second"));
  forget("test.global.first");
  forget("test.global.second");
}

static void add_and_remove(void *raw, int i) {
  (void)raw;
  for (int round = 0; round < N_ROUNDS; ++round) {
    char name[40];
    snprintf(name, sizeof(name), "test.global.mine%d.%d", i, round);
    expect_int(set_global(name, test_echo(), 0), 0);
    TVMFFIObjectHandle function;
    expect_int(fh_global_find(text_of("test.global.stays"), &function), 1);
    if (round % 100 == 0) expect_int(has_name("test.global.stays"), 1);
    expect_int(fh_global_remove(text_of(name)), 1);
    expect_int(fh_global_remove(text_of(name)), 0);
  }
}

TEST(a_name_is_found_while_threads_add_and_remove_others) {
  expect_int(set_global("test.global.stays", test_echo(), 0), 0);
  test_threads(4, add_and_remove, NULL);
  forget("test.global.stays");
}
