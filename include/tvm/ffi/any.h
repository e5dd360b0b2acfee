/* any.h - values of any type: AnyView borrows one, Any owns one. Both are 16 bytes, a TVMFFIAny.
 *
 *   as<T>()            T if the value is a T, else nullopt; for a class of objects a pointer, null if it is not a T
 *   as_or_throw<T>()   as as<T>(), with a TypeError instead of nullopt
 *   cast<T>()          T, converted if necessary (int to float, string to data type, ...); TypeError if impossible
 *   try_cast<T>()      as cast<T>(), with nullopt instead of the TypeError */
#ifndef TVM_FFI_ANY_H_
#define TVM_FFI_ANY_H_

#include <tvm/ffi/big_int_words.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/missing_header.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/string.h>
#include <tvm/ffi/type_traits.h>

namespace tvm {
namespace ffi {
namespace detail {

struct AnyUnsafe;

/* ---- Numbers outside a range. A mismatch that reports one is an OverflowError, any other mismatch a TypeError ---- */

inline constexpr const char *kOutsideTheRange = ", which is outside the range ";

/** The words of an integer beyond int64, borrowed. */
inline int_ops::WordsView BigIntWords(const TVMFFIAny *src) {
  const auto *n_words = reinterpret_cast<const size_t *>(src->v_obj + 1); /* the words follow the object */
  return {reinterpret_cast<const int64_t *>(n_words + 1), *n_words};
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::optional<uint64_t> BigIntToUint64(const TVMFFIAny *src) {
  if (src->type_index != kTVMFFIBigInt) return std::nullopt;
  int_ops::WordsView words = BigIntWords(src);
  if (words.size() != 2 || words[1] != 0) return std::nullopt;
  return static_cast<uint64_t>(words[0]);
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::optional<double> BigIntToDouble(const TVMFFIAny *src) {
  if (src->type_index != kTVMFFIBigInt) return std::nullopt;
  int_ops::WordsView words = BigIntWords(src);
  double value = int_ops::ToDouble(int_ops::DigitsOf(words));
  if (std::isinf(value)) return std::nullopt;
  return int_ops::IsNegative(words) ? -value : value;
}
/** An integer as text; of a very long one only the number of bits, because its digits take quadratic time. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string IntegerText(const TVMFFIAny *src) {
  if (src->type_index != kTVMFFIBigInt) return std::to_string(src->v_int64);
  int_ops::WordsView words = BigIntWords(src);
  if (words.size() > 16) return "an integer of more than " + std::to_string((words.size() - 1) * 64) + " bits";
  return int_ops::ToDecimal(int_ops::DigitsOf(words), int_ops::IsNegative(words));
}
/** OutsideRange for the number of a Python object (widen.h); "" for another value. */
std::string OutsideWideRange(const TVMFFIAny *src, int64_t min, uint64_t max);
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string OutsideRange(const TVMFFIAny *src, int64_t min, uint64_t max) {
  bool is_outside = src->type_index == kTVMFFIBigInt;
  if (src->type_index == kTVMFFIInt) {
    is_outside = src->v_int64 < min || (src->v_int64 > 0 && static_cast<uint64_t>(src->v_int64) > max);
  }
  if (!is_outside) {
    std::string found = OutsideWideRange(src, min, max);
    return found.empty() ? GivenClass(src) : found;
  }
  return IntegerText(src) + kOutsideTheRange + std::to_string(min) + " to " + std::to_string(max);
}
/** The shortest text that reads as the same double. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string FloatText(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}
/** OutsideFloat for the number of a Python object (widen.h); "" for another value. */
std::string OutsideWideFloat(const TVMFFIAny *src, double max);
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string OutsideFloat(const TVMFFIAny *src, double max) {
  std::string found = OutsideWideFloat(src, max);
  if (!found.empty()) return found;
  if (src->type_index == kTVMFFIFloat) {
    if (std::abs(src->v_float64) > max && !std::isinf(src->v_float64)) found = FloatText(src->v_float64);
  } else if (src->type_index == kTVMFFIBigInt) {
    std::optional<double> value = BigIntToDouble(src);
    if (!value.has_value() || *value > max || *value < -max) found = IntegerText(src);
  }
  if (found.empty()) return GivenClass(src);
  return found + kOutsideTheRange + "of a float, " + FloatText(-max) + " to " + FloatText(max);
}
/** Whether a description of GetMismatchTypeInfo is about a number outside a range, also of an item in a container. */
inline bool IsOutsideRange(const std::string &found) { return found.find(kOutsideTheRange) != std::string::npos; }

/** The description of a value that does not convert to any of several types: of the number, if it is outside the range
 * of one. */
template <typename... T> TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE std::string NoneOf(const TVMFFIAny *src) {
  std::string found;
  bool is_number = ((found = TypeTraits<T>::GetMismatchTypeInfo(src), IsOutsideRange(found)) || ...);
  return is_number ? found : GivenClass(src);
}

/** GetMismatchTypeInfo of a value, with the marks of error.h (widen.h). */
std::string DescribeMarked(std::string (*describe)(const TVMFFIAny *), const TVMFFIAny *value);

/** Throws "Cannot <verb> `source<link>target`". Out of line and shared by all types. */
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowMismatch(const TVMFFIAny *value, const char *verb,
                                                                           std::string (*describe)(const TVMFFIAny *),
                                                                           const char *link,
                                                                           const std::string &target) {
  std::string source = DescribeMarked(describe, value);
  if (IsOutsideRange(source)) {
    ThrowMarked("OverflowError", value, "Cannot convert " + source + ", to `" + target + "`");
  }
  ThrowMarked("TypeError", value, std::string("Cannot ").append(verb).append(" `") + source + link + target + "`");
}
template <typename T> [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void ThrowIsNot(const TVMFFIAny *value) {
  ThrowMismatch(value, "treat type", &TypeTraits<T>::GetMismatchTypeInfo, "` as type `", TypeTraits<T>::TypeStr());
}
template <typename T> [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void ThrowCannotConvert(const TVMFFIAny *value) {
  ThrowMismatch(value, "convert from type", &TypeTraits<T>::GetMismatchTypeInfo, "` to `", TypeTraits<T>::TypeStr());
}
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void DropObject(TVMFFIAny *owned) {
  ObjectUnsafe::DecRefObjectHandle(owned->v_obj);
  PutNone(owned);
}
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowIntegerTooLarge(uint64_t value) {
  TVM_FFI_THROW(OverflowError) << "Integer value " << value << " is too large to fit in int64_t. "
                               << "Cast it to int64_t first if its bits are meant.";
  TVM_FFI_UNREACHABLE();
}
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowFloatTooLarge() {
  TVM_FFI_THROW(OverflowError) << "a long double is too large to fit in a double";
  TVM_FFI_UNREACHABLE();
}

/** Whether a T can be in an Any; and whether an argument can be a T. */
template <typename T>
inline constexpr bool storage_enabled_v = std::is_same_v<T, Any> || TypeTraits<T>::storage_enabled;
template <typename T>
inline constexpr bool convertible_or_any_v = TypeTraits<T>::convert_enabled || std::is_same_v<T, Any>;

/** Whether a T can be a value. If it cannot, a static assert names T, and callers leave out code that would not compile
 * either. */
template <typename T> constexpr bool CheckCrossing() {
  if constexpr (!TypeTraits<T>::convert_enabled) {
    static_assert(!CheckHeader<T>() || TypeTraits<T>::convert_enabled,
                  "this type cannot be a value: it needs TypeTraits");
  }
  return TypeTraits<T>::convert_enabled;
}
/** Whether a T can be stored, as a field or a result. */
template <typename T, typename = void> inline constexpr bool is_kept_v = false;
template <typename T>
inline constexpr bool is_kept_v<
    T, std::void_t<decltype(TypeTraits<T>::MoveToAny(std::declval<T>(), static_cast<TVMFFIAny *>(nullptr)))>> = true;
template <typename T> constexpr bool CheckField() {
  if constexpr (std::is_same_v<T, Any>) {
    return true;
  } else if constexpr (CheckCrossing<T>()) {
    static_assert(is_kept_v<T>, "this type is borrowed, for parameters only: it cannot be kept");
    return is_kept_v<T>;
  } else {
    return false;
  }
}
/** Whether as<T>() can test if a value is a T. False for a type to which values only convert. */
template <typename T, typename = void> inline constexpr bool has_strict_check_v = false;
template <typename T>
inline constexpr bool has_strict_check_v<
    T, std::void_t<decltype(TypeTraits<T>::CheckAnyStrict(static_cast<const TVMFFIAny *>(nullptr)))>> = true;
template <typename T> constexpr bool CheckStrict() {
  if constexpr (CheckCrossing<T>()) {
    static_assert(has_strict_check_v<T>, "values only convert to this type: use cast or try_cast");
    return has_strict_check_v<T>;
  }
  return false;
}
/** Asserts that a T can be in an Any; the assert names T. Always true, so that no second error follows. */
template <typename T> constexpr bool CheckElement() {
  if constexpr (!storage_enabled_v<T>) {
    static_assert(!CheckHeader<T>() || storage_enabled_v<T>,
                  "this type cannot be in an Any: it needs TypeTraits with storage_enabled");
  }
  return true;
}

/** The result type of as<T>(). */
template <typename T> using AsResult = std::conditional_t<std::is_base_of_v<Object, T>, const T *, std::optional<T>>;

} // namespace detail

inline std::string TypeTraits<bool>::GetMismatchTypeInfo(const TVMFFIAny *src) {
  return detail::OutsideRange(src, 0, 1);
}

/** A borrowed value, such as an argument: the caller keeps it alive. */
class AnyView {
public:
  /** None. */
  AnyView() { detail::PutNone(&data_); }
  /** A view of the value; the value must outlive the view. */
  template <typename T, typename = std::enable_if_t<TypeTraits<T>::convert_enabled>>
  TVM_FFI_INLINE AnyView(const T &value) {
    TypeTraits<T>::CopyToAnyView(value, &data_);
  }
  template <typename T, typename = std::enable_if_t<TypeTraits<T>::convert_enabled>>
  TVM_FFI_INLINE AnyView &operator=(const T &value) {
    return *this = AnyView(value);
  }

  /** Becomes None. */
  void reset() { *this = AnyView(); }
  void swap(AnyView &other) noexcept { std::swap(data_, other.data_); }
  /** The type index of the value, a TVMFFITypeIndex or the index of a registered type. */
  int32_t type_index() const noexcept { return data_.type_index; }
  /** The type key of the value, such as "int" or "ffi.Array". */
  std::string GetTypeKey() const { return TypeIndexToTypeKey(data_.type_index); }
  /** Whether both have equal bits: both are the same object, or equal plain data. */
  bool same_as(const AnyView &other) const noexcept {
    return data_.type_index == other.data_.type_index && data_.zero_padding == other.data_.zero_padding &&
           data_.v_int64 == other.data_.v_int64;
  }
  bool operator==(std::nullptr_t) const noexcept { return data_.type_index == kTVMFFINone; }
  bool operator!=(std::nullptr_t) const noexcept { return data_.type_index != kTVMFFINone; }

  /** The value as a T if it is a T, without conversion: nullopt otherwise, a null pointer if T is a
   * class of objects. */
  template <typename T> TVM_FFI_INLINE detail::AsResult<T> as() const {
    if constexpr (std::is_base_of_v<Object, T>) {
      return as<const T *>().value_or(nullptr);
    } else {
      if constexpr (detail::CheckStrict<T>()) {
        if (TypeTraits<T>::CheckAnyStrict(&data_)) return TypeTraits<T>::CopyFromAnyViewAfterCheck(&data_);
      }
      return std::nullopt;
    }
  }
  /** The value as a T, without conversion; TypeError if it is not a T. */
  template <typename T> TVM_FFI_INLINE T as_or_throw() const {
    if constexpr (detail::CheckStrict<T>()) {
      if (TVM_FFI_PREDICT_FALSE(!TypeTraits<T>::CheckAnyStrict(&data_))) detail::ThrowIsNot<T>(&data_);
      return TypeTraits<T>::CopyFromAnyViewAfterCheck(&data_);
    }
  }
  /** The value converted to a T; TypeError if it does not convert. */
  template <typename T> TVM_FFI_INLINE T cast() const {
    if constexpr (detail::CheckCrossing<T>()) {
      std::optional<T> value = TypeTraits<T>::TryCastFromAnyView(&data_);
      if (TVM_FFI_PREDICT_FALSE(!value.has_value())) detail::ThrowCannotConvert<T>(&data_);
      return *std::move(value);
    }
  }
  /** The value converted to a T; nullopt if it does not convert. */
  template <typename T> TVM_FFI_INLINE std::optional<T> try_cast() const {
    if constexpr (detail::CheckCrossing<T>()) return TypeTraits<T>::TryCastFromAnyView(&data_);
  }

  /** Conversion to and from the C ABI. */
  TVMFFIAny CopyToTVMFFIAny() const { return data_; }
  /** A view with the bits of a C value, which the caller keeps alive. */
  static AnyView CopyFromTVMFFIAny(TVMFFIAny data) {
    AnyView view;
    view.data_ = data;
    return view;
  }

protected:
  TVMFFIAny data_;

  friend class Any;
  friend struct detail::AnyUnsafe;
};

namespace detail {

/** Copies borrowed strings and bytes to objects, and moves the object out of an ObjectRValueRef. */
TVM_FFI_NO_INLINE inline void OwnBorrowedContent(TVMFFIAny *data) {
  switch (data->type_index) {
  case kTVMFFIRawStr: TypeTraits<String>::MoveToAny(String(data->v_c_str), data); break;
  case kTVMFFIByteArrayPtr:
    TypeTraits<Bytes>::MoveToAny(Bytes(*static_cast<TVMFFIByteArray *>(data->v_ptr)), data);
    break;
  case kTVMFFIObjectRValueRef: {
    Object **place = static_cast<Object **>(data->v_ptr); /* the pointer inside an ObjectPtr */
    TVM_FFI_ICHECK(*place != nullptr) << "RValueRef already moved";
    ObjectUnsafe::PutObject(reinterpret_cast<TVMFFIObject *>(std::exchange(*place, nullptr)), data);
    break;
  }
  default: break;
  }
}

/** Makes an owned value of a view whose bits were copied. */
TVM_FFI_INLINE void InplaceConvertAnyViewToAny(TVMFFIAny *data, [[maybe_unused]] size_t extra_any_bytes = 0) {
  if (data->type_index >= kTVMFFIStaticObjectBegin) {
    ObjectUnsafe::IncRefObjectHandle(data->v_obj);
  } else if (data->type_index >= kTVMFFIRawStr) {
    OwnBorrowedContent(data);
  }
}

} // namespace detail

/** A value: a result, a field, an element of a container. */
class Any {
public:
  /** None. */
  TVM_FFI_INLINE Any() { detail::PutNone(&data_); }
  TVM_FFI_INLINE ~Any() { Drop(); }
  TVM_FFI_INLINE Any(const Any &other) : data_(other.data_) {
    if (IsObject()) detail::ObjectUnsafe::IncRefObjectHandle(data_.v_obj);
  }
  TVM_FFI_INLINE Any(Any &&other) noexcept : data_(other.data_) { detail::PutNone(&other.data_); }
  TVM_FFI_INLINE Any &operator=(const Any &other) {
    Any(other).swap(*this);
    return *this;
  }
  TVM_FFI_INLINE Any &operator=(Any &&other) noexcept {
    Any(std::move(other)).swap(*this);
    return *this;
  }
  /** Owns the value of a view: adds a reference to an object, copies borrowed strings and bytes. */
  TVM_FFI_INLINE Any(const AnyView &view) : data_(view.data_) { detail::InplaceConvertAnyViewToAny(&data_); }
  TVM_FFI_INLINE Any &operator=(const AnyView &view) {
    Any(view).swap(*this);
    return *this;
  }
  /** Owns a C++ value, which is moved in. */
  template <typename T, typename = std::enable_if_t<TypeTraits<T>::convert_enabled>> TVM_FFI_INLINE Any(T value) {
    TypeTraits<T>::MoveToAny(std::move(value), &data_);
  }
  template <typename T, typename = std::enable_if_t<TypeTraits<T>::convert_enabled>>
  TVM_FFI_INLINE Any &operator=(T value) {
    Any(std::move(value)).swap(*this);
    return *this;
  }
  /** Deleted for types without traits. The parameter's name shows in the compiler's message. Types that convert to Any
   * by themselves are not affected. */
  template <typename T, typename = std::enable_if_t<!TypeTraits<T>::convert_enabled && !std::is_convertible_v<T, Any>>>
  explicit Any(const T &its_type_needs_TypeTraits) = delete;
  template <typename T, typename = std::enable_if_t<!TypeTraits<T>::convert_enabled && !std::is_convertible_v<T, Any>>>
  Any &operator=(const T &its_type_needs_TypeTraits) = delete;
  /** A view of this value, valid as long as this Any keeps the value. */
  operator AnyView() const { return AnyView::CopyFromTVMFFIAny(data_); }

  /** Releases the value and becomes None. */
  TVM_FFI_INLINE void reset() {
    Drop();
    detail::PutNone(&data_);
  }
  TVM_FFI_INLINE void swap(Any &other) noexcept { std::swap(data_, other.data_); }
  /** The type index of the value, a TVMFFITypeIndex or the index of a registered type. */
  int32_t type_index() const noexcept { return data_.type_index; }
  /** The type key of the value, such as "int" or "ffi.Array". */
  std::string GetTypeKey() const { return TypeIndexToTypeKey(data_.type_index); }
  /** Whether both are the same object, or equal plain data. */
  bool same_as(const Any &other) const noexcept { return AnyView(*this).same_as(AnyView(other)); }
  /** Whether the value is this object. */
  bool same_as(const ObjectRef &other) const noexcept { return AnyView(*this).same_as(AnyView(other)); }
  bool operator==(std::nullptr_t) const noexcept { return data_.type_index == kTVMFFINone; }
  bool operator!=(std::nullptr_t) const noexcept { return data_.type_index != kTVMFFINone; }

  /** The && forms move the content out if the value is a T, and leave None; plain data stays. */
  template <typename T> TVM_FFI_INLINE detail::AsResult<T> as() const & {
    if constexpr (std::is_same_v<T, Any>) {
      return *this;
    } else {
      return AnyView(*this).template as<T>();
    }
  }
  /** As as() const, but moves the content out if the value is a T. */
  template <typename T, typename = std::enable_if_t<detail::storage_enabled_v<T>>>
  TVM_FFI_INLINE std::optional<T> as() && {
    if constexpr (std::is_same_v<T, Any>) {
      return std::move(*this);
    } else {
      if (TypeTraits<T>::CheckAnyStrict(&data_)) return TypeTraits<T>::MoveFromAnyAfterCheck(&data_);
      return std::nullopt;
    }
  }
  /** The value as a T, without conversion; TypeError if it is not a T. */
  template <typename T> TVM_FFI_INLINE T as_or_throw() const & {
    if constexpr (std::is_same_v<T, Any>) {
      return *this;
    } else {
      return AnyView(*this).template as_or_throw<T>();
    }
  }
  /** As as_or_throw() const, but moves the content out. */
  template <typename T, typename = std::enable_if_t<detail::storage_enabled_v<T>>> TVM_FFI_INLINE T as_or_throw() && {
    if constexpr (std::is_same_v<T, Any>) {
      return std::move(*this);
    } else {
      if (TVM_FFI_PREDICT_FALSE(!TypeTraits<T>::CheckAnyStrict(&data_))) detail::ThrowIsNot<T>(&data_);
      return TypeTraits<T>::MoveFromAnyAfterCheck(&data_);
    }
  }
  /** The value converted to a T; TypeError if it does not convert. */
  template <typename T> TVM_FFI_INLINE T cast() const & { return AnyView(*this).template cast<T>(); }
  /** As cast() const, but moves the content out if the value is a T already. */
  template <typename T, typename = std::enable_if_t<TypeTraits<T>::storage_enabled>> TVM_FFI_INLINE T cast() && {
    if (TVM_FFI_PREDICT_TRUE(TypeTraits<T>::CheckAnyStrict(&data_))) {
      return TypeTraits<T>::MoveFromAnyAfterCheck(&data_);
    }
    return AnyView(*this).template cast<T>();
  }
  /** The value converted to a T; nullopt if it does not convert. */
  template <typename T> TVM_FFI_INLINE std::optional<T> try_cast() const {
    if constexpr (std::is_same_v<T, Any>) {
      return *this;
    } else {
      return AnyView(*this).template try_cast<T>();
    }
  }

protected:
  TVMFFIAny data_;

private:
  TVM_FFI_INLINE explicit Any(UnsafeInit, TVMFFIAny owned) noexcept : data_(owned) {}
  bool IsObject() const { return data_.type_index >= kTVMFFIStaticObjectBegin; }
  TVM_FFI_INLINE void Drop() {
    if (IsObject()) detail::ObjectUnsafe::DecRefObjectHandle(data_.v_obj);
  }

  friend struct detail::AnyUnsafe;
};

static_assert(sizeof(AnyView) == sizeof(TVMFFIAny) && sizeof(Any) == sizeof(TVMFFIAny), "both are one value");
static_assert(std::is_trivially_copyable_v<AnyView> && std::is_standard_layout_v<AnyView>,
              "arrays of AnyView are passed to C as they are");

namespace detail {

/** Access to the internals of Any and AnyView. "AfterCheck": the caller knows that the value is a T. */
struct AnyUnsafe : ObjectUnsafe {
  TVM_FFI_INLINE static TVMFFIAny MoveAnyToTVMFFIAny(Any &&any) {
    TVMFFIAny raw = any.data_;
    PutNone(&any.data_);
    return raw;
  }
  TVM_FFI_INLINE static Any MoveTVMFFIAnyToAny(TVMFFIAny *raw) {
    Any any(UnsafeInit{}, *raw);
    PutNone(raw);
    return any;
  }
  TVM_FFI_INLINE static Any MoveTVMFFIAnyRawToAny(TVMFFIAny raw) { return Any(UnsafeInit{}, raw); }
  TVM_FFI_INLINE static const TVMFFIAny *TVMFFIAnyPtrFromAny(const Any &any) { return &any.data_; }

  template <typename T> TVM_FFI_INLINE static bool CheckAnyStrict(const Any &any) { return Check<T>(&any.data_); }
  template <typename T> TVM_FFI_INLINE static bool CheckAnyViewStrict(const AnyView &view) {
    return Check<T>(&view.data_);
  }
  template <typename T> TVM_FFI_INLINE static T CopyFromAnyViewAfterCheck(const Any &any) {
    if constexpr (std::is_same_v<T, Any>) {
      return any;
    } else {
      return TypeTraits<T>::CopyFromAnyViewAfterCheck(&any.data_);
    }
  }
  template <typename T> TVM_FFI_INLINE static T MoveFromAnyAfterCheck(Any &&any) {
    if constexpr (std::is_same_v<T, Any>) {
      return std::move(any);
    } else {
      return TypeTraits<T>::MoveFromAnyAfterCheck(&any.data_);
    }
  }
  template <typename TObject = Object> TVM_FFI_INLINE static TObject *RawObjectPtrFromAnyAfterCheck(const Any &any) {
    return RawObjectPtrFromUnowned<TObject>(any.data_.v_obj);
  }
  template <typename TObject = Object>
  TVM_FFI_INLINE static TObject *RawObjectPtrFromAnyViewAfterCheck(const AnyView &view) {
    return RawObjectPtrFromUnowned<TObject>(view.data_.v_obj);
  }
  template <typename T> static std::string GetMismatchTypeInfo(const Any &any) {
    return TypeTraits<T>::GetMismatchTypeInfo(&any.data_);
  }

private:
  template <typename T> TVM_FFI_INLINE static bool Check(const TVMFFIAny *value) {
    if constexpr (std::is_same_v<T, Any>) {
      return true;
    } else {
      return TypeTraits<T>::CheckAnyStrict(value);
    }
  }
};

/** The name of a type in a printed signature. */
template <typename T> struct Type2Str {
  static std::string v() {
    using Plain = std::remove_const_t<std::remove_reference_t<T>>;
    if constexpr (std::is_same_v<Plain, Any>) {
      return "Any";
    } else if constexpr (std::is_same_v<Plain, AnyView>) {
      return "AnyView";
    } else if constexpr (std::is_void_v<Plain>) {
      return "void";
    } else if constexpr (TypeTraits<Plain>::convert_enabled) { /* otherwise CheckArg reports the type */
      return TypeTraits<Plain>::TypeStr();
    }
  }
};

} // namespace detail

template <typename Ref, typename> TVM_FFI_INLINE Ref ObjectRef::as_or_throw() const & {
  TVMFFIAny view = View();
  if (TVM_FFI_PREDICT_FALSE(!TypeTraits<Ref>::CheckAnyStrict(&view))) detail::ThrowIsNot<Ref>(&view);
  return Become<Ref>(data_);
}
template <typename Ref, typename> TVM_FFI_INLINE Ref ObjectRef::as_or_throw() && {
  TVMFFIAny view = View();
  if (TVM_FFI_PREDICT_FALSE(!TypeTraits<Ref>::CheckAnyStrict(&view))) detail::ThrowIsNot<Ref>(&view);
  return Become<Ref>(std::move(data_));
}

} // namespace ffi

using tvm::ffi::Any;
using tvm::ffi::AnyView;
} // namespace tvm

#include <tvm/ffi/any_compare.h> /* IWYU pragma: export */
#include <tvm/ffi/widen.h>       /* IWYU pragma: export */

#endif /* TVM_FFI_ANY_H_ */
