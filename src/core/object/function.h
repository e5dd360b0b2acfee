/* function.h - function objects and calls. The call path takes no lock and allocates nothing. */
#pragma once

#include "any.h"
#include "core/platform/sync.h"

/* Implements TVMFFIFunctionCreate: makes a Function (a new reference) that calls call(self, args, n, result);
 * deleter(self) runs when it is destroyed. On -1 the caller keeps `self`. */
int fh_function_new(void *self, TVMFFISafeCallType call, void (*deleter)(void *self), TVMFFIObjectHandle *out);

/* As fh_function_new, but `call` gets the handle: fh_function_self_in returns `self`. A call then needs one indirect
 * call less. */
int fh_function_new_direct(void *self, TVMFFISafeCallType call, void (*deleter)(void *self), TVMFFIObjectHandle *out);
static inline void *fh_function_self_in(const void *handle) {
  return *(void *const *)(const void *)((const char *)handle + sizeof(TVMFFIObject) + sizeof(TVMFFIFunctionCell));
}

/* The `self` of a Function that one of these made with that `call`, NULL for other Functions. Borrowed. */
void *fh_function_self(TVMFFIObjectHandle func, TVMFFISafeCallType call);

/* The head of the code of a Function. */
#define FH_CODE(function)                                                                \
  static int function(FH_MAYBE_UNUSED void *self, FH_MAYBE_UNUSED const TVMFFIAny *args, \
                      FH_MAYBE_UNUSED int32_t n_args, FH_MAYBE_UNUSED TVMFFIAny *result)

/* The argument array of a call without arguments. The pointer is not NULL, because functions in Rust make a slice of
 * it. */
extern const TVMFFIAny fh_no_arguments[1];

/* Calls a Function. *result is None before the call and owned by the caller after it. Hold no lock. */
static inline int fh_function_call(TVMFFIObjectHandle func, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  *result = fh_any_none();
  fh_sync_check_unlocked("a Function");
  return TVMFFIFunctionGetCellPtr(func)->safe_call(func, args, n_args, result);
}
/* Calls a Function and drops its result. Hold no lock. */
int fh_function_call_drop(TVMFFIObjectHandle func, const TVMFFIAny *args, int32_t n_args);

/* ---- For functions written in C: checks of the arguments, with the messages that C++ functions give. All return 0, or
 * -1 with a TypeError that names the function and the argument. Results are borrowed from `args`. */
int fh_function_check_count(const char *name, int32_t n_args, int32_t n_expected);
/* Raises "Mismatched type on argument #i when calling: `name`. Expected `expected` but got `...`". Always -1. */
FH_COLD int fh_function_raise_type(const char *name, int32_t i, const char *expected, const TVMFFIAny *got);
int fh_function_arg_int(const char *name, const TVMFFIAny *args, int32_t i, int64_t *out);   /* Int, Bool */
int fh_function_arg_bool(const char *name, const TVMFFIAny *args, int32_t i, int *out);      /* Bool, Int */
int fh_function_arg_ptr(const char *name, const TVMFFIAny *args, int32_t i, void **out); /* OpaquePtr, None: NULL */
int fh_function_arg_str(const char *name, const TVMFFIAny *args, int32_t i, TVMFFIByteArray *out);
int fh_function_arg_bytes(const char *name, const TVMFFIAny *args, int32_t i, TVMFFIByteArray *out); /* Bytes, Str */
/* An object that is an instance of type_index; an rvalue reference counts as its object. `*out` is borrowed. */
int fh_function_arg_object(const char *name, const TVMFFIAny *args, int32_t i, int32_t type_index, TVMFFIObject **out);
