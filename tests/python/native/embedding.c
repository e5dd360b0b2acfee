/* A C library as compilers of programs emit it: an embedded module, context variables, functions of its imports.
 *
 * The embedded module has the kind KIND, which a library compiled from cxx_names.cc loads. */
#include <string.h>
#include <tvm/ffi/extra/c_env_api.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- The modules: the library itself, which imports the embedded module ---- */

EXPORT const struct __attribute__((packed)) {
  uint64_t n_bytes;
  uint64_t n_starts, starts[3];
  uint64_t n_children, children[1];
  uint64_t n_own_kind;
  char own_kind[4];
  uint64_t n_kind;
  char kind[sizeof KIND - 1];
  uint64_t n_content;
  char content[8];
} __tvm_ffi__library_bin = {
    sizeof __tvm_ffi__library_bin - sizeof(uint64_t),
    3,
    {0, 1, 1},
    1,
    {1},
    4,
    {'_', 'l', 'i', 'b'},
    sizeof KIND - 1,
    KIND,
    8,
    {'e', 'm', 'b', 'e', 'd', 'd', 'e', 'd'},
};

/* ---- Variables that the loader sets ---- */

EXPORT void *__tvm_ffi__library_ctx;
EXPORT void *ffi_hpy_test_wanted;

/* Returns the address stored for the context symbol ffi_hpy_test_wanted, 0 if none. */
EXPORT int __tvm_ffi_wanted(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args;
  memset(result, 0, sizeof *result);
  result->type_index = kTVMFFIInt;
  result->v_int64 = (int64_t)(intptr_t)ffi_hpy_test_wanted;
  return 0;
}

/* Calls the function `name` of an imported module, or a global function: call_other(name, arguments...). */
EXPORT int __tvm_ffi_call_other(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIObjectHandle other;
  char name[64] = {0};
  (void)self;
  if (n_args < 1 || args[0].type_index != kTVMFFIRawStr) {
    if (n_args < 1 || args[0].type_index != kTVMFFISmallStr) {
      TVMFFIErrorSetRaisedFromCStr("TypeError", "call_other() wants a short name first");
      return -1;
    }
    memcpy(name, args[0].v_bytes, args[0].small_str_len);
  } else {
    strncpy(name, args[0].v_c_str, sizeof name - 1);
  }
  if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, name, &other) != 0) return -1;
  return TVMFFIFunctionCall(other, (TVMFFIAny *)args + 1, n_args - 1, result);
}
