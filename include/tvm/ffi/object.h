/* object.h - declares classes of objects, and of references to them; and makes them values.
 *
 *   class PointObj : public tvm::ffi::Object {
 *   public:
 *     int64_t x, y;
 *     PointObj(int64_t x, int64_t y) : x(x), y(y) {}
 *     TVM_FFI_DECLARE_OBJECT_INFO_FINAL("my.Point", PointObj, tvm::ffi::Object);
 *   };
 *
 *   class Point : public tvm::ffi::ObjectRef {
 *   public:
 *     Point(int64_t x, int64_t y) : ObjectRef(tvm::ffi::make_object<PointObj>(x, y)) {}
 *     TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Point, tvm::ffi::ObjectRef, PointObj);
 *   };
 *
 * The type gets its index when the library is loaded. reflection/registry.h makes its members known to other libraries
 * and languages. */
#ifndef TVM_FFI_OBJECT_H_
#define TVM_FFI_OBJECT_H_

#include <tvm/ffi/object_ptr.h>
#include <tvm/ffi/object_ref.h>
#include <tvm/ffi/type_traits.h>

/* ---- In a class of objects ---- */

#define TVM_FFI_OBJECT_INFO_COMMON_(TypeName, ParentType, StaticIndex)                        \
  static constexpr int32_t _type_depth = ParentType::_type_depth + 1;                         \
  TVM_FFI_COLD_CODE static int32_t _GetOrAllocRuntimeTypeIndex() {                            \
    static_assert(!ParentType::_type_final, "the parent class is _type_final");               \
    static_assert(!ParentType::_type_s_eq_hash_subclass_kind_fixed ||                         \
                      TypeName::_type_s_eq_hash_kind == ParentType::_type_s_eq_hash_kind,     \
                  "the parent class fixes _type_s_eq_hash_kind for all classes below it");    \
    static_assert(TypeName::_type_child_slots == 0 || ParentType::_type_child_slots == 0 ||   \
                      TypeName::_type_child_slots < ParentType::_type_child_slots,            \
                  "_type_child_slots of a class must be fewer than its parent's");            \
    static const int32_t index = ::tvm::ffi::detail::GetOrAllocTypeIndex(                     \
        TypeName::_type_key, StaticIndex, TypeName::_type_depth, TypeName::_type_child_slots, \
        TypeName::_type_child_slots_can_overflow, ParentType::_GetOrAllocRuntimeTypeIndex()); \
    return index;                                                                             \
  }                                                                                           \
  TVM_FFI_INLINE static int32_t RuntimeTypeIndex() noexcept { return TypeName::_type_index; }

/** For a type with an index that the ABI defines. The class declares that index as _type_index. */
#define TVM_FFI_DECLARE_OBJECT_INFO_STATIC(TypeKey, TypeName, ParentType)  \
  TVM_FFI_OBJECT_INFO_COMMON_(TypeName, ParentType, TypeName::_type_index) \
  static constexpr const char *_type_key = TypeKey

/** For a class that declares its _type_key itself. */
#define TVM_FFI_DECLARE_OBJECT_INFO_PREDEFINED_TYPE_KEY(TypeName, ParentType) \
  TVM_FFI_OBJECT_INFO_COMMON_(TypeName, ParentType, -1)                       \
  static inline const int32_t _type_index = _GetOrAllocRuntimeTypeIndex()

/** For any other class. */
#define TVM_FFI_DECLARE_OBJECT_INFO(TypeKey, TypeName, ParentType)   \
  [[maybe_unused]] static constexpr const char *_type_key = TypeKey; \
  TVM_FFI_DECLARE_OBJECT_INFO_PREDEFINED_TYPE_KEY(TypeName, ParentType)

/** For a class without derived classes. One comparison recognises its objects. */
#define TVM_FFI_DECLARE_OBJECT_INFO_FINAL(TypeKey, TypeName, ParentType) \
  [[maybe_unused]] static constexpr uint32_t _type_child_slots = 0;      \
  [[maybe_unused]] static constexpr bool _type_final = true;             \
  TVM_FFI_DECLARE_OBJECT_INFO(TypeKey, TypeName, ParentType)

/** For a class that another library, or Python, registers. The index is looked up at its first use; RuntimeError if the
 * key is unknown then. TypeDepth is the depth of the type: 1 directly below Object. */
