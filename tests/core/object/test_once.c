/* test_once.c - handles that are created at first use. */
#include <unistd.h>

#include "core/object/error.h"
#include "core/platform/atomic.h"
#include "support/harness.h"

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

/* ---- Init functions that request each other's handles: that of handle i requests the next handle ---- */

enum { MAX_RING = 5 };
static void *ring[MAX_RING], *between;
static int n_ring;
static uint64_t n_started, n_refused;

/* The number of the handle whose init function runs on this thread. */
static FH_THREAD_LOCAL int asked_first;

static int init_alone(void **result) {
  *result = &target;
  return 0;
}

static int ask_for_next(void **result) {
  (void)fh_atomic_add_seq_cst_u64(&n_started, 1);
  while (fh_atomic_load_seq_cst_u64(&n_started) < (uint64_t)n_ring)
    usleep(100); /* until all init functions have started and form a cycle */
  int rc = TVMFFIHandleInitOnce(&ring[(asked_first + 1) % n_ring], init_alone);
  if (rc != 0) (void)fh_atomic_add_relaxed_u64(&n_refused, 1);
  *result = &target;
  return rc;
}

static int ask_by_way_of_another(void **result) {
  *result = &target;
  return TVMFFIHandleInitOnce(&between, ask_for_next);
}

static void init_in_ring(void *state, int i) {
  asked_first = i;
  int is_nested = state != NULL && i == 0;
  if (TVMFFIHandleInitOnce(&ring[i], is_nested ? ask_by_way_of_another : ask_for_next) == 0) return;
  char message[64];
  snprintf(message, sizeof(message), "on %d threads ask for one another's handles", n_ring);
  expect_raised("RuntimeError", message);
}

/* With a `state`, the first thread requests its handle from within a second init function. */
static void expect_one_refused(int n_handles, void *state) {
  for (int round = 0; round < 20; ++round) {
    memset(ring, 0, sizeof(ring));
    between = NULL;
    n_ring = n_handles;
    n_started = n_refused = 0;
    test_threads(n_handles, init_in_ring, state);
    expect_int(n_refused, 1); /* the waiting thread then runs init_alone, which requests no handle */
  }
}

TEST(handles_of_two_threads_that_need_each_other_are_an_error) { expect_one_refused(2, NULL); }

TEST(handles_of_many_threads_that_need_one_another_are_an_error) {
  expect_one_refused(3, NULL);
  expect_one_refused(MAX_RING, NULL);
}

TEST(handles_that_need_each_other_through_a_nested_init_are_an_error) {
  expect_one_refused(2, ring);
  expect_one_refused(4, ring);
}

/* ---- Threads that wait in a chain without a cycle ---- */

static int ask_for_next_in_row(void **result) {
  *result = &target;
  (void)fh_atomic_add_seq_cst_u64(&n_started, 1);
  while (fh_atomic_load_seq_cst_u64(&n_started) < (uint64_t)n_ring) usleep(100);
  if (asked_first + 1 == n_ring) {
    usleep(1000); /* now the other threads wait, or will soon */
    return 0;
  }
  return TVMFFIHandleInitOnce(&ring[asked_first + 1], init_alone);
}

static void init_in_row(void *unused, int i) {
  (void)unused;
  asked_first = i;
  expect_int(TVMFFIHandleInitOnce(&ring[i], ask_for_next_in_row), 0);
}

TEST(handles_that_wait_for_one_another_in_a_row_are_made) {
  for (int round = 0; round < 20; ++round) {
    memset(ring, 0, sizeof(ring));
    n_ring = MAX_RING;
    n_started = 0;
    test_threads(MAX_RING, init_in_row, NULL);
    for (int i = 0; i < MAX_RING; ++i) expect(ring[i] == &target);
  }
}
