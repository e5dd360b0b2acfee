/* deque.h - std::deque as an argument and as a result: a list; as an argument any sequence. */
#ifndef FFI_HPY_STL_DEQUE_H_
#define FFI_HPY_STL_DEQUE_H_

#include <ffi_hpy/stl/detail.h>

#include <deque>

FFI_HPY_NAMESPACE_BEGIN

template <typename T, typename... Rest>
struct caster<std::deque<T, Rest...>>
    : detail::sequence_caster<caster<std::deque<T, Rest...>>, std::deque<T, Rest...>, T> {
  static void add(std::deque<T, Rest...> *to, T &&item) { to->push_back(std::move(item)); }
  template <typename U> static detail::owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    return caster::to_python("list", std::forward<U>(value), policy, parent);
  }
  static std::string name() { return "list[" + detail::caster_for<T>::name() + "]"; }
  static std::string schema() { return detail::schema_of("list", detail::caster_for<T>::schema()); }
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_DEQUE_H_ */
