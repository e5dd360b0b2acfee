/* list.h - std::list as an argument and as a result: a list; as an argument any sequence. */
#ifndef FFI_HPY_STL_LIST_H_
#define FFI_HPY_STL_LIST_H_

#include <ffi_hpy/stl/detail.h>

#include <list>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {
template <typename T, typename... Rest>
struct type_caster<std::list<T, Rest...>> : list_caster<std::list<T, Rest...>, T> {
  using Borrows = borrows_with<type_caster, T>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_LIST_H_ */
