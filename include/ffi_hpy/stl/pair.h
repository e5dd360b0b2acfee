/* pair.h - std::pair as an argument and as a result: a tuple of two; as an argument any sequence of two. */
#ifndef FFI_HPY_STL_PAIR_H_
#define FFI_HPY_STL_PAIR_H_

#include <ffi_hpy/stl/tuple.h>

#include <utility>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {
template <typename A, typename B> struct type_caster<std::pair<A, B>> : tuple_caster<std::pair<A, B>, A, B> {
  using Borrows = borrows_with<type_caster, A, B>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_PAIR_H_ */
