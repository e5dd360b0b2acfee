/* stl_base.h - shared by the traits of containers of the standard library. Programs include extra/stl.h. */
#ifndef TVM_FFI_EXTRA_STL_BASE_H_
#define TVM_FFI_EXTRA_STL_BASE_H_

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function_detail.h>

#include <optional>
#include <string>
#include <utility>

namespace tvm::ffi::detail {

/** Traits of a type that is copied into a new object. Derived provides ToRef(Self), which makes a reference to that
 * object. */
template <typename Derived, typename Self, bool kConvertEnabled> struct CopiedTraitsBase : TypeTraitsBase {
  static constexpr bool convert_enabled = kConvertEnabled;
  static constexpr bool storage_enabled = false;
  static constexpr bool kNeedsOwner = true;

  static void CopyToAnyView(const Self &, TVMFFIAny *) {
    static_assert(sizeof(Self) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    auto ref = Derived::ToRef(std::move(src));
    TypeTraits<decltype(ref)>::MoveToAny(std::move(ref), result);
  }
};

/* ---- Sequences ---- */

/** The sequence of a value, borrowed from an Array or List, or owned after a wide conversion (widen.h). */
class SourceItems {
public:
  explicit SourceItems(const TVMFFIAny *src) {
    if (src->type_index != kTVMFFIArray && src->type_index != kTVMFFIList) {
      owned_ = WideItems(src);
      if (owned_ == nullptr) return;
      src = AnyUnsafe::TVMFFIAnyPtrFromAny(owned_);
    }
    items_ = ObjectUnsafe::RawObjectPtrFromUnowned<SeqBaseObj>(src->v_obj);
  }
  const SeqBaseObj &operator*() const { return *items_; }
  const SeqBaseObj *operator->() const { return items_; }
  bool operator==(std::nullptr_t) const { return items_ == nullptr; }
  bool operator!=(std::nullptr_t) const { return items_ != nullptr; }

private:
  const SeqBaseObj *items_ = nullptr;
  Any owned_;
};

/** Traits of sequences whose items are all of type T. */
template <typename Derived, typename Self, typename T>
struct CopiedSeqTraitsBase : CopiedTraitsBase<Derived, Self, convertible_or_any_v<T>> {
  static constexpr int32_t field_static_type_index = kTVMFFIArray;

  static Array<Any> ToRef(Self src) {
    Array<Any> items;
    items.reserve(static_cast<int64_t>(src.size()));
    for (auto &&item : src) items.push_back(Any(T(std::move(item))));
    return items;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    SourceItems items(src);
    std::string name = GivenClass(src), found = name;
    if (items == nullptr) return found;
    for (size_t i = 0; i < items->size() && !MismatchAt<T>(items->begin()[i], i, &found, name.c_str()); ++i) continue;
    return found;
  }
};

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_EXTRA_STL_BASE_H_ */
