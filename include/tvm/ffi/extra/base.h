/* base.h - the linkage of what extra/ declares and libtvm_ffi defines. */
#ifndef TVM_FFI_EXTRA_BASE_H_
#define TVM_FFI_EXTRA_BASE_H_

#include <tvm/ffi/c_api.h>

/* Names of C++, unlike those of the C ABI: a compiler of the same C++ ABI finds them. */
#ifndef TVM_FFI_EXTRA_CXX_API
#define TVM_FFI_EXTRA_CXX_API TVM_FFI_DLL
#endif

#endif /* TVM_FFI_EXTRA_BASE_H_ */
