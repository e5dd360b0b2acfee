/* list.h - List<T>: values in order. Mutable: all references to a List see a change. */
#ifndef TVM_FFI_CONTAINER_LIST_H_
#define TVM_FFI_CONTAINER_LIST_H_

#include <tvm/ffi/container/seq_base.h>

namespace tvm::ffi {

/** The object of a List: a sequence whose items lie in a block of their own, which grows. */
class ListObj : public SeqBaseObj {
public:
  /** Whether all references see a change. */
  static constexpr bool kIsShared = true;
  /** An empty list with room for n items. */
  static ObjectPtr<ListObj> Empty(int64_t n = kInitSize) {
    ObjectPtr<ListObj> list = make_object<ListObj>();
    list->Reserve(n);
    return list;
  }
  /** A list of n copies of a value. ValueError for a negative n. */
  static ObjectPtr<ListObj> CreateRepeated(int64_t n, const Any &value) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "cannot construct a List of negative size";
    ObjectPtr<ListObj> list = Empty(n);
    std::uninitialized_fill_n(list->MakeGap(0, n), n, value);
    return list;
  }
  /** Makes room for n items in all. On std::bad_alloc nothing is changed. */
  void Reserve(int64_t n) {
    if (n <= TVMFFISeqCell::capacity) return;
    if (static_cast<uint64_t>(n) > static_cast<size_t>(-1) / sizeof(Any)) detail::ThrowBadAlloc();
    void *room = ::operator new(static_cast<size_t>(n) * sizeof(Any));
    if (TVMFFISeqCell::size > 0) std::memcpy(room, data, static_cast<size_t>(TVMFFISeqCell::size) * sizeof(Any));
    if (data_deleter != nullptr) data_deleter(data);
    data = room;
    data_deleter = [](void *old) { ::operator delete(old); };
    TVMFFISeqCell::capacity = n;
  }

  static constexpr int32_t _type_index = kTVMFFIList;
  static constexpr bool _type_final = true;
  static constexpr bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIList, ListObj, Object);

private:
  template <typename, typename, typename> friend class detail::SeqRef;
  template <typename, typename> friend class List;
};

/** A reference to a mutable sequence of T. All references see a change; changes need a lock if several threads
 * use the List. */
template <typename T, typename = std::enable_if_t<detail::CheckElement<T>()>>
class List : public detail::SeqRef<List<T>, ListObj, T> {
  using Base = detail::SeqRef<List<T>, ListObj, T>;
  using Base::data_;
  using Base::Seq;

public:
  /** The class of the objects. */
  using ContainerType = ListObj;

  /** Leaves the reference null; the caller fills it in. */
  explicit List(UnsafeInit tag) : Base(tag) {}
  /** From an object that is a list of T; the type is not checked. */
  explicit List(ObjectPtr<Object> data) : Base(std::move(data)) {}
  /** An empty list. */
  List() : Base(ListObj::Empty()) {}
  /** Copies the items of a range. */
  template <typename IterType, typename = detail::EnableIfIterator<IterType>>
  List(IterType first, IterType last) : Base(UnsafeInit{}) {
    this->Assign(first, last);
  }
  /** Copies the items of a list. */
  List(std::initializer_list<T> items) : List(items.begin(), items.end()) {}
  /** Copies the items of a vector. */
  List(const std::vector<T> &items) : List(items.begin(), items.end()) {}
  /** n copies of one value. */
  explicit List(size_t n, const T &value) : Base(ListObj::CreateRepeated(static_cast<int64_t>(n), Any(value))) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(List)
  /** From a list whose items are all T. Both refer to the same object, so an item that is added through `other` later
   * appears here, even if it is not a T. */
  template <typename U, typename = std::enable_if_t<!std::is_same_v<T, U> && type_subsumes_v<T, U>>>
  List(const List<U> &other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(other)) {}
  template <typename U, typename = std::enable_if_t<!std::is_same_v<T, U> && type_subsumes_v<T, U>>>
  List(List<U> &&other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(other))) {}

  /** The object, borrowed. */
  ListObj *GetListObj() const { return Seq(); }
  /** The object, borrowed; null if the list was moved away. */
  ListObj *get() const { return Seq(); }
  ListObj *operator->() const { return Seq(); }

private:
  TVM_FFI_INLINE ListObj *Mutable(int64_t n_extra) {
    if (TVM_FFI_PREDICT_FALSE(data_ == nullptr || !Seq()->HasRoom(n_extra))) MakeRoom(n_extra);
    return Seq();
  }
  TVM_FFI_NO_INLINE void MakeRoom(int64_t n_extra) {
    if (data_ == nullptr) data_ = ListObj::Empty();
    int64_t needed = static_cast<int64_t>(Seq()->size()) + n_extra, capacity = static_cast<int64_t>(Seq()->capacity());
    Seq()->Reserve(std::max(capacity * ListObj::kIncFactor, needed));
  }
  ListObj *MutableEmpty(int64_t n) {
    if (data_ == nullptr) data_ = ListObj::Empty(n);
    Seq()->clear();
    Seq()->Reserve(n);
    return Seq();
  }

  friend Base;
};

template <typename T> inline constexpr bool use_default_type_traits_v<List<T>> = false;

template <typename T> struct TypeTraits<List<T>> : SeqTypeTraitsBase<TypeTraits<List<T>>, List<T>, T> {
  static constexpr int32_t field_static_type_index = kTVMFFIList;
  static constexpr int32_t kPrimaryTypeIndex = kTVMFFIList;
  static constexpr int32_t kOtherTypeIndex = kTVMFFIArray;
  static constexpr const char *kTypeName = "List";
  static constexpr const char *kStaticTypeKey = StaticTypeKey::kTVMFFIList;
};

template <typename T, typename U> inline constexpr bool type_subsumes_v<List<T>, List<U>> = type_subsumes_v<T, U>;

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_LIST_H_ */
