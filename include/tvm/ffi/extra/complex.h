/* complex.h - std::complex as arguments and results: complex in Python. Without a Python in the process it crosses as
 * an Array of two floats. */
#ifndef TVM_FFI_EXTRA_COMPLEX_H_
#define TVM_FFI_EXTRA_COMPLEX_H_

#include <tvm/ffi/container/array.h>

#include <complex>

namespace tvm::ffi {

/** Any real number converts to a complex number. */
template <typename T>
struct TypeTraits<std::complex<T>, std::enable_if_t<std::is_floating_point_v<T>>> : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const std::complex<T> &, TVMFFIAny *) {
    static_assert(sizeof(T) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(std::complex<T> src, TVMFFIAny *result) {
    Any made = detail::AskPython("complex", src.real(), src.imag());
    if (made == nullptr) made = Any(Array<T>{src.real(), src.imag()});
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<std::complex<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Array<T>> parts = Parts(src).template as<Array<T>>(); /* first: a complex object may have __float__ */
    if (parts.has_value()) {
      if (parts->size() != 2) return std::nullopt;
      return std::complex<T>((*parts)[0], (*parts)[1]);
    }
    if (std::optional<T> real = TypeTraits<T>::TryCastFromAnyView(src)) return std::complex<T>(*real);
    return std::nullopt;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    if (std::optional<Array<double>> parts = Parts(src).template as<Array<double>>()) {
      for (double part : *parts) {
        Any number(part);
        std::string found = detail::AnyUnsafe::GetMismatchTypeInfo<T>(number);
        if (detail::IsOutsideRange(found)) return found;
      }
    }
    return TypeTraits<T>::GetMismatchTypeInfo(src);
  }
  static std::string TypeStr() { return "complex"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("complex"); }

private:
  /** Both parts of a complex number, as an Array; any other value unchanged. */
  static Any Parts(const TVMFFIAny *src) {
    Any value = AnyView::CopyFromTVMFFIAny(*src);
    return src->type_index == kTVMFFIOpaquePyObject ? detail::AskPython("complex_parts", value) : value;
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_COMPLEX_H_ */
