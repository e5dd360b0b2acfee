/* optional.h - Optional<T>: a T or nothing, which is None as a value.
 *
 * Its layout is part of the ABI, as it stands in fields: a pointer, null for nothing, where T is one; a value where T
 * can be one; a std::optional<T> otherwise. */
#ifndef TVM_FFI_OPTIONAL_H_
#define TVM_FFI_OPTIONAL_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/string.h>

#include <optional>

namespace tvm {
namespace ffi {

template <typename T> inline constexpr bool is_optional_type_v = false;
template <typename T> inline constexpr bool is_optional_type_v<Optional<T>> = true;
template <typename T>
inline constexpr bool use_object_ref_optional_v = std::is_base_of_v<ObjectRef, T> && !is_optional_type_v<T>;
template <typename T> inline constexpr bool is_object_ptr_type_v = false;
template <typename TObject> inline constexpr bool is_object_ptr_type_v<ObjectPtr<TObject>> = true;
template <typename T> inline constexpr bool is_arc_type_v = false;
template <typename TObject> inline constexpr bool is_arc_type_v<Arc<TObject>> = true;
template <typename T>
inline constexpr bool use_object_ptr_optional_v =
    use_object_ref_optional_v<T> || is_object_ptr_type_v<T> || is_arc_type_v<T>;

namespace detail {

[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowBadOptionalAccess() {
  TVM_FFI_THROW(RuntimeError) << "Bad optional access: there is no value";
  TVM_FFI_UNREACHABLE();
}

/* ---- The three layouts: Has, Copy and Move where there is a value, and the store as a value of the ABI ---- */

/* Of what cannot be in an Any. */
template <typename T> class PlainOptionalStore {
public:
  PlainOptionalStore() = default;
  explicit PlainOptionalStore(T value) : data_(std::move(value)) {}
  bool Has() const noexcept { return data_.has_value(); }
  const T &Copy() const { return *data_; }
  T &&Move() { return *std::move(data_); }

private:
  std::optional<T> data_;
};

/* Of values: None for nothing, so that nothing inside something is nothing. */
template <typename T> class AnyOptionalStore {
public:
  AnyOptionalStore() = default;
  explicit AnyOptionalStore(T value) : data_(std::move(value)) {}
  explicit AnyOptionalStore(UnsafeInit, Any data) : data_(std::move(data)) {}
  bool Has() const noexcept { return data_ != nullptr; }
  T Copy() const { return AnyUnsafe::CopyFromAnyViewAfterCheck<T>(data_); }
  T Move() {
    T value = AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(data_));
    data_.reset();
    return value;
  }
  const Any &data() const { return data_; }
  Any &data() { return data_; }

private:
  Any data_;
};

/* Of pointers: null for nothing. */
template <typename T> class PointerOptionalStore {
public:
  PointerOptionalStore() = default;
  explicit PointerOptionalStore(T value) {
    if constexpr (use_object_ref_optional_v<T>) {
      data_ = ObjectUnsafe::ObjectPtrFromObjectRef<Object>(std::move(value));
    } else {
      data_ = std::move(value);
    }
  }
  bool Has() const noexcept { return data_ != nullptr; }
  T Copy() const { return FromPtr(data_); }
  T Move() { return FromPtr(std::move(data_)); }
  const ObjectPtr<Object> &data() const { return data_; }

private:
  static T FromPtr(ObjectPtr<Object> ptr) {
    if constexpr (use_object_ref_optional_v<T>) {
      return ObjectUnsafe::ObjectRefFromObjectPtr<T>(std::move(ptr));
    } else {
      using TObject = std::remove_reference_t<decltype(*std::declval<T>())>;
      auto typed =
          ObjectUnsafe::ObjectPtrFromOwned<TObject>(ObjectUnsafe::MoveObjectPtrToTVMFFIObjectPtr(std::move(ptr)));
      if constexpr (is_arc_type_v<T>) {
        return ObjectUnsafe::ArcFromObjectPtr(std::move(typed));
      } else {
        return typed;
      }
    }
  }

  ObjectPtr<Object> data_;
};

template <typename T, typename = void> struct OptionalStoreOf {
  using type = PlainOptionalStore<T>;
};
template <typename T> struct OptionalStoreOf<T, std::enable_if_t<use_object_ptr_optional_v<T>>> {
  using type = PointerOptionalStore<T>;
};
template <typename T>
struct OptionalStoreOf<T, std::enable_if_t<TypeTraits<T>::storage_enabled && !use_object_ptr_optional_v<T>>> {
  using type = AnyOptionalStore<T>;
};

/* The class of objects that a pointer is to. */
template <typename T, typename = void> struct ContainerTypeOf {
  using type = typename T::ContainerType;
};
template <typename TObject> struct ContainerTypeOf<ObjectPtr<TObject>> {
  using type = TObject;
};
template <typename TObject> struct ContainerTypeOf<Arc<TObject>> {
  using type = TObject;
};

/* Members that only an Optional of a pointer has. */
template <typename T, bool = use_object_ptr_optional_v<T>> class OptionalBase {
protected:
  using Store = typename OptionalStoreOf<T>::type;
  OptionalBase() = default;
  explicit OptionalBase(Store store) : store_(std::move(store)) {}
  Store store_;
};
template <typename T> class OptionalBase<T, true> {
public:
  using ContainerType = typename ContainerTypeOf<T>::type;

  /* The object, borrowed; null for nothing. */
  auto get() const {
    if constexpr (use_object_ref_optional_v<T>) {
      return static_cast<const ContainerType *>(store_.data().get());
    } else {
      return static_cast<ContainerType *>(store_.data().get());
    }
  }
  auto operator->() const { return get(); }
  bool unique() const { return store_.data().unique(); }
  int use_count() const { return store_.data().use_count(); }

protected:
  using Store = PointerOptionalStore<T>;
  OptionalBase() = default;
  explicit OptionalBase(Store store) : store_(std::move(store)) {}
  Store store_;
};

/* left == right, or the opposite; where they give no bool (an expression of them), that, with its own false. */
template <bool kEqual, typename L, typename R> TVM_FFI_INLINE auto CompareValues(const L &left, const R &right) {
  if constexpr (kEqual) {
    return left == right;
  } else {
    return left != right;
  }
}

} // namespace detail

template <typename T, typename> class Optional : public detail::OptionalBase<T> {
  using Base = detail::OptionalBase<T>;
  using Store = typename Base::Store;
  using Base::store_;

public:
  using value_type = T;

  Optional() = default;
  Optional(std::nullopt_t) {}
  template <typename Null,
            typename = std::enable_if_t<std::is_same_v<Null, std::nullptr_t> && TypeTraits<T>::storage_enabled>>
  Optional(Null) {}
  explicit Optional(UnsafeInit) {}
  TVM_FFI_INLINE Optional(T value) : Base(Store(std::move(value))) {}
  Optional(std::optional<T> value) {
    if (value.has_value()) store_ = Store(*std::move(value));
  }
  TVM_FFI_INLINE ~Optional() = default;
  TVM_FFI_INLINE Optional(const Optional &) = default;
  TVM_FFI_INLINE Optional(Optional &&) noexcept = default;
  TVM_FFI_INLINE Optional &operator=(const Optional &) = default;
  TVM_FFI_INLINE Optional &operator=(Optional &&) noexcept = default;
  TVM_FFI_INLINE Optional &operator=(T value) {
    store_ = Store(std::move(value));
    return *this;
  }
  Optional &operator=(std::nullopt_t) {
    store_ = Store();
    return *this;
  }

  TVM_FFI_INLINE bool has_value() const noexcept { return store_.Has(); }
  TVM_FFI_INLINE explicit operator bool() const noexcept { return store_.Has(); }

  /* RuntimeError if there is none. The && form leaves nothing behind. */
  TVM_FFI_INLINE decltype(auto) value() const & {
    if (TVM_FFI_PREDICT_FALSE(!has_value())) detail::ThrowBadOptionalAccess();
    return store_.Copy();
  }
  TVM_FFI_INLINE decltype(auto) value() && {
    if (TVM_FFI_PREDICT_FALSE(!has_value())) detail::ThrowBadOptionalAccess();
    return store_.Move();
  }
  template <typename U = std::remove_cv_t<T>> TVM_FFI_INLINE T value_or(U &&fallback) const {
    return has_value() ? T(store_.Copy()) : T(std::forward<U>(fallback));
  }
  /* Only where there is one. */
  TVM_FFI_INLINE decltype(auto) operator*() const & { return store_.Copy(); }
  TVM_FFI_INLINE decltype(auto) operator*() && { return store_.Move(); }

  /* As another type, as of Any. */
  template <typename U, typename = std::enable_if_t<detail::convertible_or_any_v<U> || std::is_base_of_v<Object, U>>>
  TVM_FFI_INLINE auto as() const {
    return Value().template as<U>();
  }
  template <typename U, typename = std::enable_if_t<detail::convertible_or_any_v<U>>>
  TVM_FFI_INLINE auto as_or_throw() const & {
    return Value().template as_or_throw<U>();
  }
  template <typename U, typename = std::enable_if_t<detail::storage_enabled_v<U>>>
  TVM_FFI_INLINE auto as_or_throw() && {
    U value = Value().template as_or_throw<U>();
    store_ = Store();
    return value;
  }

  /* Identity. */
  template <typename U = T, typename = std::enable_if_t<TypeTraits<U>::storage_enabled>>
  bool same_as(const Optional &other) const {
    return AnyView(*this).same_as(AnyView(other));
  }
  template <typename U,
            typename = std::enable_if_t<std::is_base_of_v<ObjectRef, U> || is_object_ptr_type_v<U> || is_arc_type_v<U>>,
            typename = void>
  bool same_as(const U &other) const {
    return AnyView(*this).same_as(AnyView(other));
  }

  /* Equality is that of T; nothing equals nothing. */
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
  auto operator==(const U &other) const {
    using Result = decltype(detail::CompareValues<true>(store_.Copy(), other));
    return has_value() ? detail::CompareValues<true>(store_.Copy(), other) : Result(false);
  }
  template <typename U, typename = std::enable_if_t<!is_optional_type_v<U> && !std::is_same_v<U, std::nullopt_t> &&
                                                    !std::is_same_v<U, std::nullptr_t>>>
  auto operator!=(const U &other) const {
    using Result = decltype(detail::CompareValues<false>(store_.Copy(), other));
    return has_value() ? detail::CompareValues<false>(store_.Copy(), other) : Result(true);
  }

private:
  explicit Optional(Store store) : Base(std::move(store)) {}
  Any Value() const { return has_value() ? Any(T(store_.Copy())) : Any(); }
  template <bool kEqual, typename Other> auto CompareOptional(bool other_has, const Other &other) const {
    using Result = decltype(detail::CompareValues<kEqual>(store_.Copy(), *other));
    if (has_value() && other_has) return detail::CompareValues<kEqual>(store_.Copy(), *other);
    return Result((has_value() == other_has) == kEqual);
  }

  friend struct TypeTraits<Optional>;
};

template <typename T> inline constexpr bool use_default_type_traits_v<Optional<T>> = false;

template <typename T> struct TypeTraits<Optional<T>> : TypeTraitsBase {
  static constexpr bool storage_enabled = TypeTraits<T>::storage_enabled;
  static constexpr bool kIsAny = storage_enabled && !use_object_ptr_optional_v<T>;
  static constexpr bool kNeedsOwner = detail::needs_owner_v<T>;
  using Store = typename detail::OptionalStoreOf<T>::type;

  TVM_FFI_INLINE static void CopyToAnyView(const Optional<T> &src, TVMFFIAny *result) {
    if constexpr (kIsAny) {
      *result = *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(src.store_.data());
    } else if constexpr (use_object_ptr_optional_v<T>) {
      detail::ObjectUnsafe::PutObjectOrNone(detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectPtr(src.store_.data()),
                                            result);
    } else if (src.has_value()) {
      TypeTraits<T>::CopyToAnyView(*src, result);
    } else {
      detail::PutNone(result);
    }
  }
  TVM_FFI_INLINE static void MoveToAny(Optional<T> src, TVMFFIAny *result) {
    if constexpr (kIsAny) {
      *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(src.store_.data()));
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
      return Optional<T>(Store(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src)));
    } else {
      if (src->type_index == kTVMFFINone) return std::nullopt;
      return TypeTraits<T>::CopyFromAnyViewAfterCheck(src);
    }
  }
  TVM_FFI_INLINE static Optional<T> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    if constexpr (kIsAny) {
      return Optional<T>(Store(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src)));
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

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_OPTIONAL_H_ */
