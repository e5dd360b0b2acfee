/* unordered_set.h - std::unordered_set as an argument and as a result: a set; as an argument any set or sequence. */
#ifndef FFI_HPY_STL_UNORDERED_SET_H_
#define FFI_HPY_STL_UNORDERED_SET_H_

#include <ffi_hpy/stl/detail.h>

#include <unordered_set>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {
template <typename T, typename... Rest>
struct type_caster<std::unordered_set<T, Rest...>> : set_caster<std::unordered_set<T, Rest...>, T> {
  using Borrows = borrows_with<type_caster, T>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_UNORDERED_SET_H_ */
