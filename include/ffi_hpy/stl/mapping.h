/* mapping.h - shared by the casters of std::map and std::unordered_map. */
#ifndef FFI_HPY_STL_MAPPING_H_
#define FFI_HPY_STL_MAPPING_H_

#include <ffi_hpy/stl/detail.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename Map, typename K, typename V> struct dict_caster {
  FFI_HPY_TYPE_CASTER(Map, io_name("collections.abc.Mapping", "dict") + const_name("[") + make_caster<K>::Name +
                               const_name(", ") + make_caster<V>::Name + const_name("]"));
  static constexpr bool takes_python = takes_python_v<K> || takes_python_v<V>;

  bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
    try {
      value.clear();
      sequence items;
      if (!items.read_pairs(source, takes_python) || !items.template outlive<K, V>(cleanup)) return false;
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        check_item<V>();
        make_caster<V> mapped;
        bool fits = read_inner<V>(&mapped, items[i + 1], flags, cleanup) &&
                    read_item<K>(items[i], flags, cleanup, [&](auto &&key) {
                      if (!value.emplace(std::forward<decltype(key)>(key), mapped.operator cast_t<V>()).second) {
                        throw value_error("two keys of the mapping are one key in C++");
                      }
                    });
        if (!fits) return false;
      }
      return true;
    } catch (...) {
      return conversion_failed(cleanup);
    }
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    sequence items;
    if (!items.read_pairs(source, takes_python)) return false;
    size_t n = found->place.size();
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      object text = ask_python("repr", items[i]);
      std::string_view key;
      (void)read_text(text.any(), false, &key);
      found->place += joined({"[", key, "]"});
      if (explain_inner<V>(items[i + 1], flags, found)) return found->in_item(i + 1);
      found->place.resize(n);
      found->place += joined({": the key ", key});
      if (explain_inner<K>(items[i], flags, found)) return found->in_item(i);
      found->place.resize(n);
    }
    return false;
  }
  template <typename U, std::enable_if_t<!std::is_pointer_v<std::remove_reference_t<U>>, int> = 0>
  static handle from_cpp(U &&value, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make(std::forward<U>(value), policy, cleanup, nullptr);
  }
  template <typename U>
  static handle make(U &&value, rv_policy policy, cleanup_list *cleanup, python_values python) noexcept {
    python_container made(python, kFfiHpyDict, 2 * value.size());
    TVMFFIAny *next = made.begin();
    if (next == nullptr) return handle();
    for (auto &&pair : value) {
      handle key = make_value<K>(pair.first, item_policy(policy), cleanup, maker_of<U, K>(python));
      if (!key.is_valid()) return made.fail(next);
      *next++ = key.any();
      handle mapped = make_value<V>(forward_item<U>(pair.second), item_policy(policy), cleanup, maker_of<U, V>(python));
      if (!mapped.is_valid()) return made.fail(next);
      *next++ = mapped.any();
    }
    return made.finish(next);
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_MAPPING_H_ */
