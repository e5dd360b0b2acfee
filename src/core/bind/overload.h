/* overload.h - Functions with overloads, of libraries that are bound with ffi_hpy/bind.h. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "core/object/function.h"
#include "core/platform/atomic.h"

/* Implements ffi_hpy_bind_api.function_define. */
int fh_overload_define(const ffi_hpy_function_spec *spec, TVMFFIObjectHandle known, TVMFFIObjectHandle *out,
                       TVMFFIAny *metadata);

/* The entry point of these Functions: ffi_hpy_bind_api.function_call. */
int fh_overload_call(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* Implements ffi_hpy_bind_api.function_refuse. */
int fh_overload_refuse(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result, int rc);

/* Calls a Function for a caller that takes the objects of container_new. A Function of overload.c costs one nested call
 * less. */
FH_INLINE int fh_overload_call_inline(TVMFFIObject *function, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFISafeCallType safe_call = TVMFFIFunctionGetCellPtr(function)->safe_call;
  if (FH_UNLIKELY(safe_call != fh_overload_call)) return safe_call(function, args, n, result);
  const ffi_hpy_first_overload *first = (const ffi_hpy_first_overload *)fh_function_self_in(function);
  /* relaxed, pairs with nothing: a call that comes before the next overload is valid, too */
  if (FH_UNLIKELY(n != fh_atomic_load_relaxed_i32(&first->n_alone))) return fh_overload_call(function, args, n, result);
  int rc = first->head.call(&first->head, args, UINT32_MAX, result);
  return FH_LIKELY(rc <= 0) ? rc : fh_overload_refuse(first, args, result, rc);
}
