/* optional.h - Optional<T>: a T or nothing; as a value, nothing is None.
 *
 * The layout is part of the ABI, because fields may have it. If T is a pointer or a reference to an object: a pointer,
 * null for nothing. If a T can be in an Any: an Any, None for nothing. Otherwise a std::optional<T>. */
#ifndef TVM_FFI_OPTIONAL_H_
#define TVM_FFI_OPTIONAL_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/string.h>

#include <optional>

namespace tvm::ffi {

/** Whether T is an Optional. */
template <typename T> inline constexpr bool is_optional_type_v = false;
template <typename T> inline constexpr bool is_optional_type_v<Optional<T>> = true;
/** Whether an Optional<T> is stored as a reference. */
template <typename T>
inline constexpr bool use_object_ref_optional_v = std::is_base_of_v<ObjectRef, T> && !is_optional_type_v<T>;
/** Whether T is an ObjectPtr. */
template <typename T> inline constexpr bool is_object_ptr_type_v = false;
template <typename TObject> inline constexpr bool is_object_ptr_type_v<ObjectPtr<TObject>> = true;
/** Whether T is an Arc. */
template <typename T> inline constexpr bool is_arc_type_v = false;
template <typename TObject> inline constexpr bool is_arc_type_v<Arc<TObject>> = true;
/** Whether an Optional<T> is stored as one pointer. */
template <typename T>
inline constexpr bool use_object_ptr_optional_v =
    use_object_ref_optional_v<T> || is_object_ptr_type_v<T> || is_arc_type_v<T>;

namespace detail {

[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowBadOptionalAccess() {
  TVM_FFI_THROW(RuntimeError) << "Bad optional access: the value is missing";
  TVM_FFI_UNREACHABLE();
}

/** The class that an ObjectPtr or Arc points to. */
template <typename T> using PointeeOf = std::remove_reference_t<decltype(*std::declval<T>())>;

/* ---- The layouts. Each store has Has, and Copy and Move, which require a value ---- */

/** The store of a T that cannot be in an Any. */
template <typename T, typename = void> class OptionalStore {
protected:
  OptionalStore() = default;
  explicit OptionalStore(T value) : data_(std::move(value)) {}
  bool Has() const noexcept { return data_.has_value(); }
  const T &Copy() const { return *data_; }
  T &&Move() { return *std::move(data_); }

private:
  std::optional<T> data_;
};

/** The store of a T that can be in an Any: None for nothing. An Optional of an Optional that holds nothing is itself
 * nothing. */
template <typename T>
class OptionalStore<T, std::enable_if_t<TypeTraits<T>::storage_enabled && !use_object_ptr_optional_v<T>>> {
protected:
  OptionalStore() = default;
  explicit OptionalStore(T value) : data_(std::move(value)) {}
  explicit OptionalStore(UnsafeInit, Any data) : data_(std::move(data)) {}
  bool Has() const noexcept { return data_ != nullptr; }
  T Copy() const { return AnyUnsafe::CopyFromAnyViewAfterCheck<T>(data_); }
  T Move() {
    T value = AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(data_));
    data_.reset();
    return value;
  }

  Any data_;
};

/** The store of references: null for nothing. */
template <typename T> class OptionalStore<T, std::enable_if_t<use_object_ref_optional_v<T>>> {
public:
  using ContainerType = typename T::ContainerType;

  /** The object, borrowed; null for nothing. */
  const ContainerType *get() const { return static_cast<const ContainerType *>(data_.get()); }
  const ContainerType *operator->() const { return get(); }
  bool unique() const { return data_.unique(); }
  int use_count() const { return data_.use_count(); }

protected:
  OptionalStore() = default;
  explicit OptionalStore(T value) : data_(ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(value))) {}
  bool Has() const noexcept { return data_ != nullptr; }
  T Copy() const { return ObjectUnsafe::ObjectRefFromObjectPtr<T>(data_); }
  T Move() { return ObjectUnsafe::ObjectRefFromObjectPtr<T>(std::move(data_)); }
  TVMFFIObject *Header() const { return ObjectUnsafe::TVMFFIObjectPtrFromObjectPtr(data_); }

private:
  ObjectPtr<Object> data_;
};

/** The store of pointers: null for nothing. The store derives from ObjectPtr, so it can be used as one. */
template <typename T>
class OptionalStore<T, std::enable_if_t<is_object_ptr_type_v<T> || is_arc_type_v<T>>> : public ObjectPtr<PointeeOf<T>> {
public:
  using ContainerType = PointeeOf<T>;

protected:
  OptionalStore() = default;
  explicit OptionalStore(T value) : ObjectPtr<ContainerType>(std::move(value)) {}
  bool Has() const noexcept { return this->get() != nullptr; }
  T Copy() const { return FromPtr(*this); }
  T Move() { return FromPtr(std::move(*this)); }
  TVMFFIObject *Header() const { return ObjectUnsafe::TVMFFIObjectPtrFromObjectPtr(*this); }

private:
  static T FromPtr(ObjectPtr<ContainerType> ptr) {
    if constexpr (is_arc_type_v<T>) {
      return ObjectUnsafe::ArcFromObjectPtr(std::move(ptr));
    } else {
      return ptr;
    }
  }
};

/** The type of a comparison. The type must be named: in C++20 a compiler needs it before it tries the operands in
 * reverse order. */
template <typename L, typename R> using EqualResult = decltype(std::declval<const L &>() == std::declval<const R &>());
template <typename L, typename R>
using NotEqualResult = decltype(std::declval<const L &>() != std::declval<const R &>());

/** left == right, or left != right. The result need not be a bool: operators of T may build expressions. */
template <bool kEqual, typename L, typename R> TVM_FFI_INLINE auto CompareValues(const L &left, const R &right) {
  if constexpr (kEqual) {
    return left == right;
  } else {
    return left != right;
  }
}

} // namespace detail

