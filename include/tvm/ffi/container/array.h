/* array.h - Array<T>: values in order. Copy on write.
 *
 * A method that changes an Array copies the items first if another reference shares them, so no other reference sees
 * the change. Any sequence whose items convert to T converts to an Array<T>. */
#ifndef TVM_FFI_CONTAINER_ARRAY_H_
#define TVM_FFI_CONTAINER_ARRAY_H_

#include <tvm/ffi/container/seq_base.h>

namespace tvm::ffi {

/** The object of an Array: a sequence whose items lie behind it in memory. */
class ArrayObj : public SeqBaseObj {
public:
  /** Whether all references see a change. */
  static constexpr bool kIsShared = false;
  /** An empty array with room for n items. */
  static ObjectPtr<ArrayObj> Empty(int64_t n = kInitSize) {
    ObjectPtr<ArrayObj> array = make_inplace_array_object<ArrayObj, Any>(static_cast<size_t>(n));
    array->data = static_cast<void *>(array.get() + 1);
    array->TVMFFISeqCell::capacity = n;
    return array;
  }
  /** An array with the items of another array, copied (CopyFrom) or moved out of it (MoveFrom), and room for `capacity`
   * items. */
  static ObjectPtr<ArrayObj> CopyFrom(int64_t capacity, ArrayObj *from) {
    ObjectPtr<ArrayObj> array = WithRoom(capacity, from);
    std::uninitialized_copy(from->begin(), from->end(), array->MakeGap(0, from->TVMFFISeqCell::size));
    return array;
  }
  /** An array with the items of another array, moved out of it, and room for `capacity` items. */
  static ObjectPtr<ArrayObj> MoveFrom(int64_t capacity, ArrayObj *from) {
    ObjectPtr<ArrayObj> array = WithRoom(capacity, from);
    int64_t n = std::exchange(from->TVMFFISeqCell::size, 0);
    std::memcpy(static_cast<void *>(array->MakeGap(0, n)), from->data, static_cast<size_t>(n) * sizeof(Any));
    return array;
  }
  /** An array of n copies of a value. ValueError for a negative n. */
  static ObjectPtr<ArrayObj> CreateRepeated(int64_t n, const Any &value) {
    if (n < 0) TVM_FFI_THROW(ValueError) << "cannot construct an Array of negative size";
    ObjectPtr<ArrayObj> array = Empty(n);
    std::uninitialized_fill_n(array->MakeGap(0, n), n, value);
    return array;
  }

  static constexpr int32_t _type_index = kTVMFFIArray;
  static constexpr bool _type_final = true;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIArray, ArrayObj, Object);

private:
  static ObjectPtr<ArrayObj> WithRoom(int64_t capacity, ArrayObj *from) {
    if (capacity < from->TVMFFISeqCell::size) TVM_FFI_THROW(ValueError) << "Not enough capacity";
    return Empty(capacity);
  }

  template <typename, typename> friend class Array;
  template <typename, typename, typename> friend class detail::SeqRef;
  template <typename...> friend class Tuple;
};

/** A reference to a sequence of T. A method that changes it copies shared items first; IndexError after it was
 * moved away. */
template <typename T, typename = std::enable_if_t<detail::CheckElement<T>()>>
class Array : public detail::SeqRef<Array<T>, ArrayObj, T> {
  using Base = detail::SeqRef<Array<T>, ArrayObj, T>;
  using Base::data_;
  using Base::Seq;

public:
  /** The class of the objects. */
  using ContainerType = ArrayObj;

  /** Leaves the reference null; the caller fills it in. */
  explicit Array(UnsafeInit tag) : Base(tag) {}
  /** From an object that is an array of T; the type is not checked. */
  explicit Array(ObjectPtr<Object> data) : Base(std::move(data)) {}
  /** An empty array. */
  Array() : Base(ArrayObj::Empty()) {}
  /** Copies the items of a range. */
  template <typename IterType, typename = detail::EnableIfIterator<IterType>>
  Array(IterType first, IterType last) : Base(UnsafeInit{}) {
    this->Assign(first, last);
  }
  /** Copies the items of a list. */
  Array(std::initializer_list<T> items) : Array(items.begin(), items.end()) {}
  /** Copies the items of a vector. */
  Array(const std::vector<T> &items) : Array(items.begin(), items.end()) {}
  /** n copies of one value. */
  explicit Array(size_t n, const T &value) : Base(ArrayObj::CreateRepeated(static_cast<int64_t>(n), Any(value))) {}
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(Array)
  /** From an array whose items are all T. Both share the items. */
  template <typename U, typename = std::enable_if_t<!std::is_same_v<T, U> && type_subsumes_v<T, U>>>
  Array(const Array<U> &other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(other)) {}
  /** From a temporary array whose items are all T. */
  template <typename U, typename = std::enable_if_t<!std::is_same_v<T, U> && type_subsumes_v<T, U>>>
  Array(Array<U> &&other) : Base(detail::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(other))) {}

  /** The object, borrowed. */
  ArrayObj *GetArrayObj() const { return Seq(); }
  /** The object, borrowed; null if the array was moved away. */
  const ArrayObj *get() const { return Seq(); }
  const ArrayObj *operator->() const { return Seq(); }

  /** The array of f(item) for each item. If f returns every item unchanged, the same array. */
  template <typename F, typename U = std::invoke_result_t<F, T>> Array<U> Map(F f) const {
    return Array<U>(Apply<U>(data_, f));
  }
  /** Replaces each item by f(item), in place if the items are not shared. */
  template <typename F, typename = std::enable_if_t<std::is_same_v<T, std::invoke_result_t<F, T>>>>
  void MutateByApply(F f) {
    data_ = Apply<T>(std::move(data_), f);
  }
  /** The object, after copying it if it was shared. */
  ArrayObj *CopyOnWrite() { return Mutable(0); }

  /** An array of all arguments, each of which is an item or an array of items. */
  template <typename... Args> static Array Agregate(Args... args) {
    Array result(UnsafeInit{});
    result.reserve(static_cast<int64_t>((size_t{0} + ... + CountOf(args))));
    (result.Add(std::move(args)), ...);
    return result;
  }

