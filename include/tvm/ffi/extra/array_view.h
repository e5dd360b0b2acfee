/* array_view.h - ArrayView<T, kNDim, kDevice>: a tensor parameter whose element type, axes and device the author
 * declares.
 *
 *   double Trace(ffi::ArrayView<const double, 2, kDLCPU> matrix) {
 *     double sum = 0;
 *     for (int64_t i = 0; i < matrix.size(0); ++i) sum += matrix(i, i);
 *     return sum;
 *   }
 *
 * The call checks the argument before the function runs. A const T is only read, so read-only arrays are accepted too
 * (see ConstTensorView). */
#ifndef TVM_FFI_EXTRA_ARRAY_VIEW_H_
#define TVM_FFI_EXTRA_ARRAY_VIEW_H_

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/dtype.h>

#include <string>
#include <type_traits>

namespace tvm::ffi {

/** For ArrayView: any number of axes, or any device. */
inline constexpr int kAny = -1;

/** A borrowed tensor of elements T, which dtype_trait has to know; `void` or `const void` means any type. kNDim is the
 * number of axes, kDevice a DLDeviceType; kAny allows all. */
template <typename T, int kNDim = kAny, int kDevice = kAny>
class ArrayView : public std::conditional_t<std::is_const_v<T>, ConstTensorView, TensorView> {
  using Base = std::conditional_t<std::is_const_v<T>, ConstTensorView, TensorView>;

public:
  /** The type of the elements, const if they are only read. */
  using Element = T;

  /** From a DLTensor, which is not checked, and whose shape and strides must outlive the view. */
  explicit ArrayView(const DLTensor *tensor) : Base(tensor) {}

  /** The address of the first element. */
  T *data() const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T *>(static_cast<Byte *>(this->data_ptr()) + this->byte_offset());
  }
  /** The element at a position, one number for each axis; positions are not checked. For memory that the caller's
   * processor reads. */
  template <typename... Position> auto &operator()(Position... position) const {
    static_assert(kNDim == kAny || sizeof...(Position) == static_cast<size_t>(kNDim), "one number for each axis");
    const int64_t *stride = this->GetDLTensorPtr()->strides;
    int64_t n = 0;
    ((n += static_cast<int64_t>(position) * *stride++), ...);
    return data()[n];
  }
};

namespace detail {

/** The name of a device type, as Python shows it. */
inline std::string DeviceTypeName(int type) {
  switch (type) {
  case kDLCPU: return "cpu";
  case kDLCUDA: return "cuda";
  case kDLCUDAHost: return "cuda_host";
  case kDLCUDAManaged: return "cuda_managed";
  case kDLOpenCL: return "opencl";
  case kDLVulkan: return "vulkan";
  case kDLMetal: return "metal";
  case kDLROCM: return "rocm";
  case kDLROCMHost: return "rocm_host";
  case kDLOneAPI: return "oneapi";
  case kDLWebGPU: return "webgpu";
  case kDLHexagon: return "hexagon";
  default: return "device type " + std::to_string(type);
  }
}

/** "float32[:, :] on cpu" */
inline std::string ArrayText(const std::string &dtype, int n_axes, const int64_t *shape, int device) {
  std::string text = dtype;
  if (n_axes != kAny) {
    text += '[';
    for (int i = 0; i < n_axes; ++i) {
      text.append(i == 0 ? "" : ", ").append(shape == nullptr ? ":" : std::to_string(shape[i]));
    }
    text += ']';
  }
  if (device != kAny) text.append(text.empty() ? "on " : " on ").append(DeviceTypeName(device));
  return text;
}

} // namespace detail

template <typename T, int kNDim, int kDevice>
struct TypeTraits<ArrayView<T, kNDim, kDevice>>
    : detail::TensorParameterTraits<TypeTraits<ArrayView<T, kNDim, kDevice>>, ArrayView<T, kNDim, kDevice>> {
  using Plain = std::remove_const_t<T>;

  TVM_FFI_INLINE static bool Accepts(const DLTensor &tensor) {
    if constexpr (!std::is_void_v<Plain>) {
      constexpr DLDataType kWanted = dtype_trait<Plain>::value;
      if (tensor.dtype.code != kWanted.code || tensor.dtype.bits != kWanted.bits || tensor.dtype.lanes != kWanted.lanes)
        return false;
    }
    return (kNDim == kAny || tensor.ndim == kNDim) &&
           (kDevice == kAny || static_cast<int>(tensor.device.device_type) == kDevice);
  }
  static std::string Form() {
    std::string dtype;
    if constexpr (!std::is_void_v<Plain>) dtype = DLDataTypeToString(dtype_trait<Plain>::value);
    std::string form = detail::ArrayText(dtype, kNDim, nullptr, kDevice);
    if (!std::is_const_v<T>) return form.empty() ? "any" : form;
    return form.empty() ? "read-only" : "read-only " + form;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    const DLTensor *tensor = detail::TensorOf(src);
    if (tensor == nullptr) return TypeTraitsBase::GetMismatchTypeInfo(src);
    return detail::ArrayText(DLDataTypeToString(tensor->dtype), tensor->ndim, tensor->shape,
                             static_cast<int>(tensor->device.device_type)) +
           " array";
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_ARRAY_VIEW_H_ */
