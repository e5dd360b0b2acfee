/* unchanged_or.h - UnchangedOr<T>: the result of a mutation: a replacement of type T, or a marker that the value stays
 * unchanged. 16 bytes, an Any.
 *
 *   UnchangedOr<Expr> changed = ...;
 *   copy->a = std::move(changed).ValueOrUnchanged(std::move(copy->a));
 *
 * The replacement can be moved out once. None is a valid replacement. */
#ifndef TVM_FFI_EXTRA_UNCHANGED_OR_H_
#define TVM_FFI_EXTRA_UNCHANGED_OR_H_

#include <tvm/ffi/expected.h>
#include <tvm/ffi/function_detail.h>

namespace tvm::ffi {

/** The marker for an unchanged value. */
struct Unchanged {
  /** The marker as a C value. */
  TVMFFIAny CopyToTVMFFIAny() const noexcept {
    TVMFFIAny raw;
    detail::PutInt64(kTVMFFIUnchanged, 0, &raw);
    return raw;
  }
  /** The marker as a value. */
  operator Any() const noexcept { return detail::AnyUnsafe::MoveTVMFFIAnyRawToAny(CopyToTVMFFIAny()); }
};

template <typename T> class UnchangedOr;

template <typename T, typename U>
inline constexpr bool type_subsumes_v<UnchangedOr<T>, UnchangedOr<U>> = type_subsumes_v<T, U>;

namespace detail {
template <typename T> inline constexpr bool is_unchanged_or_v = false;
template <typename T> inline constexpr bool is_unchanged_or_v<UnchangedOr<T>> = true;
struct UnchangedOrUnsafe;
} // namespace detail

/** A replacement of type T, or the marker that the value stays unchanged. */
template <typename T> class UnchangedOr {
  static_assert(!std::is_base_of_v<Error, std::remove_cv_t<T>>, "a value does not become an error: write Expected");
  template <typename U>
  static constexpr bool kIsValue =
      !std::is_same_v<U, Unchanged> && !detail::is_unchanged_or_v<U> && !detail::is_expected_v<U> &&
      !detail::is_unexpected_v<U> && !std::is_base_of_v<Error, U>;
  template <typename U> static constexpr bool kIsTarget = std::is_same_v<U, Any> || TypeTraits<U>::storage_enabled;

public:
  /** The value stays unchanged. */
  UnchangedOr(Unchanged unchanged) noexcept : data_(unchanged.operator Any()) {}
  /** A replacement. */
  UnchangedOr(T value) : data_(std::move(value)) {}
  /** A replacement, converted to T. */
  template <typename U, typename = std::enable_if_t<kIsValue<std::decay_t<U>> && std::is_convertible_v<U, T>>>
  UnchangedOr(U &&value) : UnchangedOr(static_cast<T>(std::forward<U>(value))) {}
  /** From an UnchangedOr of another type, whose replacement is converted if it is not a T already. */
  template <typename U, typename = std::enable_if_t<type_subsumes_v<T, U> || std::is_convertible_v<U, T>>>
  UnchangedOr(UnchangedOr<U> other) {
    if (type_subsumes_v<T, U> || other.IsUnchanged()) {
      data_ = std::move(other.data_);
    } else {
      data_ = Any(static_cast<T>(std::move(other).ValueUnchecked()));
    }
  }

  /** Whether the value stays unchanged. */
  bool IsUnchanged() const & noexcept { return data_.type_index() == kTVMFFIUnchanged; }
  /** Whether the value stays, or its replacement is the value itself, as for an object that was changed in place. */
  bool UnchangedOrSameAs(const T &original) const & noexcept {
    return IsUnchanged() || AnyView(data_).same_as(AnyView(original));
  }

  /** The replacement, or the original, which is copied or moved. */
  TVM_FFI_INLINE T ValueOrUnchanged(const T &original) && {
    return IsUnchanged() ? original : std::move(*this).ValueUnchecked();
  }
  /** The replacement, or the original, which is moved. */
  TVM_FFI_INLINE T ValueOrUnchanged(T &&original) && {
    return IsUnchanged() ? std::move(original) : std::move(*this).ValueUnchecked();
  }
  /** The replacement, or the original, which is copied. */
  template <typename U = T, typename = std::enable_if_t<std::is_same_v<T, Any> && std::is_same_v<U, T>>>
  TVM_FFI_INLINE Any ValueOrUnchanged(AnyView original) && {
    return IsUnchanged() ? Any(original) : std::move(*this).ValueUnchecked();
  }
  /** The replacement. The caller knows that there is one. */
  TVM_FFI_INLINE T ValueUnchecked() && { return detail::AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(data_)); }

