/* runtime_api.h - implements the functions of cubin_launcher.h with CUDA's runtime from 12.8 on. Included by
 * unified_api.h. */
#ifndef TVM_FFI_EXTRA_CUDA_INTERNAL_RUNTIME_API_H_
#define TVM_FFI_EXTRA_CUDA_INTERNAL_RUNTIME_API_H_

#include <tvm/ffi/extra/cuda/base.h>

namespace tvm::ffi::cuda_api {

using StreamHandle = cudaStream_t;
using DeviceHandle = int;
using LibraryHandle = cudaLibrary_t;
using KernelHandle = cudaKernel_t;
using LaunchConfig = cudaLaunchConfig_t;
using LaunchAttrType = cudaLaunchAttribute;
using DeviceAttrType = cudaDeviceAttr;
using ResultType = cudaError_t;

constexpr ResultType kSuccess = cudaSuccess;
constexpr DeviceAttrType kMaxSharedMemoryPerBlock = cudaDevAttrMaxSharedMemoryPerBlock;

inline void GetErrorString(ResultType error, const char **name, const char **text) {
  *name = cudaGetErrorName(error);
  *text = cudaGetErrorString(error);
}

inline ResultType LoadLibrary(LibraryHandle *library, const void *image) {
  return cudaLibraryLoadData(library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
inline ResultType UnloadLibrary(LibraryHandle library) { return cudaLibraryUnload(library); }
inline ResultType GetKernel(KernelHandle *kernel, LibraryHandle library, const char *name) {
  return cudaLibraryGetKernel(kernel, library, name);
}

inline ResultType GetDeviceCount(int *count) { return cudaGetDeviceCount(count); }
inline ResultType FindDevice(DeviceHandle *device, int device_id) {
  *device = device_id;
  return kSuccess;
}
inline ResultType GetDeviceAttribute(int *value, DeviceAttrType attr, DeviceHandle device) {
  return cudaDeviceGetAttribute(value, attr, device);
}
inline ResultType GetKernelSharedMem(KernelHandle kernel, int &n_bytes, DeviceHandle) {
  cudaFuncAttributes attributes;
  ResultType error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
  if (error == kSuccess) n_bytes = static_cast<int>(attributes.sharedSizeBytes);
  return error;
}
inline ResultType SetKernelMaxDynamicSharedMem(KernelHandle kernel, int n_bytes, DeviceHandle device) {
  return cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, n_bytes, device);
}

inline ResultType LaunchKernel(KernelHandle kernel, void **args, ffi::dim3 grid, ffi::dim3 block, StreamHandle stream,
                               uint32_t dyn_smem_bytes = 0) {
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), ::dim3(grid.x, grid.y, grid.z),
                          ::dim3(block.x, block.y, block.z), args, dyn_smem_bytes, stream);
}
inline ResultType LaunchKernelEx(KernelHandle kernel, void **args, const LaunchConfig &config) {
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), args);
}

/** A configuration without attributes. */
inline LaunchConfig MakeLaunchConfig(ffi::dim3 grid, ffi::dim3 block, StreamHandle stream, uint32_t dyn_smem_bytes) {
  LaunchConfig config{};
  config.gridDim = ::dim3(grid.x, grid.y, grid.z);
  config.blockDim = ::dim3(block.x, block.y, block.z);
  config.dynamicSmemBytes = dyn_smem_bytes;
  config.stream = stream;
  return config;
}
/** The attribute for clusters of n_blocks blocks in the first direction. */
inline LaunchAttrType MakeClusterAttr(unsigned int n_blocks) {
  LaunchAttrType attr{};
  attr.id = cudaLaunchAttributeClusterDimension;
  attr.val.clusterDim.x = n_blocks;
  attr.val.clusterDim.y = 1;
  attr.val.clusterDim.z = 1;
  return attr;
}

} // namespace tvm::ffi::cuda_api

#endif /* TVM_FFI_EXTRA_CUDA_INTERNAL_RUNTIME_API_H_ */
