/* cubin_launcher.h - launches kernels of CUBIN images, which are loaded from memory or linked into the library.
 *
 *   CubinModule module(bytes);
 *   CubinKernel kernel = module["add_one"];
 *   void *args[] = {&x_pointer, &y_pointer, &n};
 *   TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(kernel.Launch(args, dim3(n_blocks), dim3(256), stream));
 *
 * A kernel must not outlive its module. Any thread may use both; a module must not be moved while another thread uses
 * it. */
#ifndef TVM_FFI_EXTRA_CUDA_CUBIN_LAUNCHER_H_
#define TVM_FFI_EXTRA_CUDA_CUBIN_LAUNCHER_H_

#include <cuda.h>
#include <cuda_runtime.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/base.h>
#include <tvm/ffi/extra/cuda/internal/unified_api.h>
#include <tvm/ffi/string.h>

#include <algorithm>
#include <utility>

/** At namespace scope, in one file. Declares the image that was linked under `name` (by ffi_hpy.utils.embed_cubin, or
 * by the functions of the build system); or an image in an array, as bin2c or #embed makes it. */
#define TVM_FFI_EMBED_CUBIN(name)                  \
  extern "C" const char __tvm_ffi__cubin_##name[]; \
  TVM_FFI_EMBED_CUBIN_FROM_BYTES(name, __tvm_ffi__cubin_##name)
/** As TVM_FFI_EMBED_CUBIN, for an image in an array. */
#define TVM_FFI_EMBED_CUBIN_FROM_BYTES(name, imageBytes)          \
  namespace {                                                     \
  struct EmbedCubinModule_##name {                                \
    ::tvm::ffi::CubinModule mod{imageBytes};                      \
    static EmbedCubinModule_##name *Global() {                    \
      static EmbedCubinModule_##name loaded_when_first_asked_for; \
      return &loaded_when_first_asked_for;                        \
    }                                                             \
  };                                                              \
  }
/** The kernel of that name (a string) of such an image. */
#define TVM_FFI_EMBED_CUBIN_GET_KERNEL(name, kernel_name) (EmbedCubinModule_##name::Global()->mod[kernel_name])

namespace tvm::ffi {

/** A kernel of a loaded image. The image must outlive the kernel. */
class CubinKernel {
public:
  /** RuntimeError if the image has no kernel of that name. */
  CubinKernel(cuda_api::LibraryHandle library, const char *name) {
    TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(cuda_api::GetKernel(&kernel_, library, name));
  }
  CubinKernel(const CubinKernel &) = delete;
  CubinKernel &operator=(const CubinKernel &) = delete;
  CubinKernel(CubinKernel &&other) noexcept : kernel_(std::exchange(other.kernel_, nullptr)) {}
  CubinKernel &operator=(CubinKernel &&other) noexcept {
    kernel_ = std::exchange(other.kernel_, nullptr);
    return *this;
  }

  /** Starts the kernel on the current device and returns at once. args[i] points to the i-th argument; the arguments
   * are copied. */
  cuda_api::ResultType Launch(void **args, dim3 grid, dim3 block, cuda_api::StreamHandle stream,
                              uint32_t dyn_smem_bytes = 0) const {
    return cuda_api::LaunchKernel(kernel_, args, grid, block, stream, dyn_smem_bytes);
  }
  /** Launch with a configuration that ConstructLaunchConfig has filled in. */
  cuda_api::ResultType LaunchEx(void **args, const cuda_api::LaunchConfig &config) const {
    return cuda_api::LaunchKernelEx(kernel_, args, config);
  }
  /** The handle of the CUDA API, borrowed. */
  cuda_api::KernelHandle GetHandle() const { return kernel_; }

private:
  /** Sets the maximum on every device; RuntimeError if that fails on all of them. -1 means all shared memory of a
   * device minus the kernel's static use. */
  void SetMaxDynamicSharedMemory(int64_t n_bytes) const {
    int n_devices = 0;
    if (cuda_api::GetDeviceCount(&n_devices) != cuda_api::kSuccess || n_devices == 0) return;
    bool any = false;
    for (int i = 0; i < n_devices; ++i) any |= SetMaxDynamicSharedMemoryOn(cuda_api::GetDeviceHandle(i), n_bytes);
    if (!any) TVM_FFI_THROW(RuntimeError) << "Failed to set dynamic shared memory attribute for any device";
  }
  bool SetMaxDynamicSharedMemoryOn(cuda_api::DeviceHandle device, int64_t n_bytes) const {
    if (n_bytes == -1) {
      int n_all, n_static;
      if (cuda_api::GetDeviceAttribute(&n_all, cuda_api::kMaxSharedMemoryPerBlock, device) != cuda_api::kSuccess ||
          cuda_api::GetKernelSharedMem(kernel_, n_static, device) != cuda_api::kSuccess) {
        return false;
      }
      n_bytes = std::max(n_all - n_static, 0);
    }
    return cuda_api::SetKernelMaxDynamicSharedMem(kernel_, static_cast<int>(n_bytes), device) == cuda_api::kSuccess;
  }

  cuda_api::KernelHandle kernel_ = nullptr;

  friend class CubinModule;
};

/** An image that CUDA has loaded. The destructor unloads it. */
class CubinModule {
public:
  /** The image contains its own length. RuntimeError for anything but an image for this system. */
  explicit CubinModule(const char *code) { Load(code); }
  /** Loads an image from memory; RuntimeError if CUDA refuses it. */
  explicit CubinModule(const unsigned char *code) { Load(code); }
  /** Loads an image from bytes; RuntimeError if CUDA refuses it, ValueError for no bytes. */
  explicit CubinModule(const Bytes &bytes) {
    if (bytes.size() == 0) TVM_FFI_THROW(ValueError) << "Expected a CUBIN image but got no bytes";
    Load(bytes.data());
  }
  CubinModule(const CubinModule &) = delete;
  CubinModule &operator=(const CubinModule &) = delete;
  CubinModule(CubinModule &&other) noexcept : library_(std::exchange(other.library_, nullptr)) {}
  CubinModule &operator=(CubinModule &&other) noexcept {
    CubinModule taken(std::move(other));
    std::swap(library_, taken.library_);
    return *this;
  }
  ~CubinModule() {
    if (library_ != nullptr) (void)cuda_api::UnloadLibrary(library_);
  }

  /** The kernel of that name; RuntimeError if there is none. */
  CubinKernel GetKernel(const char *name) const { return CubinKernel(library_, name); }
  /** The kernel of that name; RuntimeError if there is none. */
  CubinKernel operator[](const char *name) const { return GetKernel(name); }
  /** A kernel that may be launched with up to that many bytes of dynamic shared memory; -1 for as many as possible. */
  CubinKernel GetKernelWithMaxDynamicSharedMemory(const char *name, int64_t dynamic_smem_max = -1) const {
    CubinKernel kernel = GetKernel(name);
    kernel.SetMaxDynamicSharedMemory(dynamic_smem_max);
    return kernel;
  }
  /** The handle of the CUDA API, borrowed. */
  cuda_api::LibraryHandle GetHandle() const { return library_; }

private:
  void Load(const void *image) { TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(cuda_api::LoadLibrary(&library_, image)); }

  cuda_api::LibraryHandle library_ = nullptr;
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_CUDA_CUBIN_LAUNCHER_H_ */
