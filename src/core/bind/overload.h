/* overload.h - Functions with overloads, of libraries that are bound with ffi_hpy/bind.h. */
#ifndef FH_OVERLOAD_H_
#define FH_OVERLOAD_H_

#include <ffi_hpy/c_bind.h>

/* Implements ffi_hpy_bind_api.function_new and function_add. */
int fh_overload_function_new(ffi_hpy_overload *overload, TVMFFIObjectHandle *out);
int fh_overload_function_add(TVMFFIObjectHandle function, ffi_hpy_overload *overload);

#endif /* FH_OVERLOAD_H_ */
