/* deque.h - std::deque as an argument and as a result: a list; as an argument any sequence. */
#ifndef FFI_HPY_STL_DEQUE_H_
#define FFI_HPY_STL_DEQUE_H_

#include <ffi_hpy/stl/detail.h>

#include <deque>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {
template <typename T, typename... Rest>
struct type_caster<std::deque<T, Rest...>> : list_caster<std::deque<T, Rest...>, T> {
  using Borrows = borrows_with<type_caster, T>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_DEQUE_H_ */
