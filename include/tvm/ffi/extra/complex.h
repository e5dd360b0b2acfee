/* complex.h - std::complex as arguments and results: complex in Python. Without a Python in the process it crosses as
 * an Array of two floats. */
#ifndef TVM_FFI_EXTRA_COMPLEX_H_
#define TVM_FFI_EXTRA_COMPLEX_H_

#include <tvm/ffi/container/array.h>

#include <complex>

namespace tvm {
namespace ffi {

/** Any real number converts to a complex number. */
template <typename T>
struct TypeTraits<std::complex<T>, std::enable_if_t<std::is_floating_point_v<T>>> : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const std::complex<T> &, TVMFFIAny *) {
    static_assert(sizeof(T) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(std::complex<T> src, TVMFFIAny *result) {
    double real = static_cast<double>(src.real()), imag = static_cast<double>(src.imag());
    Any made = detail::AskPython("complex", real, imag);
    if (made == nullptr) made = Any(Array<double>{real, imag});
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<std::complex<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    if (std::optional<double> real = TypeTraits<double>::TryCastFromAnyView(src)) {
      return std::complex<T>(static_cast<T>(*real));
    }
    Any parts = AnyView::CopyFromTVMFFIAny(*src);
    if (src->type_index == kTVMFFIOpaquePyObject) parts = detail::AskPython("complex_parts", parts);
    auto pair = parts.as<Array<double>>();
    if (!pair.has_value() || pair->size() != 2) return std::nullopt;
    return std::complex<T>(static_cast<T>((*pair)[0]), static_cast<T>((*pair)[1]));
  }
  static std::string TypeStr() { return "complex"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("complex"); }
};

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_COMPLEX_H_ */
