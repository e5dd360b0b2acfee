/* test_env.c - streams, tensor allocators, signals. */
#include "core/object/error.h"
#include "core/tensor/env.h"

#include "support/calls.h"

TEST(streams_are_recorded_per_device) {
  int a, b;
  TVMFFIStreamHandle before = &b;
  expect(TVMFFIEnvGetStream(kDLCUDA, 0) == NULL);
  expect_int(TVMFFIEnvSetStream(kDLCUDA, 0, &a, &before), 0);
  expect(before == NULL);
  for (int32_t i = 1; i < 20; ++i) expect_int(TVMFFIEnvSetStream(kDLCUDA, i, &b, NULL), 0);
  expect(TVMFFIEnvGetStream(kDLCUDA, 0) == &a);
  expect(TVMFFIEnvGetStream(kDLCUDA, 19) == &b);
  expect(TVMFFIEnvGetStream(kDLROCM, 0) == NULL);
  for (int32_t i = 0; i < 20; ++i) expect_int(TVMFFIEnvSetStream(kDLCUDA, i, NULL, &before), 0);
  expect(before == &b);
  expect(TVMFFIEnvGetStream(kDLCUDA, 0) == NULL);
}

static int add_stream(void *n_devices) { return TVMFFIEnvSetStream(kDLROCM, ++*(int32_t *)n_devices, n_devices, NULL); }
static void add_streams_failing(void *unused, int thread) {
  int32_t n_devices = 0;
  (void)unused, (void)thread;
  for (int i = 0; i < 10; ++i) test_sweep(add_stream, &n_devices); /* often enough to grow the thread's list */
}
TEST(a_stream_that_finds_no_memory_is_not_set) { test_threads(1, add_streams_failing, NULL); }

static void use_streams(void *state, int thread) {
  for (int i = 0; i < 50; ++i) {
    expect_int(TVMFFIEnvSetStream(kDLCUDA, i, (char *)state + thread, NULL), 0);
    expect(TVMFFIEnvGetStream(kDLCUDA, i) == (char *)state + thread);
  }
}
TEST(streams_belong_to_their_thread_and_end_with_it) {
  char marks[4];
  test_threads(4, use_streams, marks);
}

static int64_t shape[1] = {4};
static float data[4];
static int n_ends, alloc_result;
static void end_versioned(DLManagedTensorVersioned *self) {
  (void)self;
  n_ends += 1;
}
static int alloc(DLTensor *prototype, DLManagedTensorVersioned **out, void *ctx,
                 void (*set_error)(void *, const char *, const char *)) {
  static DLManagedTensorVersioned made;
  if (alloc_result == 1) set_error(ctx, "MemoryError", "no room on the device");
  if (alloc_result > 0) return -1;
  memset(&made, 0, sizeof(made));
  made.version.major = DLPACK_MAJOR_VERSION;
  made.dl_tensor = *prototype;
  made.dl_tensor.data = alloc_result == -1 ? NULL : data;
  made.deleter = end_versioned;
  *out = &made;
  return 0;
}

TEST(tensor_alloc_uses_the_allocator_in_force) {
  DLTensor prototype = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  TVMFFIObjectHandle tensor;
  DLPackManagedTensorAllocator before = alloc;
  expect_int(TVMFFIEnvTensorAlloc(&prototype, &tensor), -1);
  expect_raised("RuntimeError", "there is none");
  expect_int(TVMFFIEnvSetDLPackManagedTensorAllocator(alloc, 0, &before), 0);
  expect(before == NULL);
  expect(TVMFFIEnvGetDLPackManagedTensorAllocator() == alloc);
  expect_int(TVMFFIEnvTensorAlloc(&prototype, &tensor), 0);
  expect(TVMFFITensorGetDLTensorPtr(tensor)->data == data);
  fh_object_release(tensor);
  expect_int(n_ends, 1);
  alloc_result = -1;
  expect_int(TVMFFIEnvTensorAlloc(&prototype, &tensor), -1);
  expect_raised("ValueError", "Expected the memory of 4 elements but got NULL as data");
  expect_int(n_ends, 2); /* the stream was restored */
  alloc_result = 1;
  expect_int(TVMFFIEnvTensorAlloc(&prototype, &tensor), -1);
  expect_raised("MemoryError", "no room on the device");
  alloc_result = 2;
  expect_int(TVMFFIEnvTensorAlloc(&prototype, &tensor), -1);
  expect_raised("RuntimeError", "without setting an error");
  expect_int(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, &before), 0);
  expect(before == alloc);
}

static void see_allocator(void *state, int thread) {
  (void)thread;
  expect((void *)(uintptr_t)TVMFFIEnvGetDLPackManagedTensorAllocator() == state);
}
TEST(the_global_allocator_is_seen_by_other_threads) {
  expect_int(TVMFFIEnvSetDLPackManagedTensorAllocator(alloc, 1, NULL), 0);
  test_threads(2, see_allocator, (void *)(uintptr_t)alloc);
  expect_int(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 1, NULL), 0);
  test_threads(2, see_allocator, NULL);
}

static int n_ensured, n_released, signal_result;
static int check_signals(void) { return signal_result; }
static int gil_ensure(void) { return n_ensured++, 0; }
static void gil_release(int state) {
  expect_int(state, 0);
  n_released += 1;
}
TEST(signals_are_checked_under_the_gil) {
  expect_int(TVMFFIEnvCheckSignals(), 0);
  expect_int(TVMFFIEnvRegisterCAPI("PyErr_Clear", NULL), -1);
  expect_raised("ValueError", "but got `PyErr_Clear`");
  expect_int(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)check_signals), 0);
  expect_int(TVMFFIEnvRegisterCAPI("PyGILState_Ensure", (void *)(uintptr_t)gil_ensure), 0);
  expect_int(TVMFFIEnvRegisterCAPI("PyGILState_Release", (void *)(uintptr_t)gil_release), 0);
  expect_int(TVMFFIEnvCheckSignals(), 0);
  signal_result = -1;
  expect_int(TVMFFIEnvCheckSignals(), -1);
  expect(!fh_error_is_pending());
  expect_int(n_ensured, 2);
  expect_int(n_released, 2); /* a NULL state is valid, too */
  expect_int(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", NULL), 0);
}
