/* dict.h - Dict<K, V>: values by key, in the order of insertion. Mutable: all references to a Dict see a change. */
#ifndef TVM_FFI_CONTAINER_DICT_H_
#define TVM_FFI_CONTAINER_DICT_H_

#include <tvm/ffi/container/map_base.h>

namespace tvm::ffi {

/** The object of a Dict. */
class DictObj : public MapBaseObj {
public:
  /** Whether all references see a change. */
  static constexpr bool kIsShared = true;
  /** A new object with the same pairs. */
  static ObjectPtr<Object> ShallowCopy(const DictObj *from) { return CopyOf<DictObj>(from); }

  static constexpr int32_t _type_index = kTVMFFIDict;
  static constexpr bool _type_final = true;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIDict, DictObj, Object);
};
static_assert(sizeof(DictObj) == 56, "the ABI's map");

/** A reference to a mutable map. All references see a change; changes need a lock if several threads use the Dict. */
template <typename K, typename V, typename = std::enable_if_t<detail::CheckElements<K, V>()>>
class Dict : public MapRef<Dict<K, V>, DictObj, K, V> {
  using Base = MapRef<Dict<K, V>, DictObj, K, V>;
  using Base::data_;
  using Base::Obj;

public:
  /** The class of the objects. */
  using ContainerType = DictObj;

  /** Leaves the reference null; the caller fills it in. */
  explicit Dict(UnsafeInit tag) : Base(tag) {}
  /** From an object that is a Dict of these types; the types are not checked. */
  explicit Dict(ObjectPtr<Object> data) : Base(std::move(data)) {}
  /** An empty Dict. */
  Dict() : Base(Base::New()) {}
  /** Copies the pairs of a range; the last pair of equal keys wins. */
  template <typename IterType> Dict(IterType first, IterType last) : Base(Base::FromRange(first, last)) {}
  /** Copies the pairs of a list; the last pair of equal keys wins. */
  Dict(std::initializer_list<std::pair<K, V>> pairs) : Dict(pairs.begin(), pairs.end()) {}
  /** Copies the pairs of an unordered_map. */
  template <typename Hash, typename Equal>
  Dict(const std::unordered_map<K, V, Hash, Equal> &pairs) : Dict(pairs.begin(), pairs.end()) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(Dict)
  /** From a Dict whose keys are all K and whose values are all V. Both refer to the same object. */
  template <typename KU, typename VU,
            typename = std::enable_if_t<(!std::is_same_v<K, KU> || !std::is_same_v<V, VU>) && type_subsumes_v<K, KU> &&
                                        type_subsumes_v<V, VU>>>
  Dict(const Dict<KU, VU> &other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(other)) {}
  template <typename KU, typename VU,
            typename = std::enable_if_t<(!std::is_same_v<K, KU> || !std::is_same_v<V, VU>) && type_subsumes_v<K, KU> &&
                                        type_subsumes_v<V, VU>>>
  Dict(Dict<KU, VU> &&other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(other))) {}

  /** The object, borrowed. */
  DictObj *get() const { return Obj(); }
  DictObj *operator->() const { return Obj(); }
  /** Removes all pairs. */
  void clear() {
    if (data_ != nullptr) Obj()->clear();
  }

private:
  DictObj *Mutable() {
    if (data_ == nullptr) data_ = Base::New();
    return Obj();
  }

  friend Base;
};

template <typename K, typename V> inline constexpr bool use_default_type_traits_v<Dict<K, V>> = false;

template <typename K, typename V>
struct TypeTraits<Dict<K, V>> : MapTypeTraitsBase<TypeTraits<Dict<K, V>>, Dict<K, V>, K, V> {
  static constexpr int32_t field_static_type_index = kTVMFFIDict;
  static constexpr int32_t kPrimaryTypeIndex = kTVMFFIDict;
  static constexpr int32_t kOtherTypeIndex = kTVMFFIMap;
  static constexpr const char *kTypeName = "Dict";
  static constexpr const char *kStaticTypeKey = StaticTypeKey::kTVMFFIDict;
};

template <typename K, typename V, typename KU, typename VU>
inline constexpr bool type_subsumes_v<Dict<K, V>, Dict<KU, VU>> = type_subsumes_v<K, KU> && type_subsumes_v<V, VU>;

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_DICT_H_ */
