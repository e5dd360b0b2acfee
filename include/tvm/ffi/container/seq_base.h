/* seq_base.h - the objects of Array and List, and the methods that both classes have.
 *
 * A value stays valid if its bytes are moved in memory, so memmove makes room and closes gaps. */
#ifndef TVM_FFI_CONTAINER_SEQ_BASE_H_
#define TVM_FFI_CONTAINER_SEQ_BASE_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/container_detail.h>
#include <tvm/ffi/function_detail.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/optional.h>

#include <algorithm>
#include <vector>

namespace tvm::ffi {

/** A sequence of fixed capacity: a method that would need more room fails with an InternalError. IndexError for an
 * index out of bounds. Not synchronised: a thread that changes the sequence while other threads use it needs a lock. */
class SeqBaseObj : public Object, protected TVMFFISeqCell {
public:
  /** The room of a new sequence, in items. */
  static constexpr int64_t kInitSize = 4;
  /** The factor by which a full sequence grows. */
  static constexpr int64_t kIncFactor = 2;

  /** A sequence without memory for items. */
  SeqBaseObj() : TVMFFISeqCell{} {}
  SeqBaseObj(const SeqBaseObj &) = delete;
  SeqBaseObj &operator=(const SeqBaseObj &) = delete;
  ~SeqBaseObj() {
    clear();
    if (data_deleter != nullptr) data_deleter(data);
  }

  /** The number of items. */
  size_t size() const { return static_cast<size_t>(TVMFFISeqCell::size); }
  /** The number of items that there is room for. */
  size_t capacity() const { return static_cast<size_t>(TVMFFISeqCell::capacity); }
  /** Whether there are no items. */
  bool empty() const { return TVMFFISeqCell::size == 0; }
  const Any *begin() const { return static_cast<const Any *>(data); }
  const Any *end() const { return begin() + TVMFFISeqCell::size; }
  /** The item at an index. */
  const Any &operator[](int64_t i) const {
    CheckIndex(i);
    return begin()[i];
  }
  /** The item at an index. */
  const Any &at(int64_t i) const { return (*this)[i]; }
  /** The first item; IndexError if there is none. */
  const Any &front() const {
    CheckNotEmpty("front");
    return *begin();
  }
  /** The last item; IndexError if there is none. */
  const Any &back() const {
    CheckNotEmpty("back");
    return end()[-1];
  }

  /** Replaces an item. */
  void SetItem(int64_t i, Any item) {
    CheckIndex(i);
    SetItemAfterCheck(i, std::move(item));
  }
  /** Replaces an item; the caller has checked the index. */
  TVM_FFI_INLINE void SetItemAfterCheck(int64_t i, Any item) { MutableBegin()[i].swap(item); }
  /** Removes all items. */
  void clear() { Remove(0, TVMFFISeqCell::size); }
  /** Removes the last item; IndexError if there is none. */
  void pop_back() {
    CheckNotEmpty("pop_back");
    Remove(TVMFFISeqCell::size - 1, TVMFFISeqCell::size);
  }
  /** Removes an item. */
  void erase(int64_t i) {
    CheckIndex(i);
    Remove(i, i + 1);
  }
  /** Removes the items from `first` to before `last`. */
  void erase(int64_t first, int64_t last) {
    CheckRange(first, last);
    Remove(first, last);
  }
  /** Inserts an item before index i. */
  void insert(int64_t i, Any item) {
    CheckRange(i, TVMFFISeqCell::size);
    new (MakeGap(i, 1)) Any(std::move(item));
  }
  /** The range may be part of this sequence. */
  template <typename IterType> void insert(int64_t i, IterType first, IterType last) {
    CheckRange(i, TVMFFISeqCell::size);
    InsertAll(i, std::vector<Any>(first, last));
  }
  /** Removes items at the end, or appends None, until there are n items. ValueError for a negative n. */
  void resize(int64_t n) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "Cannot resize to negative size";
    int64_t n_more = n - TVMFFISeqCell::size;
    if (n_more < 0) {
      Remove(n, TVMFFISeqCell::size);
    } else {
      FillGap(MakeGap(TVMFFISeqCell::size, n_more), n_more);
    }
  }
  /** Reverses the order of the items. */
  void Reverse() { std::reverse(MutableBegin(), MutableEnd()); }

protected:
  Any *MutableBegin() const { return static_cast<Any *>(data); }
  Any *MutableEnd() const { return MutableBegin() + TVMFFISeqCell::size; }

