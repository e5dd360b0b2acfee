/* mapping.h - shared by the casters of std::map and std::unordered_map. */
#ifndef FFI_HPY_STL_MAPPING_H_
#define FFI_HPY_STL_MAPPING_H_

#include <ffi_hpy/stl/detail.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <typename Map, typename K, typename V> struct mapping_caster : value_caster<Map> {
  bool from(const TVMFFIAny &any, bool convert) {
    sequence items;
    if (!items.read_pairs(any)) return false;
    this->value.clear();
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      caster_for<K> key;
      caster_for<V> mapped;
      if (refuses_none_v<caster_for<V>, V> && items[i + 1].type_index == kTVMFFINone) return false;
      if (!key.from(items[i], convert) || !mapped.from(items[i + 1], convert)) return false;
      this->value.emplace(key.template get<moved<K>>(), mapped.template get<moved<V>>());
    }
    return true;
  }
  template <typename U> static owned to(U &&value, rv_policy policy, const TVMFFIAny *parent) {
    python_container made(kFfiHpyDict, 2 * value.size());
    for (auto &&pair : value) {
      made.add(caster_for<K>::to(K(pair.first), item_policy(policy), parent));
      made.add(caster_for<V>::to(forward_item<std::remove_reference_t<decltype(pair.second)>, U>(pair.second),
                                 item_policy(policy), parent));
    }
    return made.finish();
  }
  static std::string name() { return "dict[" + caster_for<K>::name() + ", " + caster_for<V>::name() + "]"; }
  static std::string schema() { return schema_of("dict", caster_for<K>::schema() + "," + caster_for<V>::schema()); }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_MAPPING_H_ */
