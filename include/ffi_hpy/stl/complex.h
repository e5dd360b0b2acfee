/* complex.h - std::complex as an argument and as a result: a complex; as an argument any number. */
#ifndef FFI_HPY_STL_COMPLEX_H_
#define FFI_HPY_STL_COMPLEX_H_

#include <ffi_hpy/stl/detail.h>

#include <complex>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename T> struct type_caster<std::complex<T>> {
  FFI_HPY_TYPE_CASTER(std::complex<T>, const_name("complex"));

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    bool may_convert = (flags & cast_flags::convert) != 0;
    type_caster<T> real, imaginary;
    if (source.any().type_index != kTVMFFIOpaquePyObject) { /* a float, an int, or not a number */
      if (!may_convert || !real.from_python(source, flags, cleanup)) return false;
      value = real.value;
      return true;
    }
    handle parts =
        guarded([&] { return ask_python(kFfiHpyRunComplexParts, source, handle(word(kTVMFFIBool, may_convert))); });
    if (!parts.is_valid()) python_error dropped;
    object kept = steal(parts);
    if (!is_object(kept.any())) return false;
    const TVMFFIAny *both = items_in(kept);
    if (!real.from_python(handle(both[0]), flags, cleanup) || !imaginary.from_python(handle(both[1]), flags, cleanup)) {
      return false;
    }
    value = {real.value, imaginary.value};
    return true;
  }
  static handle from_cpp(const std::complex<T> &source, rv_policy policy, cleanup_list *cleanup) noexcept {
    handle real = type_caster<T>::from_cpp(source.real(), policy, cleanup);
    handle imaginary = type_caster<T>::from_cpp(source.imag(), policy, cleanup);
    return guarded([&] { return ask_python(kFfiHpyRunComplex, real, imaginary); });
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_COMPLEX_H_ */