  TVM_FFI_INLINE void CheckIndex(int64_t i) const {
    if (TVM_FFI_PREDICT_FALSE(static_cast<uint64_t>(i) >= static_cast<uint64_t>(TVMFFISeqCell::size))) ThrowIndex(i);
  }
  TVM_FFI_INLINE void CheckNotEmpty(const char *method) const {
    if (TVM_FFI_PREDICT_FALSE(empty())) ThrowEmpty(method);
  }
  void CheckRange(int64_t first, int64_t last) const {
    if (TVM_FFI_PREDICT_FALSE(first < 0 || first > last || last > TVMFFISeqCell::size)) ThrowRange(first, last);
  }

  TVM_FFI_INLINE bool HasRoom(int64_t n) const { return n <= TVMFFISeqCell::capacity - TVMFFISeqCell::size; }
  /** Appends an item; the caller guarantees that there is room. */
  TVM_FFI_INLINE void Append(Any &&item) {
    new (MutableEnd()) Any(std::move(item));
    TVMFFISeqCell::size += 1;
  }
  /** Makes room for n items at i. The caller constructs them at once. */
  TVM_FFI_NO_INLINE Any *MakeGap(int64_t i, int64_t n) {
    TVM_FFI_ICHECK_LE(n, TVMFFISeqCell::capacity - TVMFFISeqCell::size) << "the sequence has no room";
    Any *gap = MutableBegin() + i;
    std::memmove(static_cast<void *>(gap + n), static_cast<const void *>(gap),
                 static_cast<size_t>(TVMFFISeqCell::size - i) * sizeof(Any));
    TVMFFISeqCell::size += n;
    return gap;
  }
  void InsertAll(int64_t i, std::vector<Any> items) {
    Any *gap = MakeGap(i, static_cast<int64_t>(items.size()));
    for (Any &item : items) new (gap++) Any(std::move(item));
  }
  static void FillGap(Any *gap, int64_t n) {
    for (int64_t i = 0; i < n; ++i) new (gap + i) Any();
  }
  TVM_FFI_NO_INLINE void Remove(int64_t first, int64_t last) {
    Any *items = MutableBegin();
    if (first == last) return;
    /* The items are released last, when the sequence is consistent again, because releasing one may run foreign
     * code. */
    int64_t n_behind = TVMFFISeqCell::size - last;
    if (n_behind == 0) {
      while (TVMFFISeqCell::size > first) items[--TVMFFISeqCell::size].~Any();
      return;
    }
    std::vector<Any> removed;
    Any one;
    if (last - first == 1) {
      one = std::move(items[first]);
    } else {
      removed.assign(std::make_move_iterator(items + first), std::make_move_iterator(items + last));
    }
    std::memmove(static_cast<void *>(items + first), static_cast<const void *>(items + last),
                 static_cast<size_t>(n_behind) * sizeof(Any));
    TVMFFISeqCell::size -= last - first;
  }

private:
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void ThrowIndex(int64_t i) const {
    TVM_FFI_THROW(IndexError) << "Index " << i << " out of bounds " << TVMFFISeqCell::size;
    TVM_FFI_UNREACHABLE();
  }
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static void ThrowEmpty(const char *method) {
    TVM_FFI_THROW(IndexError) << method << "() of an empty sequence";
    TVM_FFI_UNREACHABLE();
  }
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void ThrowRange(int64_t first, int64_t last) const {
    TVM_FFI_THROW(IndexError) << "Range [" << first << ", " << last << ") out of bounds [0, " << TVMFFISeqCell::size
                              << "]";
    TVM_FFI_UNREACHABLE();
  }
};

/** Whether the elements of an iterator are of type T, or of a class derived from it. */
template <typename T, typename IterType>
struct is_valid_iterator
    : std::is_base_of<T, std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<IterType>())>>> {};
template <typename T, typename IterType>
struct is_valid_iterator<Optional<T>, IterType> : is_valid_iterator<T, IterType> {};
template <typename IterType> struct is_valid_iterator<Any, IterType> : std::true_type {};
/** Whether the elements of a range of this iterator type convert to T. */
template <typename T, typename IterType>
inline constexpr bool is_valid_iterator_v =
    is_valid_iterator<T, IterType>::value ||
    std::is_same_v<T, std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<IterType>())>>>;

