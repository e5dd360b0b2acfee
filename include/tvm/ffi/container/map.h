/* map.h - Map<K, V>: values by key, in the order of insertion. Copy on write.
 *
 * A method that changes a Map copies the pairs first if another reference shares them, so no other reference sees the
 * change. */
#ifndef TVM_FFI_CONTAINER_MAP_H_
#define TVM_FFI_CONTAINER_MAP_H_

#include <tvm/ffi/container/map_base.h>

namespace tvm::ffi {

/** The object of a Map. */
class MapObj : public MapBaseObj {
public:
  /** Whether all references see a change. */
  static constexpr bool kIsShared = false;
  /** A new object with the same pairs. */
  static ObjectPtr<Object> ShallowCopy(const MapObj *from) { return CopyOf<MapObj>(from); }

  static constexpr int32_t _type_index = kTVMFFIMap;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIMap, MapObj, Object);
};
static_assert(sizeof(MapObj) == 56, "the ABI's map");

/** A reference to a map in the order of insertion. A method that changes it copies shared pairs first. */
template <typename K, typename V, typename = std::enable_if_t<detail::CheckElements<K, V>()>>
class Map : public MapRef<Map<K, V>, MapObj, K, V> {
  using Base = MapRef<Map<K, V>, MapObj, K, V>;
  using Base::data_;
  using Base::Obj;

public:
  /** The class of the objects. */
  using ContainerType = MapObj;

  /** Leaves the reference null; the caller fills it in. */
  explicit Map(UnsafeInit tag) : Base(tag) {}
  /** From an object that is a Map of these types; the types are not checked. */
  explicit Map(ObjectPtr<Object> data) : Base(std::move(data)) {}
  /** An empty Map. */
  Map() : Base(Base::New()) {}
  /** Copies the pairs of a range; the last pair of equal keys wins. */
  template <typename IterType> Map(IterType first, IterType last) : Base(Base::FromRange(first, last)) {}
  /** Copies the pairs of a list; the last pair of equal keys wins. */
  Map(std::initializer_list<std::pair<K, V>> pairs) : Map(pairs.begin(), pairs.end()) {}
  /** Copies the pairs of an unordered_map. */
  template <typename Hash, typename Equal>
  Map(const std::unordered_map<K, V, Hash, Equal> &pairs) : Map(pairs.begin(), pairs.end()) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(Map)
  /** From a map whose keys are all K and whose values are all V. Both share the pairs. */
  template <typename KU, typename VU,
            typename = std::enable_if_t<(!std::is_same_v<K, KU> || !std::is_same_v<V, VU>) && type_subsumes_v<K, KU> &&
                                        type_subsumes_v<V, VU>>>
  Map(const Map<KU, VU> &other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(other)) {}
  template <typename KU, typename VU,
            typename = std::enable_if_t<(!std::is_same_v<K, KU> || !std::is_same_v<V, VU>) && type_subsumes_v<K, KU> &&
                                        type_subsumes_v<V, VU>>>
  Map(Map<KU, VU> &&other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(other))) {}

  /** The object, borrowed. */
  const MapObj *get() const { return Obj(); }
  const MapObj *operator->() const { return Obj(); }
  /** Removes all pairs; other references keep theirs. */
  void clear() {
    if (data_ == nullptr) return;
    if (data_.unique()) {
      Obj()->clear();
    } else {
      data_ = Base::New();
    }
  }
  /** The object, after copying it if it was shared. */
  MapObj *CopyOnWrite() { return Mutable(); }

private:
  MapObj *Mutable() {
    if (data_ == nullptr) {
      data_ = Base::New();
    } else if (!data_.unique()) {
      data_ = Base::CopyOf(Obj());
    }
    return Obj();
  }

  friend Base;
};

/** The pairs of both maps; for a key in both maps, the value of `right`. */
template <typename K, typename V,
          typename = std::enable_if_t<detail::storage_enabled_v<K> && detail::storage_enabled_v<V>>>
inline Map<K, V> Merge(Map<K, V> left, const Map<K, V> &right) {
  for (const auto &pair : right) left.Set(pair.first, pair.second);
  return left;
}

template <typename K, typename V> inline constexpr bool use_default_type_traits_v<Map<K, V>> = false;

template <typename K, typename V>
struct TypeTraits<Map<K, V>> : MapTypeTraitsBase<TypeTraits<Map<K, V>>, Map<K, V>, K, V> {
  static constexpr int32_t field_static_type_index = kTVMFFIMap;
  static constexpr int32_t kPrimaryTypeIndex = kTVMFFIMap;
  static constexpr int32_t kOtherTypeIndex = kTVMFFIDict;
  static constexpr const char *kTypeName = "Map";
  static constexpr const char *kStaticTypeKey = StaticTypeKey::kTVMFFIMap;
};

template <typename K, typename V, typename KU, typename VU>
inline constexpr bool type_subsumes_v<Map<K, V>, Map<KU, VU>> = type_subsumes_v<K, KU> && type_subsumes_v<V, VU>;

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_MAP_H_ */
