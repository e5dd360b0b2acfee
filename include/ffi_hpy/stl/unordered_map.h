/* unordered_map.h - std::unordered_map as an argument and as a result: a dict; as an argument any mapping. */
#ifndef FFI_HPY_STL_UNORDERED_MAP_H_
#define FFI_HPY_STL_UNORDERED_MAP_H_

#include <ffi_hpy/stl/mapping.h>

#include <unordered_map>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {
template <typename K, typename V, typename... Rest>
struct type_caster<std::unordered_map<K, V, Rest...>> : dict_caster<std::unordered_map<K, V, Rest...>, K, V> {
  using Borrows = borrows_with<type_caster, K, V>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_UNORDERED_MAP_H_ */