#define TVM_FFI_DECLARE_OBJECT_INFO_LOOKUP(TypeKey, TypeDepth)                  \
  [[maybe_unused]] static constexpr const char *_type_key = TypeKey;            \
  [[maybe_unused]] static constexpr int32_t _type_depth = TypeDepth;            \
  [[maybe_unused]] static constexpr bool _type_mutable = true;                  \
  [[maybe_unused]] static constexpr bool _type_final = false;                   \
  [[maybe_unused]] static constexpr uint32_t _type_child_slots = 0;             \
  [[maybe_unused]] static constexpr bool _type_child_slots_can_overflow = true; \
  static int32_t RuntimeTypeIndex() {                                           \
    static const int32_t index = ::tvm::ffi::detail::LookUpTypeIndex(TypeKey);  \
    return index;                                                               \
  }

/* ---- In a class of references ---- */

#define TVM_FFI_OBJECT_REF_COMMON_(TypeName, ParentType, ObjectName, kNullable)                      \
  explicit TypeName(::tvm::ffi::UnsafeInit tag) : ParentType(tag) {}                                 \
  TVM_FFI_DEFINE_DEFAULT_COPY_MOVE_AND_ASSIGN(TypeName)                                              \
  using __PtrType = std::conditional_t<ObjectName::_type_mutable, ObjectName *, const ObjectName *>; \
  __PtrType operator->() const { return static_cast<__PtrType>(data_.get()); }                       \
  __PtrType get() const { return static_cast<__PtrType>(data_.get()); }                              \
  [[maybe_unused]] static constexpr bool _type_is_nullable = kNullable;                              \
  using ContainerType = ObjectName

/** For references that may be null. The default constructor makes a null reference, and None converts to null. */
#define TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(TypeName, ParentType, ObjectName)   \
  TypeName() = default;                                                                \
  explicit TypeName(::tvm::ffi::ObjectPtr<ObjectName> n) : ParentType(std::move(n)) {} \
  TVM_FFI_OBJECT_REF_COMMON_(TypeName, ParentType, ObjectName, true)

/** For references that are never null. */
#define TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(TypeName, ParentType, ObjectName) \
  TVM_FFI_OBJECT_REF_COMMON_(TypeName, ParentType, ObjectName, false)

namespace tvm::ffi {
namespace detail {

/** Defined in function.h. */
int32_t LookUpTypeIndex(const char *type_key);

/** Whether a type has an ancestor, by the registry. Not inline: only a type that is neither the target itself nor in
 * the target's child slots needs it. */
TVM_FFI_NO_INLINE inline bool HasAncestor(int32_t type_index, int32_t target_index, int32_t target_depth) {
  const TypeInfo *info = TVMFFIGetTypeInfo(type_index);
  return info->type_depth > target_depth && info->type_ancestors[target_depth]->type_index == target_index;
}

template <typename TargetType> TVM_FFI_INLINE bool IsObjectInstance(int32_t type_index) {
  static_assert(std::is_base_of_v<Object, TargetType>, "only classes below Object have instances");
  if constexpr (std::is_same_v<std::remove_cv_t<TargetType>, Object>) {
    return true;
  } else {
    int32_t target = TargetType::RuntimeTypeIndex();
    if constexpr (TargetType::_type_final) {
      return type_index == target;
    } else {
      /* A smaller index wraps around to a large number, so one comparison checks both bounds. */
      if (static_cast<uint32_t>(type_index - target) <= TargetType::_type_child_slots) return true;
      if constexpr (!TargetType::_type_child_slots_can_overflow) return false;
      return type_index > target && HasAncestor(type_index, target, TargetType::_type_depth);
    }
  }
}

/** Whether a value of type `actual` is an instance of `target`; both are known at run time only. Small strings are
 * strings. */
inline bool RuntimeTypeIndexMatch(int32_t actual, int32_t target) {
  if (actual == target || target == kTVMFFIAny) return true;
  if (target == kTVMFFIStr) return actual == kTVMFFISmallStr;
  if (target == kTVMFFIBytes) return actual == kTVMFFISmallBytes;
  if (target == kTVMFFIObject) return actual >= kTVMFFIStaticObjectBegin;
  if (target < kTVMFFIStaticObjectBegin || actual < target) return false; /* a descendant has a higher index */
  return HasAncestor(actual, target, TVMFFIGetTypeInfo(target)->type_depth);
}

/** Whether T is a class of objects with const, volatile or a reference. */
template <typename T>
inline constexpr bool is_qualified_object_v = is_object_subclass_v<std::remove_cv_t<std::remove_reference_t<T>>> &&
                                              !std::is_same_v<T, std::remove_cv_t<std::remove_reference_t<T>>>;

/** The traits that pointers and references to objects share. Traits provides kNullable; Header(const Pointer &), the
 * header, null for null; Release(Pointer &&), the header with its reference; Borrow(TVMFFIObject *), which adds a
 * reference; Own(TVMFFIObject *), which steals one. */
template <typename Traits, typename Pointer, typename TObject> struct ObjectTraitsBase : TypeTraitsBase {
  static constexpr int32_t field_static_type_index = kTVMFFIObject;

  TVM_FFI_INLINE static void CopyToAnyView(const Pointer &src, TVMFFIAny *result) { Put(Traits::Header(src), result); }
  TVM_FFI_INLINE static void MoveToAny(Pointer src, TVMFFIAny *result) { Put(Traits::Release(std::move(src)), result); }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    if constexpr (Traits::kNullable) {
      if (src->type_index == kTVMFFINone) return true;
    }
    return src->type_index >= kTVMFFIStaticObjectBegin && IsObjectInstance<TObject>(src->type_index);
  }
  TVM_FFI_INLINE static Pointer CopyFromAnyViewAfterCheck(const TVMFFIAny *src) { return Traits::Borrow(Get(src)); }
  TVM_FFI_INLINE static Pointer MoveFromAnyAfterCheck(TVMFFIAny *src) {
    TVMFFIObject *object = Get(src);
    PutNone(src);
    return Traits::Own(object);
  }
  TVM_FFI_INLINE static std::optional<Pointer> TryCastFromAnyView(const TVMFFIAny *src) {
    if (Traits::CheckAnyStrict(src)) return Traits::CopyFromAnyViewAfterCheck(src);
    return std::nullopt;
  }
  static std::string TypeStr() { return TObject::_type_key; }
  static std::string TypeSchema() { return NamedTypeSchema(TObject::_type_key); }

private:
  TVM_FFI_INLINE static void Put(TVMFFIObject *object, TVMFFIAny *result) {
    if constexpr (Traits::kNullable) {
      ObjectUnsafe::PutObjectOrNone(object, result);
    } else {
      ObjectUnsafe::PutObject(object, result);
    }
  }
  TVM_FFI_INLINE static TVMFFIObject *Get(const TVMFFIAny *src) {
    if constexpr (Traits::kNullable) {
      if (src->type_index == kTVMFFINone) return nullptr;
    }
    return src->v_obj;
  }
};

template <typename T, typename TObject>
using EnableForObject =
    std::enable_if_t<is_object_subclass_v<TObject> && std::is_same_v<TObject, std::remove_cv_t<TObject>>, T>;

} // namespace detail

