/* object_ref.h - ObjectRef, the base class of all references to objects. Programs include object.h. */
#ifndef TVM_FFI_OBJECT_REF_H_
#define TVM_FFI_OBJECT_REF_H_

#include <tvm/ffi/object_ptr.h>

namespace tvm::ffi {

template <typename T, typename = void> class Optional;
template <typename... V> class Variant;

/** A strong pointer with the methods of one kind of object. Derived classes add methods and no members, so each has the
 * size of a pointer, and each can refer to an object of its kind. Most cannot be null (see the macros in object.h). */
class ObjectRef {
public:
  /** The class of the objects. */
  using ContainerType = Object;
  static constexpr bool _type_is_nullable = true;
  /** Whether such a reference may refer to every object of ContainerType, independent of the object's contents. */
  static constexpr bool _type_container_is_exact = true;

  ObjectRef() = default;
  /** From a pointer, which may be null. */
  explicit ObjectRef(ObjectPtr<Object> data) : data_(std::move(data)) {}
  /** Leaves the reference null; the caller fills it in. */
  explicit ObjectRef(UnsafeInit) {}
  TVM_FFI_INLINE ~ObjectRef() = default;
  TVM_FFI_INLINE ObjectRef(const ObjectRef &) = default;
  TVM_FFI_INLINE ObjectRef(ObjectRef &&) noexcept = default;
  TVM_FFI_INLINE ObjectRef &operator=(const ObjectRef &) = default;
  TVM_FFI_INLINE ObjectRef &operator=(ObjectRef &&) noexcept = default;

  /** Whether the reference is not null. */
  bool defined() const { return data_ != nullptr; }
  /** The object, borrowed; null if the reference is null. */
  const Object *get() const { return data_.get(); }
  const Object *operator->() const { return get(); }
  /** Whether this is the only reference to the object, weak ones included. */
  bool unique() const { return data_.unique(); }
  /** The number of strong references: a snapshot. 0 for null. */
  int use_count() const { return data_.use_count(); }
  /** kTVMFFINone if the reference is null. */
  int32_t type_index() const { return data_ == nullptr ? static_cast<int32_t>(kTVMFFINone) : data_->type_index(); }
  /** The key of the object's type; "None" if the reference is null. */
  std::string GetTypeKey() const { return data_ == nullptr ? StaticTypeKey::kTVMFFINone : data_->GetTypeKey(); }

  /** Compares identity. */
  bool same_as(const ObjectRef &other) const { return data_ == other.data_; }
  bool operator==(const ObjectRef &other) const { return data_ == other.data_; }
  bool operator!=(const ObjectRef &other) const { return data_ != other.data_; }
  bool operator<(const ObjectRef &other) const { return data_.get() < other.data_.get(); }

  /** The object as a T, borrowed; null if it is not a T. From a temporary reference the pointer is valid only as long
   * as that reference, unless another reference keeps the object. */
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Object, T>>> const T *as() const & {
    return data_ != nullptr && data_->IsInstance<T>() ? static_cast<const T *>(data_.get()) : nullptr;
  }

  /** As another kind of reference. nullopt if the object is not of that kind, and for null if that kind cannot be
   * null. */
  template <typename Ref, typename = std::enable_if_t<std::is_base_of_v<ObjectRef, Ref>>>
  TVM_FFI_INLINE std::optional<Ref> as() const & {
    return Is<Ref>() ? std::optional<Ref>(Become<Ref>(ObjectPtr<Object>(data_))) : std::nullopt;
  }
  /** As as() const, but moves the reference out if it succeeds. */
  template <typename Ref, typename = std::enable_if_t<std::is_base_of_v<ObjectRef, Ref>>>
  TVM_FFI_INLINE std::optional<Ref> as() && {
    return Is<Ref>() ? std::optional<Ref>(Become<Ref>(std::move(data_))) : std::nullopt;
  }
  /** as(), with a TypeError instead of nullopt. Defined in any.h. */
  template <typename Ref, typename = std::enable_if_t<std::is_base_of_v<ObjectRef, Ref>>>
  TVM_FFI_INLINE Ref as_or_throw() const &;
  /** As as_or_throw() const, but moves the reference out. */
  template <typename Ref, typename = std::enable_if_t<std::is_base_of_v<ObjectRef, Ref>>>
  TVM_FFI_INLINE Ref as_or_throw() &&;

protected:
  Object *get_mutable() const { return data_.get(); }

  ObjectPtr<Object> data_;

private:
  /** The object as a borrowed value, None for null. */
  TVM_FFI_INLINE TVMFFIAny View() const;
  template <typename Ref> TVM_FFI_INLINE bool Is() const {
    TVMFFIAny view = View();
    return TypeTraits<Ref>::CheckAnyStrict(&view);
  }
  template <typename Ref> TVM_FFI_INLINE static Ref Become(ObjectPtr<Object> data) {
    Ref ref(UnsafeInit{});
    static_cast<ObjectRef &>(ref).data_ = std::move(data);
    return ref;
  }