namespace detail {

/** The part that Array and List share. Self provides TObj *Mutable(int64_t n_extra), the object to change, with room
 * for n_extra more items; and TObj *MutableEmpty(int64_t n), an empty object to change, with room for n items. */
template <typename Self, typename TObj, typename T> class SeqRef : public ObjectRef {
public:
  using value_type = T;
  /** Converts an item to a T. */
  using ValueConverter = ConverterFor<TObj, T>;
  using iterator = IterAdapter<ValueConverter, const Any *>;
  using reverse_iterator = ReverseIterAdapter<ValueConverter, const Any *>;

  explicit SeqRef(UnsafeInit tag) : ObjectRef(tag) {}
  explicit SeqRef(ObjectPtr<Object> data) : ObjectRef(std::move(data)) {}

  iterator begin() const { return iterator(First()); }
  iterator end() const { return iterator(First() + size()); }
  reverse_iterator rbegin() const { return reverse_iterator(std::reverse_iterator(First() + size())); }
  reverse_iterator rend() const { return reverse_iterator(std::reverse_iterator(First())); }

  /** The number of items; 0 after the sequence was moved away. */
  size_t size() const { return data_ == nullptr ? 0 : Seq()->size(); }
  /** The number of items that there is room for. */
  size_t capacity() const { return data_ == nullptr ? 0 : Seq()->capacity(); }
  /** Whether there are no items. */
  bool empty() const { return size() == 0; }
  /** IndexError for an index out of bounds. */
  const T operator[](int64_t i) const {
    if (TVM_FFI_PREDICT_FALSE(data_ == nullptr)) ThrowNull();
    return ValueConverter::convert((*Seq())[i]);
  }
  /** The first item; IndexError if there is none. */
  T front() const {
    RequireItems();
    return ValueConverter::convert(Seq()->front());
  }
  /** The last item; IndexError if there is none. */
  T back() const {
    RequireItems();
    return ValueConverter::convert(Seq()->back());
  }

  /** Appends an item. */
  void push_back(const T &item) { emplace_back(item); }
  /** Appends an item that is constructed from args. */
  template <typename... Args> void emplace_back(Args &&...args) {
    Any item(T(std::forward<Args>(args)...));
    self().Mutable(1)->Append(std::move(item));
  }
  /** Inserts an item before a position. */
  void insert(iterator position, const T &item) {
    int64_t i = position - begin();
    Any value(item);
    self().Mutable(1)->insert(i, std::move(value));
  }
  /** The range may be part of this sequence. */
  template <typename IterType> void insert(iterator position, IterType first, IterType last) {
    static_assert(is_valid_iterator_v<T, IterType>, "the range has elements of another type");
    if (first == last) return;
    int64_t i = position - begin();
    std::vector<Any> items;
    for (; first != last; ++first) items.push_back(Any(T(*first)));
    self().Mutable(static_cast<int64_t>(items.size()))->InsertAll(i, std::move(items));
  }
  /** Removes the last item; IndexError if there is none. */
  void pop_back() {
    RequireItems();
    self().Mutable(0)->pop_back();
  }
  /** Removes the item at a position. */
  void erase(iterator position) {
    RequireItems();
    int64_t i = position - begin();
    self().Mutable(0)->erase(i);
  }
  /** Removes the items from `first` to before `last`. */
  void erase(iterator first, iterator last) {
    if (first == last) return;
    RequireItems();
    int64_t from = first - begin(), to = last - begin();
    self().Mutable(0)->erase(from, to);
  }
  /** Removes items at the end, or appends None, until there are n items. ValueError for a negative n. */
  void resize(int64_t n) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "cannot resize to a negative size";
    self().Mutable(std::max<int64_t>(n - static_cast<int64_t>(size()), 0))->resize(n);
  }
  /** Makes room for n items. */
  void reserve(int64_t n) {
    if (n > static_cast<int64_t>(capacity())) self().Mutable(n - static_cast<int64_t>(size()));
  }
  /** Removes all items. */
  void clear() {
    if (!empty()) self().MutableEmpty(0);
  }
  /** Replaces the item at an index; IndexError for an index out of bounds. */
  void Set(int64_t i, T item) {
    RequireItems();
    Any value(std::move(item));
    self().Mutable(0)->SetItem(i, std::move(value));
  }
  /** Replaces all items. */
  template <typename IterType> void Assign(IterType first, IterType last) {
    static_assert(is_valid_iterator_v<T, IterType>, "the range has elements of another type");
    std::vector<Any> items;
    for (; first != last; ++first) items.push_back(Any(T(*first)));
    self().MutableEmpty(static_cast<int64_t>(items.size()))->InsertAll(0, std::move(items));
  }

