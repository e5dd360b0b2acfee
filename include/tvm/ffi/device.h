/* device.h - DLDevice as a value; a string like "cuda:0" converts to it. */
#ifndef TVM_FFI_DEVICE_H_
#define TVM_FFI_DEVICE_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/string.h>
#include <tvm/ffi/type_traits.h>

#include <string_view>

namespace tvm::ffi {
namespace detail {

/** Parses "cpu", "cuda:1", ...; nullopt for anything else. The index must not be negative. */
inline std::optional<DLDevice> TryStringViewToDLDevice(std::string_view text) {
  static constexpr std::pair<std::string_view, DLDeviceType> kNames[] = {
      {"cpu", kDLCPU},        {"cuda", kDLCUDA},       {"opencl", kDLOpenCL}, {"vulkan", kDLVulkan},
      {"metal", kDLMetal},    {"mps", kDLMetal},       {"vpi", kDLVPI},       {"rocm", kDLROCM},
      {"ext_dev", kDLExtDev}, {"hexagon", kDLHexagon}, {"wgpu", kDLWebGPU},   {"webgpu", kDLWebGPU},
      {"maia", kDLMAIA},      {"trn", kDLTrn}};
  size_t colon = text.find(':');
  int64_t index = 0;
  if (colon != std::string_view::npos) {
    std::string_view digits = text.substr(colon + 1);
    if (digits.empty() || digits.size() > 10) return std::nullopt;
    for (char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      index = index * 10 + (c - '0');
    }
    if (index > INT32_MAX) return std::nullopt;
  }
  for (const auto &[name, type] : kNames) {
    if (text.substr(0, colon) == name) return DLDevice{type, static_cast<int32_t>(index)};
  }
  return std::nullopt;
}

} // namespace detail

template <> struct TypeTraits<DLDevice> : detail::PlainTraitsBase<TypeTraits<DLDevice>, DLDevice, kTVMFFIDevice> {
  TVM_FFI_INLINE static void Put(DLDevice src, TVMFFIAny *result) {
    detail::PutInt64(kTVMFFIDevice, 0, result);
    result->v_device = src;
  }
  TVM_FFI_INLINE static DLDevice Get(const TVMFFIAny *src) { return src->v_device; }
  static std::optional<DLDevice> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIDevice) return src->v_device;
    if (std::optional<String> text = TypeTraits<String>::TryCastFromAnyView(src)) {
      return detail::TryStringViewToDLDevice(std::string_view(text->data(), text->size()));
    }
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIDevice)
};

} // namespace tvm::ffi

#endif /* TVM_FFI_DEVICE_H_ */
