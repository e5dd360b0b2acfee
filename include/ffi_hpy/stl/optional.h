/* optional.h - std::optional as an argument and as a result: None for an empty one. */
#ifndef FFI_HPY_STL_OPTIONAL_H_
#define FFI_HPY_STL_OPTIONAL_H_

#include <ffi_hpy/bind/function.h>

#include <optional>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Types with the members of std::optional. */
template <typename Optional, typename T = typename Optional::value_type> struct optional_caster {
  FFI_HPY_TYPE_CASTER(Optional, optional_name(make_caster<T>::Name));
  static constexpr bool takes_python = takes_python_v<T>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      value.reset();
      if (source.is_none()) return true;
      make_caster<T> inner;
      if (!read_inner<T>(&inner, source, flags, cleanup)) return false;
      value.emplace(inner.operator cast_t<T>());
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    if (source.is_none()) return false;
    if constexpr (explains_v<T>) {
      return make_caster<T>::explain(source, flags_for_local_caster<T>(flags), found);
    } else {
      return explain_number<T>(source, flags, found);
    }
  }
  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&source, rv_policy policy, cleanup_list *cleanup) noexcept {
    if (!source.has_value()) return handle(none_value());
    return make_caster<T>::from_cpp(*std::forward<U>(source), policy, cleanup);
  }
};
template <typename T> struct type_caster<std::optional<T>> : optional_caster<std::optional<T>> {
  using Borrows = borrows_with<type_caster, T>;
};
template <typename T> struct has_arg_defaults<std::optional<T>> : std::true_type {};

template <> struct type_caster<std::nullopt_t> : native_caster {
  static constexpr auto Name = const_name("None");
  static handle from_cpp(std::nullopt_t, rv_policy, cleanup_list *) noexcept { return handle(none_value()); }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_OPTIONAL_H_ */
