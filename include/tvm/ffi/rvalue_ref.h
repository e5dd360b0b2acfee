/* rvalue_ref.h - RValueRef<T>: an argument whose object the callee may steal, so that it can change the object in
 * place.
 *
 *   Function append = Function::FromTyped([](RValueRef<Array<int>> ref, int x) {
 *     Array<int> items = *std::move(ref);
 *     items.push_back(x);
 *     return items;
 *   });
 *   items = append(RValueRef(std::move(items)), 1).cast<Array<int>>();   (nothing is copied)
 * */
#ifndef TVM_FFI_RVALUE_REF_H_
#define TVM_FFI_RVALUE_REF_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/object.h>

namespace tvm::ffi {

/** An argument that the callee may move out of: pass RValueRef(std::move(ref)). */
template <typename TObjRef, typename = std::enable_if_t<std::is_base_of_v<ObjectRef, TObjRef>>> class RValueRef {
public:
  /** The class of the objects. */
  using ContainerType = typename TObjRef::ContainerType;

  /** From a reference that the caller gives away. */
  explicit RValueRef(TObjRef &&ref)
      : data_(detail::ObjectUnsafe::ObjectPtrFromObjectRef<ContainerType>(std::move(ref))) {}
  /** Moves the reference out. */
  TObjRef operator*() && { return detail::ObjectUnsafe::ObjectRefFromObjectPtr<TObjRef>(std::move(data_)); }

private:
  mutable ObjectPtr<ContainerType> data_; /**< the callee empties it through its address */

  template <typename, typename> friend struct TypeTraits;
};

template <typename TObjRef> inline constexpr bool use_default_type_traits_v<RValueRef<TObjRef>> = false;

/** Moves the object out of an argument that is an RValueRef to a TObjRef. Any other argument is converted as for a
 * TObjRef. */
template <typename TObjRef> struct TypeTraits<RValueRef<TObjRef>> : TypeTraitsBase {
  static constexpr bool storage_enabled = false;

  TVM_FFI_INLINE static void CopyToAnyView(const RValueRef<TObjRef> &src, TVMFFIAny *result) {
    detail::PutPointer(kTVMFFIObjectRValueRef, &src.data_, result);
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    if (src->type_index != kTVMFFIObjectRValueRef) return TypeTraits<TObjRef>::GetMismatchTypeInfo(src);
    TVMFFIAny held = Held(src);
    return "RValueRef<" + TypeTraits<TObjRef>::GetMismatchTypeInfo(&held) + ">";
  }
  static std::optional<RValueRef<TObjRef>> TryCastFromAnyView(const TVMFFIAny *src) {
    TVMFFIAny held = src->type_index == kTVMFFIObjectRValueRef ? Held(src) : *src;
    if (src->type_index == kTVMFFIObjectRValueRef && TypeTraits<TObjRef>::CheckAnyStrict(&held)) {
      *Place(src) = nullptr;
      return RValueRef<TObjRef>(TypeTraits<TObjRef>::MoveFromAnyAfterCheck(&held));
    }
    std::optional<TObjRef> ref = TypeTraits<TObjRef>::TryCastFromAnyView(&held); /* the caller keeps its reference */
    if (!ref.has_value()) return std::nullopt;
    return RValueRef<TObjRef>(*std::move(ref));
  }
  static std::string TypeStr() { return "RValueRef<" + TypeTraits<TObjRef>::TypeStr() + ">"; }
  static std::string TypeSchema() {
    return std::string("{\"type\":\"") + StaticTypeKey::kTVMFFIObjectRValueRef + "\",\"args\":[" +
           TypeTraits<TObjRef>::TypeSchema() + "]}";
  }

private:
  /** The pointer inside the caller's ObjectPtr. Typed as ObjectPtr declares it, because compilers assume that pointers
   * to different types do not alias. */
  static Object **Place(const TVMFFIAny *src) { return static_cast<Object **>(src->v_ptr); }
  /** The object behind the pointer as a borrowed value; None if it was moved out already. */
  static TVMFFIAny Held(const TVMFFIAny *src) {
    TVMFFIAny held;
    detail::ObjectUnsafe::PutObjectOrNone(reinterpret_cast<TVMFFIObject *>(*Place(src)), &held);
    return held;
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_RVALUE_REF_H_ */
