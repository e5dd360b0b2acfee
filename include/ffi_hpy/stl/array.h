/* array.h - std::array as an argument and as a result: a list; as an argument any sequence of that length. */
#ifndef FFI_HPY_STL_ARRAY_H_
#define FFI_HPY_STL_ARRAY_H_

#include <ffi_hpy/stl/detail.h>

#include <array>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Containers of N items. */
template <typename Array, typename T, size_t N>
struct array_caster : sequence_caster<array_caster<Array, T, N>, Array, T> {
  FFI_HPY_TYPE_CASTER(Array, io_name("collections.abc.Sequence", "list") + const_name("[") + make_caster<T>::Name +
                                 const_name("]"));
  using sequence_caster<array_caster, Array, T>::from_cpp;
  static constexpr uint32_t kKind = kFfiHpyList;
  static bool read(sequence *items, handle source, uint32_t flags) {
    int32_t kind = source.any().type_index;
    bool is_bytes = kind == kTVMFFISmallBytes || kind == kTVMFFIBytes;
    return is_bytes ? items->read_iterable(source, takes_python_v<T>) : items->read(source, flags, takes_python_v<T>);
  }

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      sequence items;
      if (!read(&items, source, flags) || items.size() != N) return false;
      if (!items.template outlive<T>(cleanup)) return false;
      for (size_t i = 0; i < N; ++i) {
        bool fits =
            read_item<T>(items[i], flags, cleanup, [&](auto &&item) { value[i] = std::forward<decltype(item)>(item); });
        if (!fits) return false;
      }
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    sequence items;
    return read(&items, source, flags) &&
           (explain_size(items.size(), N, found) || explain_items(items, flags, found, explain_inner<T>));
  }
};

template <typename T, size_t N> struct type_caster<std::array<T, N>> : array_caster<std::array<T, N>, T, N> {
  using Borrows = borrows_with<type_caster, T>;
  using MakesPython = type_caster;
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_ARRAY_H_ */
