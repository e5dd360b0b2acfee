/* The C library of the tests: functions with the ABI's signature, without a wrapper.
 *
 * Compiled against ffi_hpy's own C header. tests/python/modules/test_module.py and others call them. */
#include <string.h>
#include <tvm/ffi/c_api.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns the sum of any number of ints. */
EXPORT int __tvm_ffi_sum(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  int64_t sum = 0;
  (void)self;
  for (int32_t i = 0; i < n_args; i++) {
    if (args[i].type_index != kTVMFFIInt) {
      TVMFFIErrorSetRaisedFromCStr("TypeError", "sum() wants ints");
      return -1;
    }
    sum += args[i].v_int64;
  }
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = sum;
  return 0;
}

/* A call of the module itself runs this function. */
EXPORT int __tvm_ffi_main(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  return __tvm_ffi_sum(self, args, n_args, result);
}

/* Returns whether the array of arguments exists; it exists even if it is empty. */
EXPORT int __tvm_ffi_has_array(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  result->type_index = kTVMFFIBool;
  result->zero_padding = 0;
  result->v_int64 = args != NULL;
  return 0;
}

/* Returns the pointer `self`, which function_from_address() chooses. */
EXPORT int __tvm_ffi_context(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)args, (void)n_args;
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = (int64_t)(intptr_t)self;
  return 0;
}

/* Fails without an error, against the rules of the ABI. */
EXPORT int __tvm_ffi_fail_without_error(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return -1;
}

EXPORT int __tvm_ffi_fail(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  TVMFFIErrorSetRaisedFromCStr("IndexError", "raised in C");
  return -1;
}

/* Calls its first argument with the other arguments. Reads the error of a failing call, as C++ code does. */
EXPORT int __tvm_ffi_call_and_look(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIObjectHandle error = NULL;
  (void)self;
  int rc = TVMFFIFunctionCall(args[0].v_obj, (TVMFFIAny *)args + 1, n_args - 1, result);
  if (rc == 0) return 0;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return rc;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return rc;
}

/* Returns a value of a type that has no Python form. */
EXPORT int __tvm_ffi_return_nonsense(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  memset(result, 0, sizeof(*result));
  result->type_index = 60; /* above the plain values and below the objects */
  return 0;
}

/* A short call, declared so in its metadata. */
EXPORT int __tvm_ffi_short(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  return __tvm_ffi_sum(self, args, n_args, result);
}

EXPORT int __tvm_ffi__metadata_short(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  static const char text[] = "{\"nonblocking\": true, \"note\": \"a short one\"}";
  const TVMFFIByteArray bytes = {text, sizeof(text) - 1};
  (void)self, (void)args, (void)n_args;
  return TVMFFIStringFromByteArray(&bytes, result);
}

EXPORT int __tvm_ffi__doc_short(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  static const char text[] = "Sum of any number of ints, at once.";
  const TVMFFIByteArray bytes = {text, sizeof(text) - 1};
  (void)self, (void)args, (void)n_args;
  return TVMFFIStringFromByteArray(&bytes, result);
}
