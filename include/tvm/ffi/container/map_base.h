/* map_base.h - the objects of Map and Dict, and the methods that both classes have.
 *
 * Up to four pairs are kept in an array that is searched linearly, more in a hash table (map_table.h). Both keep the
 * order of insertion. An array that is too small is changed to a table in the same object. */
#ifndef TVM_FFI_CONTAINER_MAP_BASE_H_
#define TVM_FFI_CONTAINER_MAP_BASE_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/container_detail.h>
#include <tvm/ffi/container/map_table.h>
#include <tvm/ffi/function_detail.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/optional.h>

#include <optional>
#include <unordered_map>

namespace tvm::ffi {

/** Pairs of values. KeyError for a missing key. An exception of a hash or equality hook is passed on, and the map is
 * unchanged then. Not synchronised: a thread that changes the map while other threads use it needs a lock. */
class MapBaseObj : public Object {
public:
  using key_type = Any;
  using mapped_type = Any;
  /** A key and its value. */
  using KVType = detail::MapPair;

  /** Iterates in the order of insertion. Valid until the map is changed. Keys must not be changed through it. */
  class iterator {
  public:
    using iterator_category = std::bidirectional_iterator_tag;
    using difference_type = int64_t;
    using value_type = KVType;
    using pointer = KVType *;
    using reference = KVType &;

    iterator() = default;
    bool operator==(const iterator &other) const { return position_ == other.position_ && map_ == other.map_; }
    bool operator!=(const iterator &other) const { return !(*this == other); }
    pointer operator->() const { return map_->PairAt(position_); }
    reference operator*() const { return *map_->PairAt(position_); }
    iterator &operator++() {
      position_ = map_->IsSmallMap() ? position_ + 1 : map_->Table().Next(position_);
      return *this;
    }
    iterator &operator--() {
      position_ = map_->IsSmallMap() ? position_ - 1 : map_->Table().Previous(position_);
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    iterator operator--(int) {
      iterator before = *this;
      --*this;
      return before;
    }

  private:
    iterator(const MapBaseObj *map, uint64_t position) : map_(map), position_(position) {}

    const MapBaseObj *map_ = nullptr;
    uint64_t position_ = 0; /**< index in a small map, slot in a table */

    friend class MapBaseObj;
  };

  MapBaseObj(const MapBaseObj &) = delete;
  MapBaseObj &operator=(const MapBaseObj &) = delete;
  ~MapBaseObj() {
    if (IsSmallMap()) {
      clear();
    } else {
      Table().End();
    }
    if (fields_.data_deleter != nullptr) fields_.data_deleter(fields_.data);
  }

  /** The number of pairs. */
  size_t size() const { return static_cast<size_t>(fields_.size); }
  iterator begin() const { return iterator(this, IsSmallMap() ? 0 : Table().head()); }
  iterator end() const { return iterator(this, IsSmallMap() ? fields_.size : detail::MapTable::kNoSlot); }
  /** The pair with that key, or end(). */
  iterator find(const key_type &key) const {
    if (!IsSmallMap()) return iterator(this, Table().Find(key));
    uint64_t i = 0;
    while (i < fields_.size && !AnyEqual()(SmallPairs()[i].first, key)) ++i;
    return iterator(this, i);
  }
  /** 1 if the key exists, else 0. */
  size_t count(const key_type &key) const { return find(key) != end(); }
  /** The value of a key; KeyError if the key does not exist. */
  const mapped_type &at(const key_type &key) const { return Require(key)->second; }
  /** The value of a key, for a change in place; KeyError if the key does not exist. */
  mapped_type &at(const key_type &key) { return Require(key)->second; }

  /** Removes the pair at a position; does nothing for end(). */
  void erase(const iterator &position) {
    if (position == end()) return;
    if (!IsSmallMap()) return Table().Erase(position.position_);
    KVType *pair = &SmallPairs()[position.position_];
    KVType dropped = std::move(*pair);
    fields_.size -= 1;
    std::memmove(static_cast<void *>(pair), static_cast<const void *>(pair + 1),
                 static_cast<size_t>(fields_.size - position.position_) * sizeof(KVType));
  }
  /** Removes a key if it exists. */
  void erase(const key_type &key) { erase(find(key)); }
  /** Removes all pairs. */
  void clear() {
    if (!IsSmallMap()) return Table().Clear();
    while (fields_.size > 0) SmallPairs()[--fields_.size].~KVType();
  }

protected:
  static constexpr uint64_t kSmallTag = uint64_t{1} << 63;
  static constexpr uint64_t kSmallInit = 2, kSmallMax = 4;

  MapBaseObj() : fields_{} {}