  /** The content as a U, by the rules of Any::as. U may be an UnchangedOr. */
  template <typename U, typename = std::enable_if_t<kIsTarget<U>>> std::optional<U> as() && {
    return std::move(data_).template as<U>();
  }
  /** The content as a U; TypeError if it is not a U. */
  template <typename U, typename = std::enable_if_t<kIsTarget<U>>> U as_or_throw() && {
    return std::move(data_).template as_or_throw<U>();
  }

private:
  UnchangedOr(UnsafeInit, Any data) noexcept : data_(std::move(data)) {}

  Any data_;

  template <typename> friend class UnchangedOr;
  template <typename, typename> friend struct TypeTraits;
  friend struct detail::UnchangedOrUnsafe;
};

namespace detail {

/** Access to the value inside an UnchangedOr. */
struct UnchangedOrUnsafe {
  template <typename T> TVM_FFI_INLINE static UnchangedOr<T> MoveFromTVMFFIAny(TVMFFIAny raw) {
    return UnchangedOr<T>(UnsafeInit{}, AnyUnsafe::MoveTVMFFIAnyRawToAny(raw));
  }
  template <typename T> TVM_FFI_INLINE static TVMFFIAny MoveToTVMFFIAny(UnchangedOr<T> &&result) noexcept {
    return AnyUnsafe::MoveAnyToTVMFFIAny(std::move(result.data_));
  }
};

} // namespace detail

/** As a value: the T, or ffi.Unchanged. */
template <typename T> struct TypeTraits<UnchangedOr<T>> : TypeTraitsBase {
  TVM_FFI_INLINE static void CopyToAnyView(const UnchangedOr<T> &src, TVMFFIAny *result) {
    *result = *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(src.data_);
  }
  TVM_FFI_INLINE static void MoveToAny(UnchangedOr<T> src, TVMFFIAny *result) {
    *result = detail::UnchangedOrUnsafe::MoveToTVMFFIAny(std::move(src));
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    if constexpr (std::is_same_v<T, Any>) {
      return src->type_index != kTVMFFIError;
    } else {
      return src->type_index == kTVMFFIUnchanged || TypeTraits<T>::CheckAnyStrict(src);
    }
  }
  TVM_FFI_INLINE static UnchangedOr<T> CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return UnchangedOr<T>(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src));
  }
  TVM_FFI_INLINE static UnchangedOr<T> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return UnchangedOr<T>(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
  }
  TVM_FFI_INLINE static std::optional<UnchangedOr<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    if (CheckAnyStrict(src)) return CopyFromAnyViewAfterCheck(src);
    if constexpr (!std::is_same_v<T, Any>) {
      if (std::optional<T> value = TypeTraits<T>::TryCastFromAnyView(src)) return UnchangedOr<T>(*std::move(value));
    }
    return std::nullopt;
  }
  static std::string TypeStr() { return "UnchangedOr<" + detail::Type2Str<T>::v() + ">"; }
  static std::string TypeSchema() { return "{\"type\":\"UnchangedOr\",\"args\":[" + detail::TypeSchema<T>::v() + "]}"; }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_UNCHANGED_OR_H_ */
