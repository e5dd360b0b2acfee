/* basic.c - functions that test calls: echoes, errors, functions by pointer, signals, tensors in containers. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <tvm/ffi/extra/c_env_api.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

#include "tables.h"

/* ---- Functions of any number of arguments ---- */

FT_CALL(nop) { return 0; }

FT_CALL(echo) {
  if (n_args < 1) return ft_raise("TypeError", "testing.echo expected an argument but got none", (char *)NULL);
  return ft_function_echo(self, args, n_args, result);
}

FT_CALL(apply) {
  if (n_args < 1) return ft_raise("TypeError", "testing.apply expected a function but got nothing", (char *)NULL);
  if (args[0].type_index != kTVMFFIFunction) {
    const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(args[0].type_index);
    return ft_raise("TypeError", "Cannot convert from type `", info != NULL ? info->type_key.data : "something else",
                    "` to `ffi.Function`", (char *)NULL);
  }
  if (TVMFFIFunctionCall(args[0].v_obj, (TVMFFIAny *)args + 1, n_args - 1, result) == 0) return 0;
  /* The frame of this function becomes part of the error's traceback. */
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return -1;
  TVMFFIErrorGetCellPtr(error)->update_backtrace(error, TVMFFIBacktrace("basic.c", __LINE__, "TestApply", 0),
                                                 kTVMFFIBacktraceUpdateModeAppend);
  TVMFFIErrorSetRaised(error);
  (void)TVMFFIObjectDecRef(error);
  return -1;
}

/* ---- Errors ---- */

FT_CALL(raise_error) {
  TVMFFIByteArray kind, message;
  TVMFFIObjectHandle error;
  (void)ft_value_bytes(&args[0], &kind);
  (void)ft_value_bytes(&args[1], &message);
  const TVMFFIByteArray *here = TVMFFIBacktrace("basic.c", __LINE__, "TestRaiseError", 0);
  if (TVMFFIErrorCreate(&kind, &message, here, &error) != 0) {
    return ft_no_memory("an error");
  }
  TVMFFIErrorSetRaised(error);
  (void)TVMFFIObjectDecRef(error);
  return -1;
}

static void sleep_a_second(void) {
#ifdef _WIN32
  Sleep(1000);
#else
  struct timespec left = {1, 0};
  (void)nanosleep(&left, NULL); /* a signal may end the sleep early, and is then detected sooner */
#endif
}

FT_CALL(run_check_signal) {
  for (int64_t i = 0; i < args[0].v_int64; ++i) {
    /* The exception is already pending in the host; this error kind reports that. */
    if (TVMFFIEnvCheckSignals() != 0) return ft_raise("EnvErrorAlreadySet", "", (char *)NULL);
    sleep_a_second();
  }
  puts("Function finished without catching signal");
  (void)fflush(stdout);
  return 0;
}

/* ---- Functions by pointer ---- */

FT_CALL(add_one) {
  *result = ft_int((int32_t)((uint32_t)args[0].v_int64 + 1)); /* 32 bits, like the reference's C++ int */
  return 0;
}

static int add_one_symbol(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  if (n_args != 1) return ft_raise("TypeError", "Expected 1 argument", (char *)NULL);
  if (args[0].type_index != kTVMFFIInt && args[0].type_index != kTVMFFIBool) {
    const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(args[0].type_index);
    return ft_raise("TypeError", "Cannot convert from type `", info != NULL ? info->type_key.data : "something else",
                    "` to `int`", (char *)NULL);
  }
  return add_one(NULL, args, n_args, result);
}

/* add_one with the calling convention of compilers of the MLIR family: an array of pointers to handle, args, n_args,
 * result and the status. */
static void add_one_packed(void **packed) {
  void *handle = *(void **)packed[0];
  const TVMFFIAny *args = *(const TVMFFIAny **)packed[1];
  TVMFFIAny *result = *(TVMFFIAny **)packed[3];
  *(int *)packed[4] = add_one_symbol(handle, args, *(int32_t *)packed[2], result);
}

FT_CALL(address_of_add_one) {
  *result = ft_int((int64_t)(intptr_t)add_one_symbol);
  return 0;
}

FT_CALL(address_of_packed) {
  *result = ft_int((int64_t)(intptr_t)add_one_packed);
  return 0;
}

/* ---- Objects ---- */

/* Returns both counts of an object. Relaxed, because other threads may change them at any time and nothing depends on
 * them. */
static uint64_t count_of(const TVMFFIObject *object) {
#if defined(_MSC_VER) && !defined(__clang__)
  return *(const volatile uint64_t *)&object->combined_ref_count;
#else
  return __atomic_load_n(&object->combined_ref_count, __ATOMIC_RELAXED);
#endif
}

FT_CALL(use_count) {
  *result = ft_int((int64_t)(count_of(args[0].v_obj) & 0xffffffff));
  return 0;
}

/* ---- The table ---- */

