/* unified_api.h - the part of CUDA's API that cubin_launcher.h uses: the runtime from CUDA 12.8 on, the driver before
 * that. TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API chooses one explicitly: 1 is the driver, and then programs link with
 * -lcuda. */
#ifndef TVM_FFI_EXTRA_CUDA_INTERNAL_UNIFIED_API_H_
#define TVM_FFI_EXTRA_CUDA_INTERNAL_UNIFIED_API_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/cuda/base.h>

#ifndef TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API
#define TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API (CUDART_VERSION < 12080)
#endif

#if TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API
#include <tvm/ffi/extra/cuda/internal/driver_api.h>
#elif CUDART_VERSION >= 12080
#include <tvm/ffi/extra/cuda/internal/runtime_api.h>
#else
#error "TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API is 0, and the runtime loads libraries only since CUDA 12.8"
#endif

/** Calls the chosen API, and throws a RuntimeError if the call failed. */
#define TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(stmt)                                                    \
  do {                                                                                                   \
    ::tvm::ffi::cuda_api::ResultType tvm_ffi_cuda_error = (stmt);                                        \
    if (tvm_ffi_cuda_error != ::tvm::ffi::cuda_api::kSuccess) {                                          \
      const char *tvm_ffi_cuda_name, *tvm_ffi_cuda_text;                                                 \
      ::tvm::ffi::cuda_api::GetErrorString(tvm_ffi_cuda_error, &tvm_ffi_cuda_name, &tvm_ffi_cuda_text);  \
      TVM_FFI_THROW(RuntimeError) << "CUDA Error: " << tvm_ffi_cuda_name << " ("                         \
                                  << static_cast<int>(tvm_ffi_cuda_error) << "): " << tvm_ffi_cuda_text; \
    }                                                                                                    \
  } while (0)

namespace tvm::ffi::cuda_api {

/** RuntimeError if the device does not exist. */
inline DeviceHandle GetDeviceHandle(int device_id) {
  DeviceHandle device;
  TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(FindDevice(&device, device_id));
  return device;
}

/** Fills in `config` for LaunchKernelEx. With cluster_dim > 1, blocks run in clusters of that size; then `config`
 * points to `attr`, which must live as long as `config`. */
inline ResultType ConstructLaunchConfig([[maybe_unused]] KernelHandle kernel, StreamHandle stream, uint32_t smem_size,
                                        ffi::dim3 grid, ffi::dim3 block, int cluster_dim, LaunchConfig &config,
                                        LaunchAttrType &attr) {
  config = MakeLaunchConfig(grid, block, stream, smem_size);
  if (cluster_dim > 1) {
    attr = MakeClusterAttr(static_cast<unsigned int>(cluster_dim));
    config.attrs = &attr;
    config.numAttrs = 1;
  }
  return kSuccess;
}

} // namespace tvm::ffi::cuda_api

#endif /* TVM_FFI_EXTRA_CUDA_INTERNAL_UNIFIED_API_H_ */