template <typename T> struct TypeToRuntimeTypeIndex<T, std::enable_if_t<std::is_base_of_v<ObjectRef, T>>> {
  static int32_t v() { return T::ContainerType::RuntimeTypeIndex(); }
};
template <typename TObject> struct TypeToRuntimeTypeIndex<ObjectPtr<TObject>, detail::EnableForObject<void, TObject>> {
  static int32_t v() { return TObject::RuntimeTypeIndex(); }
};
template <typename TObject> struct TypeToRuntimeTypeIndex<Arc<TObject>, detail::EnableForObject<void, TObject>> {
  static int32_t v() { return TObject::RuntimeTypeIndex(); }
};

/** ObjectPtr: an object, or None for null. */
template <typename TObject>
struct TypeTraits<ObjectPtr<TObject>, detail::EnableForObject<void, TObject>>
    : detail::ObjectTraitsBase<TypeTraits<ObjectPtr<TObject>>, ObjectPtr<TObject>, TObject> {
  static constexpr bool kNullable = true;
  TVM_FFI_INLINE static TVMFFIObject *Header(const ObjectPtr<TObject> &src) {
    return detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectPtr(src);
  }
  TVM_FFI_INLINE static TVMFFIObject *Release(ObjectPtr<TObject> &&src) {
    return detail::ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(std::move(src));
  }
  TVM_FFI_INLINE static ObjectPtr<TObject> Borrow(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ObjectPtrFromUnowned<TObject>(object);
  }
  TVM_FFI_INLINE static ObjectPtr<TObject> Own(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ObjectPtrFromOwned<TObject>(object);
  }
  static std::string TypeSchema() {
    return "{\"type\":\"Optional\",\"args\":[" + detail::NamedTypeSchema(TObject::_type_key) + "]}";
  }
};