  friend struct ObjectPtrHash;
  friend struct detail::ObjectUnsafe;
};

/** Whether a Ref may refer to an object of class T, judged by the classes alone. */
template <typename Ref, typename T,
          typename = std::enable_if_t<std::is_base_of_v<ObjectRef, Ref> && std::is_base_of_v<Object, T>>>
inline constexpr bool object_ref_contains_v =
    Ref::_type_container_is_exact && std::is_base_of_v<typename Ref::ContainerType, T>;

/** Hash and equality of identity, for containers of the standard library. */
struct ObjectPtrHash {
  /** The hash of the object's address. */
  size_t operator()(const ObjectRef &ref) const { return operator()(ref.data_); }
  /** The hash of the object's address. */
  template <typename T> size_t operator()(const ObjectPtr<T> &ptr) const { return std::hash<Object *>()(ptr.data_); }
  /** The hash of the address of the object in a Variant. */
  template <typename... V> TVM_FFI_INLINE size_t operator()(const Variant<V...> &variant) const;
};
/** Compares references by the identity of their objects. */
struct ObjectPtrEqual {
  /** Whether both refer to the same object. */
  bool operator()(const ObjectRef &left, const ObjectRef &right) const { return left.same_as(right); }
  /** Whether both point to the same object. */
  template <typename T> bool operator()(const ObjectPtr<T> &left, const ObjectPtr<T> &right) const {
    return left == right;
  }
  /** Whether both hold the same object. */
  template <typename... V> TVM_FFI_INLINE bool operator()(const Variant<V...> &left, const Variant<V...> &right) const;
};

namespace detail {

/** Access to the internals of pointers and references, for these headers. A function that takes an "owned" handle
 * steals its reference; a function that takes an "unowned" handle adds a reference. */
struct ObjectUnsafe {
  TVM_FFI_INLINE static TVMFFIObject *GetHeader(const Object *object) {
    return const_cast<TVMFFIObject *>(&object->header_);
  }
  /** Bytes from the beginning of a Class to its object header. Not 0 for a class with virtual functions. */
  template <typename Class> static int64_t GetObjectOffsetToSubclass() {
    /* The address of an object that is never accessed. The address must not be null, because casting a null pointer
     * adds no offset. */
    Class *whole = reinterpret_cast<Class *>(static_cast<uintptr_t>(4096));
    return reinterpret_cast<char *>(static_cast<Object *>(whole)) - reinterpret_cast<char *>(whole);
  }

  template <typename T> TVM_FFI_INLINE static T *RawObjectPtrFromUnowned(TVMFFIObject *object) {
    return static_cast<T *>(reinterpret_cast<Object *>(object));
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromOwned(Object *object) {
    ObjectPtr<T> ptr;
    ptr.data_ = object;
    return ptr;
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromOwned(TVMFFIObject *object) {
    return ObjectPtrFromOwned<T>(reinterpret_cast<Object *>(object));
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromUnowned(Object *object) {
    return ObjectPtr<T>(object);
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromUnowned(TVMFFIObject *object) {
    return ObjectPtr<T>(reinterpret_cast<Object *>(object));
  }
  template <typename T> TVM_FFI_INLINE static Arc<T> ArcFromObjectPtr(ObjectPtr<T> &&ptr) {
    return Arc<T>(std::move(ptr));
  }
  template <typename T> TVM_FFI_INLINE static T ObjectRefFromObjectPtr(ObjectPtr<Object> ptr) {
    return ObjectRef::Become<T>(std::move(ptr));
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromObjectRef(const ObjectRef &ref) {
    return ObjectPtr<T>(ref.data_.data_);
  }
  template <typename T> TVM_FFI_INLINE static ObjectPtr<T> ObjectPtrFromObjectRef(ObjectRef &&ref) {
    return ObjectPtrFromOwned<T>(std::exchange(ref.data_.data_, nullptr));
  }

  TVM_FFI_INLINE static Object *RawObjectPtrFromObjectRef(const ObjectRef &ref) { return ref.data_.data_; }
  TVM_FFI_INLINE static TVMFFIObject *TVMFFIObjectPtrFromObjectRef(const ObjectRef &ref) {
    return reinterpret_cast<TVMFFIObject *>(ref.data_.data_);
  }
  template <typename T> TVM_FFI_INLINE static TVMFFIObject *TVMFFIObjectPtrFromObjectPtr(const ObjectPtr<T> &ptr) {
    return reinterpret_cast<TVMFFIObject *>(ptr.data_);
  }
  template <typename T> TVM_FFI_INLINE static TVMFFIObject *MoveObjectPtrToTVMFFIObjectPtr(ObjectPtr<T> &&ptr) {
    return reinterpret_cast<TVMFFIObject *>(std::exchange(ptr.data_, nullptr));
  }
  TVM_FFI_INLINE static TVMFFIObject *MoveObjectRefToTVMFFIObjectPtr(ObjectRef &&ref) {
    return MoveObjectPtrToTVMFFIObjectPtr(std::move(ref.data_));
  }

  TVM_FFI_INLINE static void IncRefObjectHandle(TVMFFIObjectHandle handle) {
    CountAddRelaxed(&static_cast<TVMFFIObject *>(handle)->combined_ref_count, kCombinedRefCountStrongOne);
  }
  TVM_FFI_INLINE static void DecRefObjectHandle(TVMFFIObjectHandle handle) {
    if (handle != nullptr) DropStrong(static_cast<TVMFFIObject *>(handle));
  }

  /** Write an object as a value; the second function writes None for null. A borrowed and an owned value have the same
   * bits. */
  TVM_FFI_INLINE static void PutObject(TVMFFIObject *object, TVMFFIAny *result) {
    TVM_FFI_UNSAFE_ASSUME(object->type_index >= kTVMFFIStaticObjectBegin);
    PutPointer(object->type_index, object, result);
  }
  TVM_FFI_INLINE static void PutObjectOrNone(TVMFFIObject *object, TVMFFIAny *result) {
    if (object == nullptr) {
      PutNone(result);
    } else {
      PutObject(object, result);
    }
  }
};

} // namespace detail

TVM_FFI_INLINE TVMFFIAny ObjectRef::View() const {
  TVMFFIAny view;
  detail::ObjectUnsafe::PutObjectOrNone(detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(*this), &view);
  return view;
}

} // namespace tvm::ffi

#endif /* TVM_FFI_OBJECT_REF_H_ */