  /** A new empty map with room for n_pairs. */
  template <typename TMap> static ObjectPtr<TMap> New(uint64_t n_pairs = kSmallInit) {
    uint64_t n_small = n_pairs < kSmallInit ? kSmallInit : n_pairs < kSmallMax ? n_pairs : kSmallInit;
    ObjectPtr<TMap> map = make_inplace_array_object<TMap, KVType>(static_cast<size_t>(n_small));
    map->fields_ = detail::MapFields{map->Behind(), 0, n_small | kSmallTag, nullptr};
    if (n_pairs >= kSmallMax) map->Table().Create(n_pairs);
    return map;
  }
  template <typename TMap> static ObjectPtr<TMap> CopyOf(const MapBaseObj *from) {
    if (from->IsSmallMap()) {
      ObjectPtr<TMap> map = New<TMap>(from->fields_.size < kSmallMax ? from->fields_.size : kSmallMax - 1);
      for (const KVType &pair : *from) map->Set(pair);
      return map;
    }
    ObjectPtr<TMap> map = New<TMap>();
    map->Table().CreateCopy(from->Table());
    return map;
  }

  void Set(KVType pair) {
    if (!IsSmallMap()) return Table().Set(std::move(pair));
    /* Also for an existing key: every library does that, and the order of pairs would show a difference. */
    if (fields_.size >= kSmallMax) {
      ToTable();
      return Table().Set(std::move(pair));
    }
    iterator found = find(pair.first);
    if (found != end()) {
      found->second.swap(pair.second);
      return;
    }
    if (fields_.size == (fields_.slots & ~kSmallTag)) GrowSmall();
    new (&SmallPairs()[fields_.size++]) KVType(std::move(pair));
  }

private:
  bool IsSmallMap() const { return (fields_.slots & kSmallTag) != 0; }
  void *Behind() const { return const_cast<MapBaseObj *>(this) + 1; }
  KVType *SmallPairs() const { return static_cast<KVType *>(fields_.data); }
  detail::MapTable Table() const {
    return detail::MapTable(const_cast<detail::MapFields *>(&fields_), static_cast<detail::MapDenseFields *>(Behind()));
  }
  KVType *PairAt(uint64_t position) const { return IsSmallMap() ? &SmallPairs()[position] : Table().PairAt(position); }
  KVType *Require(const key_type &key) const {
    iterator found = find(key);
    if (TVM_FFI_PREDICT_FALSE(found == end())) {
      TVM_FFI_THROW(KeyError) << "key is not in Map";
    }
    return &*found;
  }
  TVM_FFI_NO_INLINE void GrowSmall() {
    KVType *pairs = static_cast<KVType *>(std::malloc(kSmallMax * sizeof(KVType)));
    if (pairs == nullptr) detail::ThrowBadAlloc();
    std::memcpy(static_cast<void *>(pairs), fields_.data, static_cast<size_t>(fields_.size) * sizeof(KVType));
    if (fields_.data_deleter != nullptr) fields_.data_deleter(fields_.data);
    fields_.data = pairs;
    fields_.data_deleter = [](void *old) { std::free(old); };
    fields_.slots = kSmallMax | kSmallTag;
  }
  /** Changes an array into a table, in place. The fields of the table overlap the first pairs, so the table is first
   * made elsewhere. */
  TVM_FFI_NO_INLINE void ToTable() {
    detail::MapFields fields{};
    detail::MapDenseFields dense;
    detail::MapTable table(&fields, &dense);
    table.Create(fields_.size);
    struct Guard {
      detail::MapTable *table;
      detail::MapFields *fields;
      ~Guard() {
        if (fields->data == nullptr) return;
        table->End();
        fields->data_deleter(fields->data);
      }
    } guard{&table, &fields};
    for (const KVType &pair : *this) table.Set(pair);
    clear();
    if (fields_.data_deleter != nullptr) fields_.data_deleter(fields_.data);
    fields_ = fields;
    new (Behind()) detail::MapDenseFields(dense);
    fields.data = nullptr;
  }

  detail::MapFields fields_;

