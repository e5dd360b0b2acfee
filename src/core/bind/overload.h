/* overload.h - Functions with overloads, of libraries that are bound with ffi_hpy/bind.h. */
#ifndef FH_OVERLOAD_H_
#define FH_OVERLOAD_H_

#include <ffi_hpy/c_bind.h>

/* Implements ffi_hpy_bind_api.function_define. */
int fh_overload_define(const ffi_hpy_function_spec *spec, TVMFFIObjectHandle known, TVMFFIObjectHandle *out,
                       TVMFFIAny *metadata);

/* The entry point of these Functions: ffi_hpy_bind_api.function_call. */
int fh_overload_call(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* Implements ffi_hpy_bind_api.function_refuse. */
int fh_overload_refuse(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result, int rc);

#endif /* FH_OVERLOAD_H_ */
