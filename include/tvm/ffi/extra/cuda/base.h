/* base.h - for code that uses CUDA's runtime: turns its errors into exceptions, and defines the size of a grid. */
#ifndef TVM_FFI_EXTRA_CUDA_BASE_H_
#define TVM_FFI_EXTRA_CUDA_BASE_H_

#include <cuda_runtime.h>
#include <tvm/ffi/error.h>

/** Calls CUDA's runtime, and throws a RuntimeError if the call failed. */
#define TVM_FFI_CHECK_CUDA_ERROR(stmt)                                                                      \
  do {                                                                                                      \
    cudaError_t tvm_ffi_cuda_error = (stmt);                                                                \
    if (tvm_ffi_cuda_error != cudaSuccess) {                                                                \
      TVM_FFI_THROW(RuntimeError) << "CUDA Runtime Error: " << cudaGetErrorName(tvm_ffi_cuda_error) << " (" \
                                  << static_cast<int>(tvm_ffi_cuda_error)                                   \
                                  << "): " << cudaGetErrorString(tvm_ffi_cuda_error);                       \
    }                                                                                                       \
  } while (0)

namespace tvm::ffi {

/** The number of blocks, or of threads, in each direction. */
struct dim3 {
  unsigned int x; /**< in the first direction */
  unsigned int y; /**< in the second direction */
  unsigned int z; /**< in the third direction */

  /** 1 in each direction. */
  dim3() : dim3(1, 1, 1) {}
  /** 1 in the other directions. */
  explicit dim3(unsigned int x_) : dim3(x_, 1, 1) {}
  /** 1 in the third direction. */
  dim3(unsigned int x_, unsigned int y_) : dim3(x_, y_, 1) {}
  /** The number in each direction. */
  dim3(unsigned int x_, unsigned int y_, unsigned int z_) : x(x_), y(y_), z(z_) {}
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_CUDA_BASE_H_ */