/** Arc: an object. */
template <typename TObject>
struct TypeTraits<Arc<TObject>, detail::EnableForObject<void, TObject>>
    : detail::ObjectTraitsBase<TypeTraits<Arc<TObject>>, Arc<TObject>, TObject> {
  static constexpr bool kNullable = false;
  TVM_FFI_INLINE static TVMFFIObject *Header(const Arc<TObject> &src) {
    return detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectPtr(src);
  }
  TVM_FFI_INLINE static TVMFFIObject *Release(Arc<TObject> &&src) {
    return detail::ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(std::move(src));
  }
  TVM_FFI_INLINE static Arc<TObject> Borrow(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ArcFromObjectPtr(detail::ObjectUnsafe::ObjectPtrFromUnowned<TObject>(object));
  }
  TVM_FFI_INLINE static Arc<TObject> Own(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ArcFromObjectPtr(detail::ObjectUnsafe::ObjectPtrFromOwned<TObject>(object));
  }
};

/** Base for the traits of a class of references. */
template <typename TObjRef>
struct ObjectRefTypeTraitsBase
    : detail::ObjectTraitsBase<ObjectRefTypeTraitsBase<TObjRef>, TObjRef, typename TObjRef::ContainerType> {
  using ContainerType = typename TObjRef::ContainerType;
  static constexpr bool kNullable = TObjRef::_type_is_nullable;
  TVM_FFI_INLINE static TVMFFIObject *Header(const TObjRef &src) {
    return detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(src);
  }
  TVM_FFI_INLINE static TVMFFIObject *Release(TObjRef &&src) {
    return detail::ObjectUnsafe::MoveObjectRefToTVMFFIObjectPtr(std::move(src));
  }
  TVM_FFI_INLINE static TObjRef Borrow(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ObjectRefFromObjectPtr<TObjRef>(
        detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(object));
  }
  TVM_FFI_INLINE static TObjRef Own(TVMFFIObject *object) {
    return detail::ObjectUnsafe::ObjectRefFromObjectPtr<TObjRef>(
        detail::ObjectUnsafe::ObjectPtrFromOwned<Object>(object));
  }
  /** Calls the check of the derived traits, which may be stricter. */
  TVM_FFI_INLINE static std::optional<TObjRef> TryCastFromAnyView(const TVMFFIAny *src) {
    if (TypeTraits<TObjRef>::CheckAnyStrict(src)) return TypeTraits<TObjRef>::CopyFromAnyViewAfterCheck(src);
    return std::nullopt;
  }
};

template <typename TObjRef>
struct TypeTraits<TObjRef,
                  std::enable_if_t<std::is_base_of_v<ObjectRef, TObjRef> && use_default_type_traits_v<TObjRef>>>
    : ObjectRefTypeTraitsBase<TObjRef> {};

/** Base for traits of references to which other values convert. The traits provide a ConvertFallbackValue for each of
 * Fallbacks. */
template <typename TObjRef, typename... Fallbacks>
struct ObjectRefWithFallbackTraitsBase : ObjectRefTypeTraitsBase<TObjRef> {
  TVM_FFI_INLINE static std::optional<TObjRef> TryCastFromAnyView(const TVMFFIAny *src) {
    if (auto ref = ObjectRefTypeTraitsBase<TObjRef>::TryCastFromAnyView(src)) return ref;
    return detail::TryFallbacks<TObjRef, Fallbacks...>(src);
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return detail::NoneOf<Fallbacks...>(src); }
};

/** A borrowed pointer to an object, const unless the class is _type_mutable. The pointer does not keep the object
 * alive. */
template <typename TObject>
struct TypeTraits<TObject *, std::enable_if_t<std::is_base_of_v<Object, TObject>>> : TypeTraitsBase {
  TVM_FFI_INLINE static void CopyToAnyView(TObject *src, TVMFFIAny *result) {
    detail::ObjectUnsafe::PutObject(detail::ObjectUnsafe::GetHeader(src), result);
  }
  TVM_FFI_INLINE static void MoveToAny(TObject *src, TVMFFIAny *result) {
    CopyToAnyView(src, result);
    detail::ObjectUnsafe::IncRefObjectHandle(result->v_obj);
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index >= kTVMFFIStaticObjectBegin && detail::IsObjectInstance<TObject>(src->type_index);
  }
  TVM_FFI_INLINE static TObject *CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    static_assert(std::is_const_v<TObject> || TObject::_type_mutable,
                  "a pointer to an object is const unless its class is _type_mutable");
    return detail::ObjectUnsafe::RawObjectPtrFromUnowned<TObject>(src->v_obj);
  }
  TVM_FFI_INLINE static std::optional<TObject *> TryCastFromAnyView(const TVMFFIAny *src) {
    if (CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(TObject::_type_key)
};

} // namespace tvm::ffi

#endif /* TVM_FFI_OBJECT_H_ */
