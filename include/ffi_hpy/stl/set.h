/* set.h - std::set as an argument and as a result: a set; as an argument any set or sequence. */
#ifndef FFI_HPY_STL_SET_H_
#define FFI_HPY_STL_SET_H_

#include <ffi_hpy/stl/detail.h>

#include <set>

FFI_HPY_NAMESPACE_BEGIN

template <typename T, typename... Rest>
struct caster<std::set<T, Rest...>> : detail::sequence_caster<caster<std::set<T, Rest...>>, std::set<T, Rest...>, T> {
  static void add(std::set<T, Rest...> *to, T &&item) { to->insert(std::move(item)); }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return caster::to_python("set", std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "set[" + detail::caster_for<T>::name() + "]"; }
  static std::string schema() { return detail::schema_of("set", detail::caster_for<T>::schema()); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_SET_H_ */
