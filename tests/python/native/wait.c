/* Long native calls: some check for signals, some do not.
 *
 * tests/python/process/test_interrupt.py loads this library. The argument of every function is a time in milliseconds;
 * each function counts its steps in `n_steps`. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <stdatomic.h>
#include <time.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long n_steps; /* steps of 1 ms, in all calls together */

static void step(void) {
  const struct timespec millisecond = {0, 1000000};
  atomic_fetch_add(&n_steps, 1);
  nanosleep(&millisecond, NULL); /* a signal may end it early */
}

EXPORT int __tvm_ffi_steps(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  result->type_index = kTVMFFIInt;
  result->v_int64 = atomic_load(&n_steps);
  return 0;
}

/* Never checks for signals. */
EXPORT int __tvm_ffi_sleep(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args, (void)result;
  for (int64_t i = 0; i < args[0].v_int64; i++) step();
  return 0;
}

/* Checks at every step, and fails with the error that C++ code throws in this case. */
EXPORT int __tvm_ffi_poll(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args, (void)result;
  for (int64_t i = 0; i < args[0].v_int64; i++) {
    if (TVMFFIEnvCheckSignals() != 0) {
      TVMFFIErrorSetRaisedFromCStr("EnvErrorAlreadySet", "");
      return -1;
    }
    step();
  }
  return 0;
}

/* Checks at every step, and fails by the older protocol: -2 without an error. Checks twice, as code that is returning
 * may do. */
EXPORT int __tvm_ffi_poll_legacy(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args, (void)result;
  for (int64_t i = 0; i < args[0].v_int64; i++) {
    if (TVMFFIEnvCheckSignals() != 0) return TVMFFIEnvCheckSignals() != 0 ? -2 : 0;
    step();
  }
  return 0;
}