static const ft_global globals[] = {
    {"testing.test_raise_error", "(0: str, 1: str) -> void", raise_error, NULL, NULL},
    {"testing.add_one", "(0: int) -> int", add_one, NULL, NULL},
    {"testing.nop", NULL, nop, NULL, NULL},
    {"testing.echo", NULL, echo, NULL, NULL},
    {"testing.apply", NULL, apply, NULL, NULL},
    {"testing.run_check_signal", "(0: int) -> void", run_check_signal, NULL, NULL},
    {"testing.object_use_count", "(0: ffi.Object) -> int", use_count, NULL, NULL},
    {"testing.get_add_one_c_symbol", "() -> int", address_of_add_one, NULL, NULL},
    {"testing.get_mlir_add_one_c_symbol", "() -> int", address_of_packed, NULL, NULL},
};

int ft_basic_load(void) {
  void *symbol = (void *)(intptr_t)add_one_symbol;
  if (TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_testing.add_one", symbol) != 0) return -1;
  return ft_function_add_globals(globals, FT_COUNT(globals));
}

/* --- tensors in containers ---------------------------------------------------------------------------------------- */

static TVMFFIAny text(const char *short_text) {
  TVMFFIByteArray bytes = ft_text(short_text);
  TVMFFIAny value = ft_none();
  (void)TVMFFIStringFromByteArray(&bytes, &value); /* a short string needs no memory */
  return value;
}

FT_CALL(has_value) {
  *result = ft_bool(args[0].type_index != kTVMFFINone);
  return 0;
}

FT_CALL(make_array) { return ft_core_call(FT_ARRAY, args, n_args, result); }

FT_CALL(make_mixed) {
  TVMFFIAny items[3] = {args[0], args[1], text("hello")};
  return ft_core_call(FT_ARRAY, items, 3, result);
}

FT_CALL(make_nested_array) {
  TVMFFIAny inside[2] = {args[0], ft_int(42)}, items[2];
  if (ft_core_call(FT_ARRAY, inside, 2, &items[0]) != 0) return -1;
  items[1] = args[0];
  int rc = ft_core_call(FT_ARRAY, items, 2, result);
  ft_drop(&items[0]);
  return rc;
}

FT_CALL(make_list) { return ft_core_call(FT_LIST, args, n_args, result); }

FT_CALL(make_map) {
  TVMFFIAny pairs[6] = {text("tensor"), args[0], text("value"), ft_int(42), text("name"), text("test")};
  return ft_core_call(FT_MAP, pairs, 6, result);
}

FT_CALL(make_dict) {
  TVMFFIAny pairs[4] = {text("tensor"), args[0], text("value"), ft_int(42)};
  return ft_core_call(FT_DICT, pairs, 4, result);
}

FT_CALL(make_empty) { return ft_core_call(FT_ARRAY, NULL, 0, result); }

FT_CALL(make_nested_map) {
  TVMFFIAny inside[2] = {text("t"), args[0]};
  TVMFFIAny pairs[6] = {text("array"), ft_none(), text("map"), ft_none(), text("scalar"), ft_int(99)};
  int rc = ft_core_call(FT_ARRAY, args, n_args, &pairs[1]);
  if (rc == 0) rc = ft_core_call(FT_MAP, inside, 2, &pairs[3]);
  if (rc == 0) rc = ft_core_call(FT_MAP, pairs, 6, result);
  ft_drop(&pairs[1]);
  ft_drop(&pairs[3]);
  return rc;
}

static const ft_global tensor_globals[] = {
    {"testing.optional_tensor_view_has_value", "(0: Optional<DLTensor*>) -> bool", has_value, NULL, NULL},
    {"testing.make_array_with_tensor", "(0: ffi.Tensor?) -> Array<Any>", make_array, NULL, NULL},
    {"testing.make_array_with_mixed", "(0: ffi.Tensor?, 1: int) -> Array<Any>", make_mixed, NULL, NULL},
    {"testing.make_nested_array_with_tensor", "(0: ffi.Tensor?) -> Array<Any>", make_nested_array, NULL, NULL},
    {"testing.make_list_with_tensor", "(0: ffi.Tensor?, 1: int) -> List<Any>", make_list, NULL, NULL},
    {"testing.make_map_with_tensor", "(0: ffi.Tensor?) -> Map<str, Any>", make_map, NULL, NULL},
    {"testing.make_dict_with_tensor", "(0: ffi.Tensor?) -> Dict<str, Any>", make_dict, NULL, NULL},
    {"testing.make_empty_array_with_tensor_input", "(0: ffi.Tensor?) -> Array<Any>", make_empty, NULL, NULL},
    {"testing.make_nested_map_with_tensor", "(0: ffi.Tensor?, 1: ffi.Tensor?) -> Map<str, Any>", make_nested_map, NULL,
     NULL},
};

int ft_tensor_load(void) { return ft_function_add_globals(tensor_globals, FT_COUNT(tensor_globals)); }
