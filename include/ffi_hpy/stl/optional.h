/* optional.h - std::optional as an argument and as a result: None for an empty one. */
#ifndef FFI_HPY_STL_OPTIONAL_H_
#define FFI_HPY_STL_OPTIONAL_H_

#include <ffi_hpy/bind/function.h>

#include <optional>

FFI_HPY_NAMESPACE_BEGIN

template <typename T> struct caster<std::optional<T>> : detail::value_caster<std::optional<T>> {
  bool from(const TVMFFIAny &any, bool convert) {
    if (any.type_index == kTVMFFINone) {
      this->value.reset();
      return true;
    }
    detail::caster_for<T> inner;
    if (!inner.from(any, convert)) return false;
    this->value.emplace(inner.template get<T>());
    return true;
  }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    if (!value.has_value()) return detail::owned();
    return detail::caster_for<T>::to(*std::forward<U>(value), policy, parent);
  }
  static std::string name() { return detail::caster_for<T>::name() + " | None"; }
  static std::string schema() { return detail::schema_of("Optional", detail::caster_for<T>::schema()); }
};

template <> struct caster<std::nullopt_t> {
  static detail::owned to(std::nullopt_t, rv_policy, const TVMFFIAny *) { return detail::owned(); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_OPTIONAL_H_ */
