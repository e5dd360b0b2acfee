/* variant.h - std::variant as an argument and as a result: a value of the first alternative that fits. */
#ifndef FFI_HPY_STL_VARIANT_H_
#define FFI_HPY_STL_VARIANT_H_

#include <ffi_hpy/bind/function.h>

#include <variant>

FFI_HPY_NAMESPACE_BEGIN

template <> struct caster<std::monostate> : detail::value_caster<std::monostate> {
  bool from(const TVMFFIAny &any, bool) { return any.type_index == kTVMFFINone; }
  static detail::owned to(std::monostate, rv_policy, const TVMFFIAny *) { return detail::owned(); }
  static std::string name() { return "None"; }
  static std::string schema() { return detail::named_schema("None"); }
};

template <typename... T> struct caster<std::variant<T...>> {
  using Value = std::variant<T...>;

  bool from(const TVMFFIAny &any, bool convert) {
    if ((read<T>(any, false) || ...)) return true;
    return convert && (read<T>(any, true) || ...);
  }
  template <typename A> A get() {
    if constexpr (std::is_lvalue_reference_v<A>) {
      return *value_;
    } else {
      return std::move(*value_);
    }
  }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return std::visit(
        [&](auto &&each) {
          return detail::caster_for<decltype(each)>::to(std::forward<decltype(each)>(each), policy, parent);
        },
        std::forward<U>(value));
  }
  static std::string name() {
    std::string made;
    ((made.append(made.empty() ? "" : " | ").append(detail::caster_for<T>::name())), ...);
    return made;
  }
  static std::string schema() {
    std::string made;
    ((made.append(made.empty() ? "" : ",").append(detail::caster_for<T>::schema())), ...);
    return detail::schema_of("Union", made);
  }

private:
  template <typename Alternative> bool read(const TVMFFIAny &any, bool convert) {
    detail::caster_for<Alternative> inner;
    if (detail::refuses_none_v<detail::caster_for<Alternative>, Alternative> && any.type_index == kTVMFFINone) {
      return false;
    }
    if (!inner.from(any, convert)) return false;
    value_ = std::make_unique<Value>(inner.template get<Alternative>());
    return true;
  }

  std::unique_ptr<Value> value_;
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_VARIANT_H_ */
