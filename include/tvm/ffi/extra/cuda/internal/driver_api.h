/* driver_api.h - implements the functions of cubin_launcher.h with CUDA's driver. Included by unified_api.h. */
#ifndef TVM_FFI_EXTRA_CUDA_INTERNAL_DRIVER_API_H_
#define TVM_FFI_EXTRA_CUDA_INTERNAL_DRIVER_API_H_

#include <cuda.h>
#include <tvm/ffi/extra/cuda/base.h>

namespace tvm::ffi::cuda_api {

using StreamHandle = CUstream;
using DeviceHandle = CUdevice;
using LibraryHandle = CUlibrary;
using KernelHandle = CUkernel;
using LaunchConfig = CUlaunchConfig;
using LaunchAttrType = CUlaunchAttribute;
using DeviceAttrType = CUdevice_attribute;
using ResultType = CUresult;

constexpr ResultType kSuccess = CUDA_SUCCESS;
constexpr DeviceAttrType kMaxSharedMemoryPerBlock = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;

inline void GetErrorString(ResultType error, const char **name, const char **text) {
  if (cuGetErrorName(error, name) != CUDA_SUCCESS) *name = "unknown error";
  if (cuGetErrorString(error, text) != CUDA_SUCCESS) *text = "the driver does not know it";
}

inline ResultType LoadLibrary(LibraryHandle *library, const void *image) {
  return cuLibraryLoadData(library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
inline ResultType UnloadLibrary(LibraryHandle library) { return cuLibraryUnload(library); }
inline ResultType GetKernel(KernelHandle *kernel, LibraryHandle library, const char *name) {
  return cuLibraryGetKernel(kernel, library, name);
}

inline ResultType GetDeviceCount(int *count) { return cuDeviceGetCount(count); }
inline ResultType FindDevice(DeviceHandle *device, int device_id) { return cuDeviceGet(device, device_id); }
inline ResultType GetDeviceAttribute(int *value, DeviceAttrType attr, DeviceHandle device) {
  return cuDeviceGetAttribute(value, attr, device);
}
inline ResultType GetKernelSharedMem(KernelHandle kernel, int &n_bytes, DeviceHandle device) {
  return cuKernelGetAttribute(&n_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device);
}
inline ResultType SetKernelMaxDynamicSharedMem(KernelHandle kernel, int n_bytes, DeviceHandle device) {
  return cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, n_bytes, kernel, device);
}

inline ResultType LaunchKernel(KernelHandle kernel, void **args, ffi::dim3 grid, ffi::dim3 block, StreamHandle stream,
                               uint32_t dyn_smem_bytes = 0) {
  return cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                        dyn_smem_bytes, stream, args, nullptr);
}
inline ResultType LaunchKernelEx(KernelHandle kernel, void **args, const LaunchConfig &config) {
  return cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), args, nullptr);
}

/** A configuration without attributes. */
inline LaunchConfig MakeLaunchConfig(ffi::dim3 grid, ffi::dim3 block, StreamHandle stream, uint32_t dyn_smem_bytes) {
  LaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = dyn_smem_bytes;
  config.hStream = stream;
  return config;
}
/** The attribute for clusters of n_blocks blocks in the first direction. */
inline LaunchAttrType MakeClusterAttr(unsigned int n_blocks) {
  LaunchAttrType attr{};
  attr.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attr.value.clusterDim.x = n_blocks;
  attr.value.clusterDim.y = 1;
  attr.value.clusterDim.z = 1;
  return attr;
}

} // namespace tvm::ffi::cuda_api

#endif /* TVM_FFI_EXTRA_CUDA_INTERNAL_DRIVER_API_H_ */