  template <typename Self, typename TMap, typename K, typename V> friend class MapRef;
};

namespace detail {

/** A key for a lookup, as a value. The value borrows the key if a view of the key has the same bits as an Any of it. */
template <typename K> class BorrowedKey {
public:
  TVM_FFI_INLINE explicit BorrowedKey(const K &key) : value_(Borrow(key)) {}
  BorrowedKey(const BorrowedKey &) = delete;
  BorrowedKey &operator=(const BorrowedKey &) = delete;
  TVM_FFI_INLINE ~BorrowedKey() {
    if constexpr (!needs_owner_v<K>) AnyUnsafe::MoveAnyToTVMFFIAny(std::move(value_));
  }
  TVM_FFI_INLINE operator const Any &() const { return value_; }

private:
  TVM_FFI_INLINE static Any Borrow(const K &key) {
    if constexpr (needs_owner_v<K>) {
      return key;
    } else {
      return AnyUnsafe::MoveTVMFFIAnyRawToAny(AnyView(key).CopyToTVMFFIAny());
    }
  }

  Any value_;
};
template <> class BorrowedKey<Any> {
public:
  explicit BorrowedKey(const Any &key) : value_(key) {}
  operator const Any &() const { return value_; }

private:
  const Any &value_;
};

} // namespace detail

/** The part that Map and Dict share. Self provides TMap *Mutable(), the object to change. */
template <typename Self, typename TMap, typename K, typename V> class MapRef : public ObjectRef {
  using Key = detail::BorrowedKey<K>;

public:
  using key_type = K;
  using mapped_type = V;

  /** Returns pairs by value, so it has no operator->. */
  class iterator {
  public:
    using iterator_category = std::bidirectional_iterator_tag;
    using difference_type = int64_t;
    using value_type = const std::pair<K, V>;
    using pointer = value_type *;
    using reference = value_type;

    iterator() = default;
    reference operator*() const {
      const MapBaseObj::KVType &pair = *at_;
      return {detail::ConverterFor<TMap, K>::convert(pair.first), detail::ConverterFor<TMap, V>::convert(pair.second)};
    }
    bool operator==(const iterator &other) const { return at_ == other.at_; }
    bool operator!=(const iterator &other) const { return at_ != other.at_; }
    iterator &operator++() {
      ++at_;
      return *this;
    }
    iterator &operator--() {
      --at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    iterator operator--(int) { return iterator(at_--); }

  private:
    explicit iterator(MapBaseObj::iterator at) : at_(at) {}
    MapBaseObj::iterator at_;
    friend class MapRef;
  };

  /** Leaves the reference null; the caller fills it in. */
  explicit MapRef(UnsafeInit tag) : ObjectRef(tag) {}
  /** From an object that is a map of these types; the types are not checked. */
  explicit MapRef(ObjectPtr<Object> data) : ObjectRef(std::move(data)) {}

  /** The number of pairs; 0 after the map was moved away. */
  size_t size() const { return data_ == nullptr ? 0 : Obj()->size(); }
  /** Whether there are no pairs. */
  bool empty() const { return size() == 0; }
  /** 1 if the key exists, else 0. */
  size_t count(const K &key) const { return data_ == nullptr ? 0 : Obj()->count(Key(key)); }
  iterator begin() const { return data_ == nullptr ? iterator() : iterator(Obj()->begin()); }
  iterator end() const { return data_ == nullptr ? iterator() : iterator(Obj()->end()); }
  /** The pair with that key, or end(). */
  iterator find(const K &key) const { return data_ == nullptr ? iterator() : iterator(Obj()->find(Key(key))); }
  /** KeyError if the key does not exist. */
  const V at(const K &key) const {
    if (TVM_FFI_PREDICT_FALSE(data_ == nullptr)) TVM_FFI_THROW(KeyError) << "the map was moved away";
    return detail::ConverterFor<TMap, V>::convert(Obj()->at(Key(key)));
  }
  /** The value of a key; KeyError if the key does not exist. */
  const V operator[](const K &key) const { return at(key); }
  /** The value of a key; nullopt if the key does not exist. */
  std::optional<V> Get(const K &key) const {
    if (data_ == nullptr) return std::nullopt;
    MapBaseObj::iterator found = Obj()->find(Key(key));
    if (found == Obj()->end()) return std::nullopt;
    return detail::ConverterFor<TMap, V>::convert(found->second);
  }

  /** Adds a pair, or replaces the value of an existing key. */
  void Set(const K &key, const V &value) {
    MapBaseObj::KVType pair(key, value);
    Put(self().Mutable(), std::move(pair));
  }
  /** Removes a key if it exists. */
  void erase(const K &key) {
    Key any_key(key);
    if (data_ != nullptr && Obj()->count(any_key) != 0) self().Mutable()->erase(any_key);
  }

  static constexpr bool _type_container_is_exact = false; /**< it also depends on the pairs */
  static constexpr bool _type_is_nullable = false;

protected:
  TMap *Obj() const { return static_cast<TMap *>(data_.get()); }
  static ObjectPtr<Object> New() { return MapBaseObj::New<TMap>(); }
  static ObjectPtr<Object> CopyOf(const MapBaseObj *from) { return MapBaseObj::CopyOf<TMap>(from); }
  template <typename IterType> static ObjectPtr<Object> FromRange(IterType first, IterType last) {
    ObjectPtr<TMap> map = MapBaseObj::New<TMap>(static_cast<uint64_t>(std::distance(first, last)));
    for (; first != last; ++first) Put(map.get(), MapBaseObj::KVType(K(first->first), V(first->second)));
    return map;
  }

private:
  static void Put(MapBaseObj *map, MapBaseObj::KVType pair) { map->Set(std::move(pair)); }
  Self &self() { return static_cast<Self &>(*this); }
};

namespace detail {

/** " at key 3" for an argument; nothing for a key that is neither a number nor a string. */
TVM_FFI_COLD_CODE inline std::string AtKey(const Any &key) {
  if (!Widening::IsOn()) return "";
  if (std::optional<int64_t> number = key.as<int64_t>()) return " at key " + std::to_string(*number);
  if (std::optional<String> text = key.as<String>()) return " at key '" + std::string(text->data(), text->size()) + "'";
  return "";
}

/** Describes the first key that does not convert to K, or the first value that does not convert to V: "Map[some key is
 * int, V]". */
template <typename K, typename V> std::string PairMismatch(const MapBaseObj &pairs, const std::string &name) {
  size_t i = 0;
  for (const auto &pair : pairs) {
    if constexpr (!std::is_same_v<K, Any>) {
      if (!pair.first.template try_cast<K>().has_value()) {
        return name + "[some key is " + ItemMark(i) + AnyUnsafe::GetMismatchTypeInfo<K>(pair.first) + ", V]" +
               AtKey(pair.first);
      }
    }
    if constexpr (!std::is_same_v<V, Any>) {
      if (!pair.second.template try_cast<V>().has_value()) {
        return name + "[K, some value is " + ItemMark(i + 1) + AnyUnsafe::GetMismatchTypeInfo<V>(pair.second) + "]" +
               AtKey(pair.first);
      }
    }
    i += 2;
  }
  return name;
}

} // namespace detail

/** Traits of Map and Dict. A map of the same class whose keys are all K and whose values are all V is used without a
 * copy. A map of the other class, or with other pairs, is converted into a new one. Derived provides kPrimaryTypeIndex,
 * kOtherTypeIndex, kTypeName, kStaticTypeKey. */
template <typename Derived, typename Ref, typename K, typename V>
struct MapTypeTraitsBase : ObjectRefTypeTraitsBase<Ref> {
  using Base = ObjectRefTypeTraitsBase<Ref>;
  using Base::CopyFromAnyViewAfterCheck;

  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == Derived::kPrimaryTypeIndex && PairsAre(Pairs(src));
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    if (!IsMap(src)) {
      Any pairs = detail::WidePairs(src);
      return pairs == nullptr ? TypeTraitsBase::GetMismatchTypeInfo(src)
                              : GetMismatchTypeInfo(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(pairs));
    }
    return detail::PairMismatch<K, V>(*Pairs(src), Derived::kTypeName);
  }
  static std::optional<Ref> TryCastFromAnyView(const TVMFFIAny *src) {
    if (!IsMap(src)) return TryCastWide(detail::WidePairs(src));
    const MapBaseObj *pairs = Pairs(src);
    if (src->type_index == Derived::kPrimaryTypeIndex && PairsAre(pairs)) return CopyFromAnyViewAfterCheck(src);
    Ref result;
    for (const auto &pair : *pairs) {
      std::optional<K> key = pair.first.template try_cast<K>();
      std::optional<V> value = pair.second.template try_cast<V>();
      if (!key.has_value() || !value.has_value()) return std::nullopt;
      result.Set(*std::move(key), *std::move(value));
    }
    return result;
  }
  static std::string TypeStr() { return detail::ContainerTypeStr<K, V>(Derived::kTypeName); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<K, V>(Derived::kStaticTypeKey); }

private:
  static std::optional<Ref> TryCastWide(const Any &pairs) {
    if (pairs == nullptr) return std::nullopt;
    return TryCastFromAnyView(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(pairs));
  }
  static bool IsMap(const TVMFFIAny *src) {
    return src->type_index == Derived::kPrimaryTypeIndex || src->type_index == Derived::kOtherTypeIndex;
  }
  static const MapBaseObj *Pairs(const TVMFFIAny *src) {
    return detail::ObjectUnsafe::RawObjectPtrFromUnowned<MapBaseObj>(src->v_obj);
  }
  TVM_FFI_INLINE static bool PairsAre(const MapBaseObj *pairs) {
    if constexpr (!std::is_same_v<K, Any> || !std::is_same_v<V, Any>) {
      for (const auto &pair : *pairs) {
        if (!detail::AnyUnsafe::CheckAnyStrict<K>(pair.first) || !detail::AnyUnsafe::CheckAnyStrict<V>(pair.second)) {
          return false;
        }
      }
    }
    return true;
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_MAP_BASE_H_ */
