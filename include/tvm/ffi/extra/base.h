/* base.h - the linkage of functions that extra/ declares and libtvm_ffi defines. */
#ifndef TVM_FFI_EXTRA_BASE_H_
#define TVM_FFI_EXTRA_BASE_H_

#include <tvm/ffi/c_api.h>

/* C++ names, unlike the names of the C ABI: a compiler of the same C++ ABI finds them in libtvm_ffi_cxx. Windows has no
 * such library, and each client has its own. */
#ifndef TVM_FFI_EXTRA_CXX_API
#if defined(_WIN32)
#define TVM_FFI_EXTRA_CXX_API
#else
/** Linkage of the C++ names of libtvm_ffi_cxx. */
#define TVM_FFI_EXTRA_CXX_API TVM_FFI_DLL
#endif
#endif

#endif /* TVM_FFI_EXTRA_BASE_H_ */
