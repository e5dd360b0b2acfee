/* test_once.c - handles that are made at first use. */
#include <unistd.h>

#include "atomic.h"
#include "error.h"
#include "harness.h"

static int target, n_inits;

static int init_target(void **result) {
  ++n_inits;
  *result = &target;
  return 0;
}

static int init_null(void **result) {
  *result = NULL;
  return 0;
}

static int init_fail(void **result) {
  *result = &target; /* ignored */
  fh_error_raise(FH_VALUE_ERROR, "not today");
  return -7;
}

static int deinit(void *handle) {
  expect(handle == &target);
  return 3;
}

TEST(a_handle_is_made_once) {
  void *handle = NULL;
  n_inits = 0;
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
  expect(handle == &target);
  expect_int(n_inits, 1);
}

TEST(a_handle_is_ended_once_and_can_be_made_again) {
  void *handle = NULL;
  n_inits = 0;
  expect_int(TVMFFIHandleDeinitOnce(&handle, deinit), 0);
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
  expect_int(TVMFFIHandleDeinitOnce(&handle, deinit), 3);
  expect(handle == NULL);
  expect_int(TVMFFIHandleDeinitOnce(&handle, deinit), 0);
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
  expect_int(n_inits, 2);
}

TEST(an_init_that_gives_null_is_an_error) {
  void *handle = NULL;
  expect_int(TVMFFIHandleInitOnce(&handle, init_null), -1);
  expect_raised("RuntimeError", "Expected the init function to return a handle but got NULL");
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
}

TEST(an_init_that_fails_is_tried_again) {
  void *handle = NULL;
  expect_int(TVMFFIHandleInitOnce(&handle, init_fail), -7);
  expect_raised("ValueError", "not today");
  expect(handle == NULL);
  expect_int(TVMFFIHandleInitOnce(&handle, init_target), 0);
}

static void *outer, *inner;

static int init_nested(void **result) {
  expect_int(TVMFFIHandleInitOnce(&inner, init_target), 0);
  return init_target(result);
}

static int init_itself(void **result) {
  (void)result;
  return TVMFFIHandleInitOnce(&outer, init_itself);
}

TEST(an_init_may_make_another_handle) {
  outer = inner = NULL;
  expect_int(TVMFFIHandleInitOnce(&outer, init_nested), 0);
  expect(outer == &target && inner == &target);
}

TEST(an_init_that_asks_for_its_own_handle_is_an_error) {
  outer = NULL;
  expect_int(TVMFFIHandleInitOnce(&outer, init_itself), -1);
  expect_raised("RuntimeError", "asked for the same handle");
}

static void *shared;
static uint64_t n_shared_inits;

static int init_slowly(void **result) {
  (void)fh_atomic_add_relaxed_u64(&n_shared_inits, 1);
  usleep(1000);
  target = 5;
  *result = &target;
  return 0;
}

static void init_shared(void *unused, int i) {
  (void)unused, (void)i;
  expect_int(TVMFFIHandleInitOnce(&shared, init_slowly), 0);
  expect_int(*(int *)shared, 5);
}

TEST(of_threads_that_want_a_handle_one_makes_it) {
  for (int round = 0; round < 20; ++round) {
    shared = NULL;
    n_shared_inits = 0;
    test_threads(4, init_shared, NULL);
    expect_int(n_shared_inits, 1);
  }
}
