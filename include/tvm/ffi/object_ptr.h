/* object_ptr.h - Object, the base class of all objects, and the pointers that share objects: ObjectPtr, Arc and
 * WeakObjectPtr. Programs include object.h.
 *
 * References are counted in the object itself, atomically: threads may share an object, but not a pointer. The last
 * strong pointer runs the destructor, the last pointer of any kind frees the memory. Both happen in the deleter of the
 * library that made the object. */
#ifndef TVM_FFI_OBJECT_PTR_H_
#define TVM_FFI_OBJECT_PTR_H_

#include <tvm/ffi/base_detail.h>
#include <tvm/ffi/type_traits.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace tvm::ffi {

/** Tag of constructors that do not establish an invariant of their class. The caller establishes it. */
struct UnsafeInit {};

namespace detail {

struct ObjectUnsafe;

/* ---- The two counts: strong references in the lower half of the word, weak ones in the upper half. All strong
 * references together own one weak reference. ---- */
constexpr uint64_t kCombinedRefCountStrongOne = 1;
constexpr uint64_t kCombinedRefCountWeakOne = static_cast<uint64_t>(1) << 32;
constexpr uint64_t kCombinedRefCountBothOne = kCombinedRefCountWeakOne | kCombinedRefCountStrongOne;
constexpr uint64_t kCombinedRefCountMaskUInt32 = kCombinedRefCountWeakOne - 1;

#if defined(_MSC_VER) && !defined(__clang__)
/** Interlocked operations are full barriers, which is stronger than needed. */
TVM_FFI_INLINE uint64_t CountAddRelaxed(uint64_t *count, uint64_t n) {
  return static_cast<uint64_t>(
      _InterlockedExchangeAdd64(reinterpret_cast<volatile __int64 *>(count), static_cast<__int64>(n)));
}
TVM_FFI_INLINE uint64_t CountSubRelease(uint64_t *count, uint64_t n) { return CountAddRelaxed(count, 0 - n); }
TVM_FFI_INLINE void CountAcquireFence() {
#if defined(_M_ARM64)
  __dmb(_ARM64_BARRIER_ISHLD);
#else
  _ReadWriteBarrier(); /* the processor keeps the order, so only the compiler needs a barrier */
#endif
}
TVM_FFI_INLINE uint64_t CountLoadAcquire(const uint64_t *count) {
  uint64_t value = *reinterpret_cast<const volatile uint64_t *>(count);
  CountAcquireFence();
  return value;
}
TVM_FFI_INLINE bool CountReplace(uint64_t *count, uint64_t *expected, uint64_t desired) {
  uint64_t found = static_cast<uint64_t>(_InterlockedCompareExchange64(
      reinterpret_cast<volatile __int64 *>(count), static_cast<__int64>(desired), static_cast<__int64>(*expected)));
  bool replaced = found == *expected;
  *expected = found;
  return replaced;
}
#else
TVM_FFI_INLINE uint64_t CountAddRelaxed(uint64_t *count, uint64_t n) {
  return __atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}
TVM_FFI_INLINE uint64_t CountSubRelease(uint64_t *count, uint64_t n) {
  return __atomic_fetch_sub(count, n, __ATOMIC_RELEASE);
}
TVM_FFI_INLINE uint64_t CountLoadAcquire(const uint64_t *count) { return __atomic_load_n(count, __ATOMIC_ACQUIRE); }
TVM_FFI_INLINE bool CountReplace(uint64_t *count, uint64_t *expected, uint64_t desired) {
  return __atomic_compare_exchange_n(count, expected, desired, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
TVM_FFI_INLINE void CountAcquireFence() { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
#endif

inline void RunDeleter(TVMFFIObject *object, int flags) {
  if (object->deleter != nullptr) object->deleter(object, flags);
}

/** Releases a weak reference. DropWeak and DropStrong are not inline, because every destructor of a pointer calls
 * them. */
TVM_FFI_NO_INLINE inline void DropWeak(TVMFFIObject *object) {
  if (CountSubRelease(&object->combined_ref_count, kCombinedRefCountWeakOne) == kCombinedRefCountWeakOne) {
    CountAcquireFence();
    RunDeleter(object, kTVMFFIObjectDeleterFlagBitMaskWeak);
  }
}

/** Releases a strong reference. */
TVM_FFI_NO_INLINE inline void DropStrong(TVMFFIObject *object) {
  uint64_t before = CountSubRelease(&object->combined_ref_count, kCombinedRefCountStrongOne);
  if ((before & kCombinedRefCountMaskUInt32) != kCombinedRefCountStrongOne) return;
  CountAcquireFence();
  if (before == kCombinedRefCountBothOne) {
    RunDeleter(object, kTVMFFIObjectDeleterFlagBitMaskBoth);
  } else {
    RunDeleter(object, kTVMFFIObjectDeleterFlagBitMaskStrong);
    DropWeak(object);
  }
}

/** Whether an object of type `object_type_index` is an instance of TargetType. */
template <typename TargetType> TVM_FFI_INLINE bool IsObjectInstance(int32_t object_type_index);

/** The index of a type; registers the type if it is new. */
inline int32_t GetOrAllocTypeIndex(const char *type_key, int32_t static_index, int32_t depth, uint32_t child_slots,
                                   bool child_slots_can_overflow, int32_t parent_index) {
  TVMFFIByteArray key{type_key, std::char_traits<char>::length(type_key)};
  return TVMFFITypeGetOrAllocIndex(&key, static_index, depth, static_cast<int32_t>(child_slots),
                                   child_slots_can_overflow, parent_index);
}

} // namespace detail

/** Base class of all objects; type key "ffi.Object".
 *
 * The static members describe a type. Derived classes redefine them:
 *   _type_key, _type_index, _type_depth   set by the TVM_FFI_DECLARE_OBJECT_INFO macros
 *   _type_final                           no class derives from it
 *   _type_mutable                         references give non-const access to members
 *   _type_child_slots, _type_child_slots_can_overflow   type indices reserved for derived classes
 *   _type_s_eq_hash_kind                  how structural equality and structural hash treat the type */
class Object {
protected:
  TVMFFIObject header_;

public:
  /** An object without references; make_object counts the first one. */
  Object() : header_{} {}

  /** Whether the object is of that class or of a class derived from it. */
  template <typename TargetType> bool IsInstance() const {
    return detail::IsObjectInstance<TargetType>(header_.type_index);
  }
  /** The index of the object's type. */
  int32_t type_index() const { return header_.type_index; }
  /** The key of the object's type, such as "ffi.Array". */
  std::string GetTypeKey() const { return TypeIndexToTypeKey(header_.type_index); }
  /** A hash of the key of the object's type. */
  uint64_t GetTypeKeyHash() const { return TVMFFIGetTypeInfo(header_.type_index)->type_key_hash; }
  /** The key of a type. */
  static std::string TypeIndex2Key(int32_t type_index) { return TypeIndexToTypeKey(type_index); }
  /** The number of strong references: a snapshot, as other threads may change it. */
  uint64_t use_count() const {
    return detail::CountLoadAcquire(&header_.combined_ref_count) & detail::kCombinedRefCountMaskUInt32;
  }
  /** Whether there is one strong reference and no weak pointer, which could become a strong one. */
  bool unique() const {
    return detail::CountLoadAcquire(&header_.combined_ref_count) == detail::kCombinedRefCountBothOne;
  }

  static constexpr const char *_type_key = StaticTypeKey::kTVMFFIObject;
  static constexpr bool _type_final = false;
  static constexpr bool _type_mutable = false;
  static constexpr uint32_t _type_child_slots = 0;
  static constexpr bool _type_child_slots_can_overflow = true;
  static constexpr int32_t _type_index = kTVMFFIObject;
  static constexpr int32_t _type_depth = 0;
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindUnsupported;
  static constexpr bool _type_s_eq_hash_subclass_kind_fixed = false;
  /** The index of this class's type. */
  TVM_FFI_INLINE static int32_t RuntimeTypeIndex() noexcept { return kTVMFFIObject; }
  TVM_FFI_COLD_CODE static int32_t _GetOrAllocRuntimeTypeIndex() { return kTVMFFIObject; }

private:
  TVM_FFI_INLINE void IncRef() {
    detail::CountAddRelaxed(&header_.combined_ref_count, detail::kCombinedRefCountStrongOne);
  }
  TVM_FFI_INLINE void DecRef() { detail::DropStrong(&header_); }
  TVM_FFI_INLINE void IncWeakRef() {
    detail::CountAddRelaxed(&header_.combined_ref_count, detail::kCombinedRefCountWeakOne);
  }
  TVM_FFI_INLINE void DecWeakRef() { detail::DropWeak(&header_); }
  /** Adds a strong reference if the object still has one. Returns whether it did. */
  bool TryPromoteWeakPtr() {
    uint64_t count = detail::CountLoadAcquire(&header_.combined_ref_count);
    while ((count & detail::kCombinedRefCountMaskUInt32) != 0) {
      if (detail::CountReplace(&header_.combined_ref_count, &count, count + detail::kCombinedRefCountStrongOne)) {
        return true;
      }
    }
    return false;
  }

  template <typename> friend class ObjectPtr;
  template <typename> friend class WeakObjectPtr;
  friend struct detail::ObjectUnsafe;
};

/** Whether T is a class of objects. */
template <typename T> inline constexpr bool is_object_subclass_v = std::is_base_of_v<Object, T>;

/** A strong pointer to an object, or null. */
template <typename T> class ObjectPtr {
public:
  ObjectPtr() = default;
  /** Null. */
  ObjectPtr(std::nullptr_t) {}
  TVM_FFI_INLINE ObjectPtr(const ObjectPtr &other) : ObjectPtr(other.data_) {}
  TVM_FFI_INLINE ObjectPtr(ObjectPtr &&other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  /** From a pointer to a derived class. */
  template <typename U, typename = std::enable_if_t<std::is_base_of_v<T, U>>>
  TVM_FFI_INLINE ObjectPtr(const ObjectPtr<U> &other) : ObjectPtr(other.data_) {}
  template <typename U, typename = std::enable_if_t<std::is_base_of_v<T, U>>>
  TVM_FFI_INLINE ObjectPtr(ObjectPtr<U> &&other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  TVM_FFI_INLINE ~ObjectPtr() {
    if (data_ != nullptr) data_->DecRef();
  }
  TVM_FFI_INLINE ObjectPtr &operator=(const ObjectPtr &other) {
    ObjectPtr(other).swap(*this);
    return *this;
  }
  TVM_FFI_INLINE ObjectPtr &operator=(ObjectPtr &&other) noexcept {
    ObjectPtr(std::move(other)).swap(*this);
    return *this;
  }

  void swap(ObjectPtr &other) noexcept { std::swap(data_, other.data_); }
  /** Releases the object and becomes null. */
  TVM_FFI_INLINE void reset() {
    if (Object *old = std::exchange(data_, nullptr)) old->DecRef();
  }
  /** The object, borrowed. */
  T *get() const { return static_cast<T *>(data_); }
  T *operator->() const { return get(); }
  T &operator*() const { return *get(); }
  /** Whether the pointer is not null. */
  explicit operator bool() const { return data_ != nullptr; }
  /** The number of strong references: a snapshot. 0 for null. */
  int use_count() const { return data_ == nullptr ? 0 : static_cast<int>(data_->use_count()); }
  /** Whether this is the only pointer to the object, weak ones included. */
  bool unique() const { return data_ != nullptr && data_->unique(); }
  bool operator==(const ObjectPtr &other) const { return data_ == other.data_; }
  bool operator!=(const ObjectPtr &other) const { return data_ != other.data_; }
  bool operator==(std::nullptr_t) const { return data_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return data_ != nullptr; }

private:
  TVM_FFI_INLINE explicit ObjectPtr(Object *data) : data_(data) {
    if (data != nullptr) data->IncRef();
  }

  Object *data_ = nullptr;

  template <typename> friend class ObjectPtr;
  template <typename> friend class WeakObjectPtr;
  friend class ObjectRef;
  friend struct ObjectPtrHash;
  friend struct detail::ObjectUnsafe;
};

/** A strong pointer that is null only after it was moved from. make_arc makes one. */
template <typename T> class Arc : public ObjectPtr<T> {
public:
  Arc() = delete;
  Arc(std::nullptr_t) = delete;
  /** Null; the caller fills it before any other use. */
  explicit Arc(UnsafeInit) : ObjectPtr<T>(nullptr) {}
  TVM_FFI_INLINE ~Arc() = default;
  TVM_FFI_INLINE Arc(const Arc &) = default;
  TVM_FFI_INLINE Arc(Arc &&) noexcept = default;
  TVM_FFI_INLINE Arc &operator=(const Arc &) = default;
  TVM_FFI_INLINE Arc &operator=(Arc &&) noexcept = default;
  template <typename U, std::enable_if_t<std::is_base_of_v<T, U>, int> = 0>
  Arc(const Arc<U> &other) : ObjectPtr<T>(static_cast<const ObjectPtr<U> &>(other)) {}
  template <typename U, std::enable_if_t<std::is_base_of_v<T, U>, int> = 0>
  Arc(Arc<U> &&other) : ObjectPtr<T>(static_cast<ObjectPtr<U> &&>(other)) {}

private:
  explicit Arc(ObjectPtr<T> ptr) : ObjectPtr<T>(std::move(ptr)) {}
  using ObjectPtr<T>::reset;
  using ObjectPtr<T>::swap;

  template <typename> friend class Arc;
  friend struct detail::ObjectUnsafe;
};

/** A weak pointer: keeps the memory of an object but not the object. lock() returns a strong pointer as long as another
 * strong pointer exists. */
template <typename T> class WeakObjectPtr {
public:
  WeakObjectPtr() = default;
  /** Null. */
  WeakObjectPtr(std::nullptr_t) {}
  WeakObjectPtr(const WeakObjectPtr &other) : WeakObjectPtr(other.data_) {}
  /** A weak pointer to the object of a strong pointer. */
  WeakObjectPtr(const ObjectPtr<T> &other) : WeakObjectPtr(other.data_) {}
  WeakObjectPtr(WeakObjectPtr &&other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  template <typename U> WeakObjectPtr(const WeakObjectPtr<U> &other) : WeakObjectPtr(other.data_) {
    static_assert(std::is_base_of_v<T, U>, "a WeakObjectPtr<T> is made from a pointer to a class derived from T");
  }
  /** A weak pointer to the object of a strong pointer to a derived class. */
  template <typename U> WeakObjectPtr(const ObjectPtr<U> &other) : WeakObjectPtr(other.data_) {
    static_assert(std::is_base_of_v<T, U>, "a WeakObjectPtr<T> is made from a pointer to a class derived from T");
  }
  template <typename U> WeakObjectPtr(WeakObjectPtr<U> &&other) noexcept : data_(std::exchange(other.data_, nullptr)) {
    static_assert(std::is_base_of_v<T, U>, "a WeakObjectPtr<T> is made from a pointer to a class derived from T");
  }
  ~WeakObjectPtr() { reset(); }
  WeakObjectPtr &operator=(const WeakObjectPtr &other) {
    WeakObjectPtr(other).swap(*this);
    return *this;
  }
  WeakObjectPtr &operator=(WeakObjectPtr &&other) noexcept {
    WeakObjectPtr(std::move(other)).swap(*this);
    return *this;
  }

  void swap(WeakObjectPtr &other) noexcept { std::swap(data_, other.data_); }
  /** Releases the memory and becomes null. */
  void reset() {
    if (Object *old = std::exchange(data_, nullptr)) old->DecWeakRef();
  }
  /** Null if the object is gone. */
  ObjectPtr<T> lock() const {
    ObjectPtr<T> strong;
    if (data_ != nullptr && data_->TryPromoteWeakPtr()) strong.data_ = data_;
    return strong;
  }
  /** The number of strong references: a snapshot. 0 for null. */
  int use_count() const { return data_ == nullptr ? 0 : static_cast<int>(data_->use_count()); }
  /** Whether the object is gone, or the pointer is null. */
  bool expired() const { return use_count() == 0; }

private:
  explicit WeakObjectPtr(Object *data) : data_(data) {
    if (data != nullptr) data->IncWeakRef();
  }

  Object *data_ = nullptr;

  template <typename> friend class WeakObjectPtr;
  friend struct detail::ObjectUnsafe;
};

/** Every ObjectPtr or Arc of a derived class is an ObjectPtr<Base>; only an Arc of one is an Arc<Base>. */
template <typename Base, typename Derived>
inline constexpr bool type_subsumes_v<ObjectPtr<Base>, ObjectPtr<Derived>> = std::is_base_of_v<Base, Derived>;
template <typename Base, typename Derived>
inline constexpr bool type_subsumes_v<ObjectPtr<Base>, Arc<Derived>> = std::is_base_of_v<Base, Derived>;
template <typename Base, typename Derived>
inline constexpr bool type_subsumes_v<Arc<Base>, Arc<Derived>> = std::is_base_of_v<Base, Derived>;

} // namespace tvm::ffi

#endif /* TVM_FFI_OBJECT_PTR_H_ */