/** A T or nothing. As a value, nothing is None. */
template <typename T, typename> class Optional : public detail::OptionalStore<T> {
  using Store = detail::OptionalStore<T>;
  using Store::Copy;
  using Store::Has;
  using Store::Move;

public:
  using value_type = T;

  Optional() = default;
  /** Nothing. */
  Optional(std::nullopt_t) {}
  /** Nothing; for references and pointers only. */
  template <typename Null,
            typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t> && use_object_ptr_optional_v<T>>>
  Optional(Null) {}
  /** Nothing. */
  explicit Optional(UnsafeInit) {}
  /** A value. */
  TVM_FFI_INLINE Optional(T value) : Store(std::move(value)) {}
  /** A value or nothing. */
  Optional(std::optional<T> value) {
    if (value.has_value()) *this = Optional(*std::move(value));
  }
  TVM_FFI_INLINE ~Optional() = default;
  TVM_FFI_INLINE Optional(const Optional &) = default;
  TVM_FFI_INLINE Optional(Optional &&) noexcept = default;
  TVM_FFI_INLINE Optional &operator=(const Optional &) = default;
  TVM_FFI_INLINE Optional &operator=(Optional &&) noexcept = default;
  TVM_FFI_INLINE Optional &operator=(T value) { return *this = Optional(std::move(value)); }
  Optional &operator=(std::nullopt_t) { return *this = Optional(); }
  template <typename Null,
            typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t> && TypeTraits<T>::storage_enabled>>
  Optional &operator=(Null) {
    return *this = Optional();
  }

  /** Whether there is a value. */
  TVM_FFI_INLINE bool has_value() const noexcept { return Has(); }
  /** Whether there is a value. */
  TVM_FFI_INLINE explicit operator bool() const noexcept { return Has(); }

  /** The value; RuntimeError if there is none. The && form leaves the Optional empty. */
  TVM_FFI_INLINE decltype(auto) value() const & {
    if (TVM_FFI_PREDICT_FALSE(!has_value())) detail::ThrowBadOptionalAccess();
    return Copy();
  }
  /** The value, moved out; RuntimeError if there is none. Leaves the Optional empty. */
  TVM_FFI_INLINE decltype(auto) value() && {
    if (TVM_FFI_PREDICT_FALSE(!has_value())) detail::ThrowBadOptionalAccess();
    return Move();
  }
  /** The value, or `fallback` if there is none. */
  template <typename U = std::remove_cv_t<T>> TVM_FFI_INLINE T value_or(U &&fallback) const {
    return has_value() ? T(Copy()) : T(std::forward<U>(fallback));
  }
  /** The value, which must exist. */
  TVM_FFI_INLINE decltype(auto) operator*() const & { return Copy(); }
  TVM_FFI_INLINE decltype(auto) operator*() && { return Move(); }

  /** The value, or None, as another type, by the rules of Any. */
  template <typename U, typename = std::enable_if_t<detail::convertible_or_any_v<U> || std::is_base_of_v<Object, U>>>
  TVM_FFI_INLINE auto as() const {
    return Value().template as<U>();
  }
  /** The value, or None, as another type; TypeError if it is not of that type. */
  template <typename U, typename = std::enable_if_t<detail::convertible_or_any_v<U>>>
  TVM_FFI_INLINE auto as_or_throw() const & {
    return Value().template as_or_throw<U>();
  }
  /** As as_or_throw() const, but leaves the Optional empty. */
  template <typename U, typename = std::enable_if_t<detail::storage_enabled_v<U>>>
  TVM_FFI_INLINE auto as_or_throw() && {
    U value = Value().template as_or_throw<U>();
    *this = Optional();
    return value;
  }

  /** Compares identity. */
  template <typename U = T, typename = std::enable_if_t<TypeTraits<U>::storage_enabled>>
  bool same_as(const Optional &other) const {
    return AnyView(*this).same_as(AnyView(other));
  }
  /** Whether the value is this object. */
  template <typename U,
            typename = std::enable_if_t<std::is_base_of_v<ObjectRef, U> || is_object_ptr_type_v<U> || is_arc_type_v<U>>,
            typename = void>
  bool same_as(const U &other) const {
    return AnyView(*this).same_as(AnyView(other));
  }

  /** Compares by the operators of T. Two empty Optionals are equal. */
  bool operator==(std::nullopt_t) const noexcept { return !has_value(); }
  bool operator!=(std::nullopt_t) const noexcept { return has_value(); }
  template <typename Null, typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t>>, typename = void>
  bool operator==(Null) const noexcept {
    return !has_value();
  }
  template <typename Null, typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t>>, typename = void>
  bool operator!=(Null) const noexcept {
    return has_value();
  }
  auto operator==(const Optional &other) const { return CompareOptional<true>(other.has_value(), other); }
  auto operator!=(const Optional &other) const { return CompareOptional<false>(other.has_value(), other); }
  auto operator==(const std::optional<T> &other) const { return CompareOptional<true>(other.has_value(), other); }
  auto operator!=(const std::optional<T> &other) const { return CompareOptional<false>(other.has_value(), other); }
  template <typename U, typename = std::enable_if_t<!is_optional_type_v<U> && !std::is_same_v<U, std::nullopt_t> &&
                                                    !std::is_same_v<U, std::nullptr_t>>>
  detail::EqualResult<T, U> operator==(const U &other) const {
    return has_value() ? detail::CompareValues<true>(Copy(), other) : detail::EqualResult<T, U>(false);
  }
  template <typename U, typename = std::enable_if_t<!is_optional_type_v<U> && !std::is_same_v<U, std::nullopt_t> &&
                                                    !std::is_same_v<U, std::nullptr_t>>>
  detail::NotEqualResult<T, U> operator!=(const U &other) const {
    return has_value() ? detail::CompareValues<false>(Copy(), other) : detail::NotEqualResult<T, U>(true);
  }

private:
  explicit Optional(UnsafeInit tag, Any data) : Store(tag, std::move(data)) {}
  Any Value() const { return has_value() ? Any(T(Copy())) : Any(); }
  template <bool kEqual, typename Other> auto CompareOptional(bool other_has, const Other &other) const {
    using Result = decltype(detail::CompareValues<kEqual>(Copy(), *other));
    if (has_value() && other_has) return detail::CompareValues<kEqual>(Copy(), *other);
    return Result((has_value() == other_has) == kEqual);
  }

  friend struct TypeTraits<Optional>;
};

