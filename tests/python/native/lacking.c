/* A library that needs a missing function, built twice: with a name of the ABI, and with a foreign one. */
#include <tvm/ffi/c_api.h>

#define EXPORT __attribute__((visibility("default")))

int32_t LACKING(int32_t n);

EXPORT int __tvm_ffi_lacking(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args;
  *result = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = LACKING(n_args)};
  return 0;
}

EXPORT int __tvm_ffi_there(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args;
  *result = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = n_args};
  return 0;
}
