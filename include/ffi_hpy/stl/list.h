/* list.h - std::list as an argument and as a result: a list; as an argument any sequence. */
#ifndef FFI_HPY_STL_LIST_H_
#define FFI_HPY_STL_LIST_H_

#include <ffi_hpy/stl/detail.h>

#include <list>

FFI_HPY_NAMESPACE_BEGIN

template <typename T, typename... Rest>
struct caster<std::list<T, Rest...>>
    : detail::sequence_caster<caster<std::list<T, Rest...>>, std::list<T, Rest...>, T> {
  static void add(std::list<T, Rest...> *to, T &&item) { to->push_back(std::move(item)); }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return caster::to_python("list", std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "list[" + detail::caster_for<T>::name() + "]"; }
  static std::string schema() { return detail::schema_of("list", detail::caster_for<T>::schema()); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_LIST_H_ */