private:
  static size_t CountOf(const Array &items) { return items.size(); }
  static size_t CountOf(const T &) { return 1; }
  void Add(const Array &items) { this->insert(this->end(), items.begin(), items.end()); }
  void Add(const T &item) { this->push_back(item); }

  TVM_FFI_INLINE ArrayObj *Mutable(int64_t n_extra) {
    if (TVM_FFI_PREDICT_TRUE(data_.unique() && Seq()->HasRoom(n_extra))) return Seq();
    return MakeMutable(n_extra);
  }
  TVM_FFI_NO_INLINE ArrayObj *MakeMutable(int64_t n_extra) {
    if (data_ == nullptr) {
      data_ = ArrayObj::Empty(std::max(n_extra, ArrayObj::kInitSize));
      return Seq();
    }
    ArrayObj *array = Seq();
    int64_t needed = static_cast<int64_t>(array->size()) + n_extra, capacity = static_cast<int64_t>(array->capacity());
    if (data_.unique()) {
      data_ = ArrayObj::MoveFrom(std::max(capacity * ArrayObj::kIncFactor, needed), array);
    } else {
      if (needed > capacity) capacity = std::max(capacity * ArrayObj::kIncFactor, needed);
      data_ = ArrayObj::CopyFrom(capacity, array);
    }
    return Seq();
  }
  ArrayObj *MutableEmpty(int64_t n) {
    if (data_ != nullptr && data_.unique() && static_cast<int64_t>(Seq()->capacity()) >= n) {
      Seq()->clear();
    } else {
      data_ = ArrayObj::Empty(n);
    }
    return Seq();
  }

  template <typename U, typename F> static ObjectPtr<Object> Apply(ObjectPtr<Object> data, F &f) {
    if (data == nullptr) return nullptr;
    using Get = detail::AnyConverter<T>;
    ArrayObj *items = static_cast<ArrayObj *>(data.get());
    if constexpr (std::is_same_v<T, U>) {
      if (data.unique()) {
        for (Any *item = items->MutableBegin(); item != items->MutableEnd(); ++item) {
          *item = f(detail::AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(*item)));
        }
        return data;
      }
    }
    int64_t n = static_cast<int64_t>(items->size()), i = 0;
    ObjectPtr<ArrayObj> result;
    if constexpr (is_valid_iterator_v<T, U *> || is_valid_iterator_v<U, T *>) {
      /* Makes a new array only when an item changes. */
      for (; result == nullptr; ++i) {
        if (i == n) return data;
        Any mapped(f(Get::convert(items->begin()[i])));
        if (mapped.same_as(items->begin()[i])) continue;
        result = ArrayObj::Empty(n);
        std::uninitialized_copy_n(items->begin(), i, result->MakeGap(0, i));
        result->Append(std::move(mapped));
      }
    } else {
      result = ArrayObj::Empty(n);
    }
    for (; i < n; ++i) {
      Any mapped(f(Get::convert(items->begin()[i])));
      result->Append(std::move(mapped));
    }
    return result;
  }

  template <typename, typename> friend class Array;
  friend Base;
};

/** The items of `left`, then the items of `right`. */
template <typename T, typename = std::enable_if_t<detail::storage_enabled_v<T>>>
inline Array<T> Concat(Array<T> left, const Array<T> &right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

template <typename T> inline constexpr bool use_default_type_traits_v<Array<T>> = false;

template <typename T> struct TypeTraits<Array<T>> : SeqTypeTraitsBase<TypeTraits<Array<T>>, Array<T>, T> {
  static constexpr int32_t field_static_type_index = kTVMFFIArray;
  static constexpr int32_t kPrimaryTypeIndex = kTVMFFIArray;
  static constexpr int32_t kOtherTypeIndex = kTVMFFIList;
  static constexpr const char *kTypeName = "Array";
  static constexpr const char *kStaticTypeKey = StaticTypeKey::kTVMFFIArray;
};

template <typename T, typename U> inline constexpr bool type_subsumes_v<Array<T>, Array<U>> = type_subsumes_v<T, U>;

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_ARRAY_H_ */
