/* unordered_set.h - std::unordered_set as an argument and as a result: a set; as an argument any set or sequence. */
#ifndef FFI_HPY_STL_UNORDERED_SET_H_
#define FFI_HPY_STL_UNORDERED_SET_H_

#include <ffi_hpy/stl/detail.h>

#include <unordered_set>

FFI_HPY_NAMESPACE_BEGIN

template <typename T, typename... Rest>
struct caster<std::unordered_set<T, Rest...>>
    : detail::sequence_caster<caster<std::unordered_set<T, Rest...>>, std::unordered_set<T, Rest...>, T> {
  static void add(std::unordered_set<T, Rest...> *to, T &&item) { to->insert(std::move(item)); }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return caster::to_python("set", std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "set[" + detail::caster_for<T>::name() + "]"; }
  static std::string schema() { return detail::schema_of("set", detail::caster_for<T>::schema()); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_UNORDERED_SET_H_ */
