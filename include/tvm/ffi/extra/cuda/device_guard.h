/* device_guard.h - makes another device current, for CUDA's runtime, until the end of a block. */
#ifndef TVM_FFI_EXTRA_CUDA_DEVICE_GUARD_H_
#define TVM_FFI_EXTRA_CUDA_DEVICE_GUARD_H_

#include <tvm/ffi/extra/cuda/base.h>

namespace tvm::ffi {

/** The current device belongs to the calling thread. RuntimeError if it cannot be changed. Restoring it throws as well,
 * but not while another exception is in flight. */
struct CUDADeviceGuard {
public:
  /** Makes a device current until the guard is destroyed. */
  explicit CUDADeviceGuard(int device_index) : device_index_(device_index), n_exceptions_(std::uncaught_exceptions()) {
    TVM_FFI_CHECK_CUDA_ERROR(cudaGetDevice(&original_));
    if (device_index_ != original_) TVM_FFI_CHECK_CUDA_ERROR(cudaSetDevice(device_index_));
  }
  CUDADeviceGuard(const CUDADeviceGuard &) = delete;
  CUDADeviceGuard &operator=(const CUDADeviceGuard &) = delete;
  ~CUDADeviceGuard() noexcept(false) {
    if (device_index_ == original_) return;
    cudaError_t error = cudaSetDevice(original_);
    if (std::uncaught_exceptions() == n_exceptions_) TVM_FFI_CHECK_CUDA_ERROR(error);
  }

private:
  int original_ = 0, device_index_, n_exceptions_;
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_CUDA_DEVICE_GUARD_H_ */