template <typename T> inline constexpr bool use_default_type_traits_v<Optional<T>> = false;

template <typename T> struct TypeTraits<Optional<T>> : TypeTraitsBase {
  static constexpr bool convert_enabled = TypeTraits<T>::convert_enabled;
  static constexpr bool storage_enabled = TypeTraits<T>::storage_enabled;
  static constexpr bool kIsAny = storage_enabled && !use_object_ptr_optional_v<T>;
  static constexpr bool kNeedsOwner = detail::needs_owner_v<T>;

  TVM_FFI_INLINE static void CopyToAnyView(const Optional<T> &src, TVMFFIAny *result) {
    if constexpr (kIsAny) {
      *result = *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(src.data_);
    } else if constexpr (use_object_ptr_optional_v<T>) {
      detail::ObjectUnsafe::PutObjectOrNone(src.Header(), result);
    } else if (src.has_value()) {
      TypeTraits<T>::CopyToAnyView(*src, result);
    } else {
      detail::PutNone(result);
    }
  }
  TVM_FFI_INLINE static void MoveToAny(Optional<T> src, TVMFFIAny *result) {
    if constexpr (kIsAny) {
      *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(src.data_));
    } else if (src.has_value()) {
      TypeTraits<T>::MoveToAny(*std::move(src), result);
    } else {
      detail::PutNone(result);
    }
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFINone || TypeTraits<T>::CheckAnyStrict(src);
  }
  TVM_FFI_INLINE static Optional<T> CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    if constexpr (kIsAny) {
      return Optional<T>(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src));
    } else {
      if (src->type_index == kTVMFFINone) return std::nullopt;
      return TypeTraits<T>::CopyFromAnyViewAfterCheck(src);
    }
  }
  TVM_FFI_INLINE static Optional<T> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    if constexpr (kIsAny) {
      return Optional<T>(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
    } else {
      if (src->type_index == kTVMFFINone) return std::nullopt;
      return TypeTraits<T>::MoveFromAnyAfterCheck(src);
    }
  }
  TVM_FFI_INLINE static std::optional<Optional<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Optional<T>> result;
    if (src->type_index == kTVMFFINone) {
      result.emplace();
    } else if (std::optional<T> value = TypeTraits<T>::TryCastFromAnyView(src)) {
      result.emplace(*std::move(value));
    }
    return result;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return TypeTraits<T>::GetMismatchTypeInfo(src); }
  static std::string TypeStr() { return "Optional<" + TypeTraits<T>::TypeStr() + ">"; }
  static std::string TypeSchema() { return "{\"type\":\"Optional\",\"args\":[" + detail::TypeSchema<T>::v() + "]}"; }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_OPTIONAL_H_ */