  static constexpr bool _type_container_is_exact = false; /**< it also depends on the items */
  static constexpr bool _type_is_nullable = false;

protected:
  TObj *Seq() const { return static_cast<TObj *>(data_.get()); }
  const Any *First() const { return data_ == nullptr ? nullptr : Seq()->begin(); }
  void RequireItems() const {
    if (TVM_FFI_PREDICT_FALSE(data_ == nullptr)) ThrowNull();
  }

private:
  Self &self() { return static_cast<Self &>(*this); }
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE static void ThrowNull() {
    TVM_FFI_THROW(IndexError) << "the " << TypeTraits<Self>::kTypeName << " was moved away";
    TVM_FFI_UNREACHABLE();
  }
};

} // namespace detail

/** Traits of Array and List. A sequence of the same class whose items are all T is used without a copy. A sequence of
 * the other class, or with other items, is converted into a new one; while conversions are wide (widen.h), so are the
 * items of any other sequence. Derived provides kPrimaryTypeIndex,
 * kOtherTypeIndex, kTypeName, kStaticTypeKey. */
template <typename Derived, typename Ref, typename T> struct SeqTypeTraitsBase : ObjectRefTypeTraitsBase<Ref> {
  using Base = ObjectRefTypeTraitsBase<Ref>;
  using Base::CopyFromAnyViewAfterCheck;

  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == Derived::kPrimaryTypeIndex && ItemsAre(Items(src));
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    if (!IsSequence(src)) {
      Any items = detail::WideItems(src);
      return items == nullptr ? TypeTraitsBase::GetMismatchTypeInfo(src)
                              : GetMismatchTypeInfo(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(items));
    }
    std::string found = Derived::kTypeName;
    size_t i = 0;
    for (const Any &item : *Items(src)) {
      if (detail::MismatchAt<T>(item, i++, &found, Derived::kTypeName)) break;
    }
    return found;
  }
  static std::optional<Ref> TryCastFromAnyView(const TVMFFIAny *src) {
    if (!IsSequence(src)) return TryCastWide(detail::WideItems(src));
    const SeqBaseObj *items = Items(src);
    if (src->type_index == Derived::kPrimaryTypeIndex && ItemsAre(items)) return CopyFromAnyViewAfterCheck(src);
    Ref result;
    result.reserve(static_cast<int64_t>(items->size()));
    for (const Any &item : *items) {
      std::optional<T> value = item.template try_cast<T>();
      if (!value.has_value()) return std::nullopt;
      result.push_back(*std::move(value));
    }
    return result;
  }
  static std::string TypeStr() { return detail::ContainerTypeStr<T>(Derived::kTypeName); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<T>(Derived::kStaticTypeKey); }

private:
  static std::optional<Ref> TryCastWide(const Any &items) {
    if (items == nullptr) return std::nullopt;
    return TryCastFromAnyView(detail::AnyUnsafe::TVMFFIAnyPtrFromAny(items));
  }
  static bool IsSequence(const TVMFFIAny *src) {
    return src->type_index == Derived::kPrimaryTypeIndex || src->type_index == Derived::kOtherTypeIndex;
  }
  static const SeqBaseObj *Items(const TVMFFIAny *src) {
    return detail::ObjectUnsafe::RawObjectPtrFromUnowned<SeqBaseObj>(src->v_obj);
  }
  TVM_FFI_INLINE static bool ItemsAre(const SeqBaseObj *items) {
    if constexpr (!std::is_same_v<T, Any>) {
      for (const Any &item : *items) {
        if (!detail::AnyUnsafe::CheckAnyStrict<T>(item)) return false;
      }
    }
    return true;
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_SEQ_BASE_H_ */
