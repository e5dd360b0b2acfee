/* variant.h - Variant<A, B, ...>: a value that is one of these types. 16 bytes, an Any. */
#ifndef TVM_FFI_CONTAINER_VARIANT_H_
#define TVM_FFI_CONTAINER_VARIANT_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/container_detail.h>
#include <tvm/ffi/function_detail.h>
#include <tvm/ffi/optional.h>

namespace tvm::ffi {

/** A value of one of several types. */
template <typename... V> class Variant {
  static_assert(detail::CheckElements<V...>());

public:
  static constexpr bool _type_container_is_exact = false;
  /** Whether every T is one of the types. */
  template <typename T> static constexpr bool variant_contains_v = (type_subsumes_v<V, T> || ...);
  /** For signatures: valid if every T is one of the types. */
  template <typename T> using enable_if_variant_contains_t = std::enable_if_t<variant_contains_v<T>>;

  /** From a value of one of the types. */
  template <typename T, typename = enable_if_variant_contains_t<T>> Variant(T value) : data_(std::move(value)) {}
  template <typename T, typename = enable_if_variant_contains_t<T>> TVM_FFI_INLINE Variant &operator=(T value) {
    data_ = Any(std::move(value));
    return *this;
  }
  TVM_FFI_INLINE ~Variant() = default;
  TVM_FFI_INLINE Variant(const Variant &) = default;
  TVM_FFI_INLINE Variant(Variant &&) noexcept = default;
  TVM_FFI_INLINE Variant &operator=(const Variant &) = default;
  TVM_FFI_INLINE Variant &operator=(Variant &&) noexcept = default;

  /** The value if it is a T. */
  template <typename T, typename = enable_if_variant_contains_t<T>> TVM_FFI_INLINE std::optional<T> as() const {
    return data_.as<T>();
  }
  /** The object as a T, borrowed; null if it is not a T. */
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Object, T>>> TVM_FFI_INLINE const T *as() const {
    return data_.as<T>();
  }
  /** The value, converted to T; TypeError if it does not convert. */
  template <typename T, typename = enable_if_variant_contains_t<T>> TVM_FFI_INLINE T get() const & {
    return data_.cast<T>();
  }
  /** As get() const, but moves the value out. */
  template <typename T, typename = enable_if_variant_contains_t<T>> TVM_FFI_INLINE T get() && {
    return std::move(data_).cast<T>();
  }
  /** The type key of the value. */
  std::string GetTypeKey() const { return data_.GetTypeKey(); }
  /** Whether both hold the same object, or equal plain data. */
  bool same_as(const Variant &other) const { return data_.same_as(other.data_); }

private:
  explicit Variant(UnsafeInit, Any data) : data_(std::move(data)) {}
  /** For a hash and equality of identity: the object, null for plain data. */
  ObjectPtr<Object> Identity() const { return data_.as<ObjectPtr<Object>>().value_or(nullptr); }

  Any data_;

  friend struct TypeTraits<Variant>;
  friend struct ObjectPtrHash;
  friend struct ObjectPtrEqual;
};

template <typename... V> inline constexpr bool use_default_type_traits_v<Variant<V...>> = false;

/** A value of one of the types stays unchanged. Any other value is converted to the first possible type. */
template <typename... V> struct TypeTraits<Variant<V...>> : TypeTraitsBase {
  TVM_FFI_INLINE static void CopyToAnyView(const Variant<V...> &src, TVMFFIAny *result) {
    *result = *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(src.data_);
  }
  TVM_FFI_INLINE static void MoveToAny(Variant<V...> src, TVMFFIAny *result) {
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(src.data_));
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return (TypeTraits<V>::CheckAnyStrict(src) || ...);
  }
  TVM_FFI_INLINE static Variant<V...> CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return Variant<V...>(UnsafeInit{}, AnyView::CopyFromTVMFFIAny(*src));
  }
  TVM_FFI_INLINE static Variant<V...> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return Variant<V...>(UnsafeInit{}, detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
  }
  static std::optional<Variant<V...>> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Variant<V...>> result;
    if (CheckAnyStrict(src)) {
      result = CopyFromAnyViewAfterCheck(src);
    } else {
      (void)(Try<V>(src, &result) || ...);
    }
    return result;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return detail::NoneOf<V...>(src); }
  static std::string TypeStr() { return detail::ContainerTypeStr<V...>("Variant"); }
  static std::string TypeSchema() { return detail::ContainerTypeSchema<V...>("Variant"); }

private:
  template <typename T> static bool Try(const TVMFFIAny *src, std::optional<Variant<V...>> *result) {
    std::optional<T> value = TypeTraits<T>::TryCastFromAnyView(src);
    if (value.has_value()) *result = Variant<V...>(UnsafeInit{}, Any(*std::move(value)));
    return value.has_value();
  }
};

template <typename... V> TVM_FFI_INLINE size_t ObjectPtrHash::operator()(const Variant<V...> &variant) const {
  return (*this)(variant.Identity());
}
template <typename... V>
TVM_FFI_INLINE bool ObjectPtrEqual::operator()(const Variant<V...> &left, const Variant<V...> &right) const {
  return left.Identity() == right.Identity();
}

template <typename... V, typename T>
inline constexpr bool type_subsumes_v<Variant<V...>, T> = (type_subsumes_v<V, T> || ...);
template <typename... V> inline constexpr bool type_subsumes_v<Variant<V...>, Variant<V...>> = true;

} // namespace tvm::ffi

#endif /* TVM_FFI_CONTAINER_VARIANT_H_ */
