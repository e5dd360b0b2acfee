/* Functions with the signature that MLIR's execution engine compiles: one array with pointers to the arguments.
 *
 * tests/python/calls/test_address.py calls them by address. */
#include <tvm/ffi/c_api.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns the sum of ints; other arguments raise a TypeError. */
EXPORT void mlir_sum(void **variables) {
  void *context = *(void **)variables[0];
  const TVMFFIAny *args = *(const TVMFFIAny **)variables[1];
  int32_t n_args = *(int32_t *)variables[2];
  TVMFFIAny *result = *(TVMFFIAny **)variables[3];
  int *rc = (int *)variables[4];
  int64_t sum = 0;
  for (int32_t i = 0; i < n_args; i++) {
    if (context != NULL || args[i].type_index != kTVMFFIInt) {
      TVMFFIErrorSetRaisedFromCStr("TypeError", "mlir_sum() wants ints, and no context");
      *rc = -1;
      return;
    }
    sum += args[i].v_int64;
  }
  result->type_index = kTVMFFIInt;
  result->v_int64 = sum;
}
