/* type_traits.h - TypeTraits<T>, by which a C++ type can be a value, and the traits of plain data.
 *
 * TypeTraits<T> is specialised for every type that can be an argument, a result, a field or an element:
 *
 *   static constexpr bool convert_enabled           T can be a value at all
 *   static constexpr bool storage_enabled           T can be in an Any and be read from it
 *   static constexpr int32_t field_static_type_index  type index of every T, kTVMFFIAny if there are several indices
 *   void CopyToAnyView(const T &, TVMFFIAny *)      a borrowed value: valid as long as the T is
 *   void MoveToAny(T, TVMFFIAny *)                  an owned value
 *   bool CheckAnyStrict(const TVMFFIAny *)          whether the value is a T: no conversion needed
 *   T CopyFromAnyViewAfterCheck(const TVMFFIAny *)  the T, if CheckAnyStrict returned true
 *   T MoveFromAnyAfterCheck(TVMFFIAny *)            the same for an owned value, which becomes None
 *   optional<T> TryCastFromAnyView(const TVMFFIAny *)  a T, converted if necessary
 *   string GetMismatchTypeInfo(const TVMFFIAny *)   the type of the value, for a message
 *   string TypeStr(), string TypeSchema()           the type's name; its schema as JSON
 *
 * Derive from TypeTraitsBase, or, for an object reference, from one of the bases in object.h. */
#ifndef TVM_FFI_TYPE_TRAITS_H_
#define TVM_FFI_TYPE_TRAITS_H_

#include <tvm/ffi/base_detail.h>
#include <tvm/ffi/c_api.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace tvm::ffi {

class Any;

/** The type index of a value. */
using TypeIndex = TVMFFITypeIndex;
/** The registered facts about a type. */
using TypeInfo = TVMFFITypeInfo;

/** Keys of the types whose indices are fixed. */
struct StaticTypeKey {
  static constexpr const char *kTVMFFIAny = "Any";
  static constexpr const char *kTVMFFINone = "None";
  static constexpr const char *kTVMFFIInt = "int";
  static constexpr const char *kTVMFFIBool = "bool";
  static constexpr const char *kTVMFFIFloat = "float";
  static constexpr const char *kTVMFFIOpaquePtr = "void*";
  static constexpr const char *kTVMFFIDataType = "DataType";
  static constexpr const char *kTVMFFIDevice = "Device";
  static constexpr const char *kTVMFFIDLTensorPtr = "DLTensor*";
  static constexpr const char *kTVMFFIRawStr = "const char*";
  static constexpr const char *kTVMFFIByteArrayPtr = "TVMFFIByteArray*";
  static constexpr const char *kTVMFFIObjectRValueRef = "ObjectRValueRef";
  static constexpr const char *kTVMFFISmallStr = "ffi.SmallStr";
  static constexpr const char *kTVMFFISmallBytes = "ffi.SmallBytes";
  static constexpr const char *kTVMFFIUnchanged = "ffi.Unchanged";
  static constexpr const char *kTVMFFIObject = "ffi.Object";
  static constexpr const char *kTVMFFIStr = "ffi.String";
  static constexpr const char *kTVMFFIBytes = "ffi.Bytes";
  static constexpr const char *kTVMFFIError = "ffi.Error";
  static constexpr const char *kTVMFFIFunction = "ffi.Function";
  static constexpr const char *kTVMFFIShape = "ffi.Shape";
  static constexpr const char *kTVMFFITensor = "ffi.Tensor";
  static constexpr const char *kTVMFFIArray = "ffi.Array";
  static constexpr const char *kTVMFFIMap = "ffi.Map";
  static constexpr const char *kTVMFFIModule = "ffi.Module";
  static constexpr const char *kTVMFFIOpaquePyObject = "ffi.OpaquePyObject";
  static constexpr const char *kTVMFFIList = "ffi.List";
  static constexpr const char *kTVMFFIDict = "ffi.Dict";
  static constexpr const char *kTVMFFIVisitInterrupt = "ffi.VisitInterrupt";
  static constexpr const char *kTVMFFIBigInt = "ffi.BigInt";
};

/** The key of a type, for messages. Also accepts an index without a type. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string TypeIndexToTypeKey(int32_t type_index) {
  const TypeInfo *info = TVMFFIGetTypeInfo(type_index);
  if (info == nullptr) return "(type index " + std::to_string(type_index) + ")";
  return std::string(info->type_key.data, info->type_key.size);
}

namespace detail {

/** {"type":"name"} */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string NamedTypeSchema(const char *name) {
  return std::string("{\"type\":\"").append(name).append("\"}");
}

/** A function that returns the name or the schema of a type. Strings about several types are made from arrays of these,
 * so that the code that joins them is compiled once and not for each combination of types. */
using TypeText = std::string (*)();
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string JoinTypes(std::string text, const TypeText *types, size_t n,
                                                                 const char *separator, const char *end) {
  for (size_t i = 0; i < n; ++i) text.append(i == 0 ? "" : separator).append(types[i]());
  return text.append(end);
}

/** Writes a value with an integer payload. None, int and bool are complete with that; other types overwrite the
 * payload. */
TVM_FFI_INLINE void PutInt64(int32_t type_index, int64_t value, TVMFFIAny *result) {
  result->type_index = type_index;
  result->zero_padding = 0;
  result->v_int64 = value;
}
TVM_FFI_INLINE void PutNone(TVMFFIAny *result) { PutInt64(kTVMFFINone, 0, result); }
TVM_FFI_INLINE void PutPointer(int32_t type_index, void *value, TVMFFIAny *result) {
  result->type_index = type_index;
  result->zero_padding = 0;
  TVM_FFI_CLEAR_PTR_PADDING_IN_FFI_ANY(result);
  result->v_ptr = value;
}

} // namespace detail

/** Whether every Source is a Target. Then a container of Source can be used as a container of Target without
 * conversion. */
template <typename Target, typename Source, typename = void>
inline constexpr bool type_subsumes_v = std::is_base_of_v<Target, Source> || std::is_same_v<Target, Source>;
template <typename Source> inline constexpr bool type_subsumes_v<Any, Source> = true;

template <typename, typename = void> struct TypeTraits {
  static constexpr bool convert_enabled = false;
  static constexpr bool storage_enabled = false;
};

/** The traits of T without const and reference. */
template <typename T> using TypeTraitsNoCR = TypeTraits<std::remove_const_t<std::remove_reference_t<T>>>;

namespace detail {
/** Whether passing a T makes a new object, which a view cannot own. A call passes such an argument as an Any. The
 * traits of T request that by kNeedsOwner. */
template <typename T, typename = void> inline constexpr bool needs_owner_v = false;
template <typename T>
inline constexpr bool needs_owner_v<T, std::enable_if_t<sizeof(TypeTraits<T>::kNeedsOwner) != 0>> =
    TypeTraits<T>::kNeedsOwner;
} // namespace detail

/** False for a class derived from ObjectRef that has its own TypeTraits. */
template <typename T> inline constexpr bool use_default_type_traits_v = true;

namespace detail {
/** The class of a value in Python's words, for messages. Defined in widen.h. */
std::string GivenClass(const TVMFFIAny *value);
/** The description of a value that converts to none of several types. Defined in any.h. */
template <typename... T> std::string NoneOf(const TVMFFIAny *src);
} // namespace detail

struct TypeTraitsBase {
  static constexpr bool convert_enabled = true;
  static constexpr bool storage_enabled = true;
  static constexpr int32_t field_static_type_index = kTVMFFIAny;
  static std::string GetMismatchTypeInfo(const TVMFFIAny *source) { return detail::GivenClass(source); }
};

/** field_static_type_index of any type; kTVMFFIAny for a type that cannot be a value. */
template <typename T, typename = void> struct TypeToFieldStaticTypeIndex {
  static constexpr int32_t value = kTVMFFIAny; /**< the index */
};
template <typename T> struct TypeToFieldStaticTypeIndex<T, std::enable_if_t<TypeTraits<T>::convert_enabled>> {
  static constexpr int32_t value = TypeTraits<T>::field_static_type_index;
};
/** As TypeToFieldStaticTypeIndex, but also for types whose index is known at run time only. */
template <typename T, typename = void> struct TypeToRuntimeTypeIndex {
  /** The index, which may be known at run time only. */
  static int32_t v() { return TypeToFieldStaticTypeIndex<T>::value; }
};

namespace detail {

/** The traits that all plain data shares. Traits provides Put(T, TVMFFIAny *), Get(const TVMFFIAny *) and, if values
 * are converted, TryCastFromAnyView. */
template <typename Traits, typename T, int32_t kIndex> struct PlainTraitsBase : TypeTraitsBase {
  static constexpr int32_t field_static_type_index = kIndex;
  TVM_FFI_INLINE static void CopyToAnyView(const T &src, TVMFFIAny *result) { Traits::Put(src, result); }
  TVM_FFI_INLINE static void MoveToAny(T src, TVMFFIAny *result) { Traits::Put(src, result); }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) { return src->type_index == kIndex; }
  TVM_FFI_INLINE static T CopyFromAnyViewAfterCheck(const TVMFFIAny *src) { return Traits::Get(src); }
  TVM_FFI_INLINE static T MoveFromAnyAfterCheck(TVMFFIAny *src) { return Traits::Get(src); }
  TVM_FFI_INLINE static std::optional<T> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kIndex) return Traits::Get(src);
    return std::nullopt;
  }
};

/** For the traits of a type whose name does not depend on parameters. */
#define TVM_FFI_TRAITS_NAME_(Name)              \
  static std::string TypeStr() { return Name; } \
  static std::string TypeSchema() { return ::tvm::ffi::detail::NamedTypeSchema(Name); }

TVM_FFI_INLINE bool IsIntOrBool(const TVMFFIAny *src) {
  return src->type_index == kTVMFFIInt || src->type_index == kTVMFFIBool;
}

} // namespace detail

template <>
struct TypeTraits<std::nullptr_t> : detail::PlainTraitsBase<TypeTraits<std::nullptr_t>, std::nullptr_t, kTVMFFINone> {
  TVM_FFI_INLINE static void Put(std::nullptr_t, TVMFFIAny *result) { detail::PutNone(result); }
  TVM_FFI_INLINE static std::nullptr_t Get(const TVMFFIAny *) { return nullptr; }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFINone)
};

/** A bool to which no int converts. */
class StrictBool {
public:
  /** From a bool. */
  StrictBool(bool value) : value_(value) {}
  /** The bool. */
  operator bool() const { return value_; }

private:
  bool value_;
};

template <> struct TypeTraits<StrictBool> : detail::PlainTraitsBase<TypeTraits<StrictBool>, StrictBool, kTVMFFIBool> {
  TVM_FFI_INLINE static void Put(bool src, TVMFFIAny *result) { detail::PutInt64(kTVMFFIBool, src, result); }
  TVM_FFI_INLINE static StrictBool Get(const TVMFFIAny *src) { return src->v_int64 != 0; }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIBool)
};

template <> struct TypeTraits<bool> : detail::PlainTraitsBase<TypeTraits<bool>, bool, kTVMFFIBool> {
  TVM_FFI_INLINE static void Put(bool src, TVMFFIAny *result) { detail::PutInt64(kTVMFFIBool, src, result); }
  TVM_FFI_INLINE static bool Get(const TVMFFIAny *src) { return src->v_int64 != 0; }
  /** The ints 0 and 1 convert. */
  TVM_FFI_INLINE static std::optional<bool> TryCastFromAnyView(const TVMFFIAny *src) {
    if (detail::IsIntOrBool(src) && TVM_FFI_PREDICT_TRUE((src->v_int64 & ~int64_t{1}) == 0)) return Get(src);
    return std::nullopt;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src);
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIBool)
};

/** Whether T is an enumeration over integers. */
template <typename T, bool = std::is_enum_v<T>> constexpr bool is_integeral_enum_v = false;
template <typename T> constexpr bool is_integeral_enum_v<T, true> = std::is_integral_v<std::underlying_type_t<T>>;

namespace detail {

/** The integer type behind an integer or an enumeration. */
template <typename T, bool = std::is_enum_v<T>> struct IntegerOf {
  using type = T;
};
template <typename T> struct IntegerOf<T, true> {
  using type = std::underlying_type_t<T>;
};

/** Whether values of an integer type may be beyond int64. */
template <typename T, bool = std::is_integral_v<T> || is_integeral_enum_v<T>>
inline constexpr bool is_unsigned64_v = false;
template <typename T>
inline constexpr bool is_unsigned64_v<T, true> =
    sizeof(T) == sizeof(int64_t) && std::is_unsigned_v<typename IntegerOf<T>::type>;

/** Whether an int is in the range of an integer type. */
template <typename Int> TVM_FFI_INLINE bool FitsInto(int64_t value) {
  using Integer = typename IntegerOf<Int>::type;
  if constexpr (sizeof(Integer) < sizeof(int64_t)) {
    return static_cast<int64_t>(static_cast<Integer>(value)) == value;
  } else {
    return std::is_signed_v<Integer> || value >= 0;
  }
}

/* Defined in any.h and widen.h. */

[[noreturn]] void ThrowIntegerTooLarge(uint64_t value);
[[noreturn]] void ThrowFloatTooLarge();
/** Makes an owned integer of any size. */
void MoveUnsigned(uint64_t value, TVMFFIAny *result);
/** Releases the object of an owned value, which becomes None. */
void DropObject(TVMFFIAny *owned);
/** The uint64 of an integer beyond int64; nullopt if a uint64 cannot have that value, or for another value. */
std::optional<uint64_t> BigIntToUint64(const TVMFFIAny *src);
/** The double of an integer beyond int64; nullopt if the double is infinite, or for another value. */
std::optional<double> BigIntToDouble(const TVMFFIAny *src);
/** "300, which is outside the range 0 to 255" for an integer; otherwise the type of the value. */
std::string OutsideRange(const TVMFFIAny *src, int64_t min, uint64_t max);
/** As OutsideRange, for a number that the float nearest to it would change to infinity. `max` is the greatest float. */
std::string OutsideFloat(const TVMFFIAny *src, double max);
/** Reads a number in another form than int64, bool and double: an integer beyond int64; and, while conversions are
 * wide, a Python object with __float__, if T has a fraction, or with __index__. nullopt for a number outside the range
 * of T, and for another value. Out of line, because GCC warns of the value of an optional that it sees to have none. */
template <typename T> std::optional<T> TryOtherNumber(const TVMFFIAny *src);
/** Whether a double converts to the nearest Float without an overflow. Infinity and NaN do. */
template <typename Float> TVM_FFI_INLINE bool FitsIntoFloat(const TVMFFIAny *src) {
  if constexpr (sizeof(Float) >= sizeof(double)) {
    return true;
  } else {
    using Limits = std::numeric_limits<Float>;
    constexpr double kMax = static_cast<double>(Limits::max()), kEpsilon = static_cast<double>(Limits::epsilon());
    constexpr double kTooLarge = kMax + kEpsilon * (kMax / (2 - kEpsilon)) / 2; /* halfway to the next power of two */
    constexpr uint64_t kInfinity = UINT64_C(0x7ff0000000000000);
    if (TVM_FFI_PREDICT_TRUE(src->v_float64 < kTooLarge && src->v_float64 > -kTooLarge)) return true;
    return (src->v_uint64 & kInfinity) == kInfinity;
  }
}

} // namespace detail

/** Integers and enumerations: an int in the range of Int, or a bool, which counts as 0 or 1. A uint64 beyond int64 is a
 * BigInt, an object: as a borrowed value it is an OverflowError, because a view cannot own the object. */
template <typename Int>
struct TypeTraits<Int, std::enable_if_t<std::is_integral_v<Int> || is_integeral_enum_v<Int>>>
    : detail::PlainTraitsBase<TypeTraits<Int>, Int, kTVMFFIInt> {
  static constexpr bool kNeedsOwner = detail::is_unsigned64_v<Int>;

  TVM_FFI_INLINE static void Put(Int src, TVMFFIAny *result) {
    int64_t value = static_cast<int64_t>(src);
    if constexpr (kNeedsOwner) {
      if (TVM_FFI_PREDICT_FALSE(value < 0)) detail::ThrowIntegerTooLarge(static_cast<uint64_t>(src));
    }
    detail::PutInt64(kTVMFFIInt, value, result);
  }
  TVM_FFI_INLINE static void MoveToAny(Int src, TVMFFIAny *result) {
    int64_t value = static_cast<int64_t>(src);
    if constexpr (kNeedsOwner) {
      if (TVM_FFI_PREDICT_FALSE(value < 0)) return detail::MoveUnsigned(static_cast<uint64_t>(src), result);
    }
    detail::PutInt64(kTVMFFIInt, value, result);
  }
  TVM_FFI_INLINE static Int Get(const TVMFFIAny *src) {
    if constexpr (kNeedsOwner) {
      if (TVM_FFI_PREDICT_FALSE(src->type_index == kTVMFFIBigInt))
        return static_cast<Int>(*detail::BigIntToUint64(src));
    }
    return static_cast<Int>(src->v_int64);
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    if (TVM_FFI_PREDICT_TRUE(src->type_index == kTVMFFIInt)) return detail::FitsInto<Int>(src->v_int64);
    if constexpr (kNeedsOwner) return detail::BigIntToUint64(src).has_value();
    return false;
  }
  TVM_FFI_INLINE static Int MoveFromAnyAfterCheck(TVMFFIAny *src) {
    Int value = Get(src);
    if constexpr (kNeedsOwner) {
      if (TVM_FFI_PREDICT_FALSE(src->type_index == kTVMFFIBigInt)) detail::DropObject(src);
    }
    return value;
  }
  TVM_FFI_INLINE static std::optional<Int> TryCastFromAnyView(const TVMFFIAny *src) {
    if (TVM_FFI_PREDICT_TRUE(detail::IsIntOrBool(src))) {
      if (TVM_FFI_PREDICT_TRUE(detail::FitsInto<Int>(src->v_int64))) return static_cast<Int>(src->v_int64);
      return std::nullopt;
    }
    return detail::TryOtherNumber<Int>(src);
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    using Limits = std::numeric_limits<typename detail::IntegerOf<Int>::type>;
    return detail::OutsideRange(src, static_cast<int64_t>(Limits::min()), static_cast<uint64_t>(Limits::max()));
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIInt)
};

/** Floating-point numbers: a float, or a converted int or bool; also an integer beyond int64. A finite number that
 * would become infinite does not convert. */
template <typename Float>
struct TypeTraits<Float, std::enable_if_t<std::is_floating_point_v<Float>>>
    : detail::PlainTraitsBase<TypeTraits<Float>, Float, kTVMFFIFloat> {
  TVM_FFI_INLINE static void Put(Float src, TVMFFIAny *result) {
    if constexpr (sizeof(Float) > sizeof(double)) {
      constexpr Float kMost = std::numeric_limits<double>::max(), kInfinity = std::numeric_limits<Float>::infinity();
      if ((src > kMost && src < kInfinity) || (src < -kMost && src > -kInfinity)) detail::ThrowFloatTooLarge();
    }
    result->type_index = kTVMFFIFloat;
    result->zero_padding = 0;
    result->v_float64 = static_cast<double>(src);
  }
  TVM_FFI_INLINE static Float Get(const TVMFFIAny *src) { return static_cast<Float>(src->v_float64); }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIFloat && detail::FitsIntoFloat<Float>(src);
  }
  TVM_FFI_INLINE static std::optional<Float> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIFloat) {
      if (TVM_FFI_PREDICT_TRUE(detail::FitsIntoFloat<Float>(src))) return Get(src);
      return std::nullopt;
    }
    if (TVM_FFI_PREDICT_TRUE(detail::IsIntOrBool(src))) return static_cast<Float>(src->v_int64);
    return detail::TryOtherNumber<Float>(src);
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) { return detail::OutsideFloat(src, kMax); }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIFloat)
  /** The greatest number that a value of the type can have. */
  static constexpr double kMax = static_cast<double>(
      std::numeric_limits<std::conditional_t<(sizeof(Float) < sizeof(double)), Float, double>>::max());
};

/** An opaque address; None is the null pointer. */
template <> struct TypeTraits<void *> : detail::PlainTraitsBase<TypeTraits<void *>, void *, kTVMFFIOpaquePtr> {
  TVM_FFI_INLINE static void Put(void *src, TVMFFIAny *result) { detail::PutPointer(kTVMFFIOpaquePtr, src, result); }
  TVM_FFI_INLINE static void *Get(const TVMFFIAny *src) { return src->v_ptr; }
  TVM_FFI_INLINE static std::optional<void *> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIOpaquePtr) return src->v_ptr;
    if (src->type_index == kTVMFFINone) return static_cast<void *>(nullptr);
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIOpaquePtr)
};

namespace detail {

/** Converts the value to the first possible type of Fallbacks, and the result to a T by
 * TypeTraits<T>::ConvertFallbackValue. */
template <typename T, typename Fallback, typename... Rest>
TVM_FFI_INLINE std::optional<T> TryFallbacks(const TVMFFIAny *src) {
  static_assert(!std::is_same_v<Fallback, bool>, "a bool also accepts ints: use StrictBool");
  if (auto value = TypeTraits<Fallback>::TryCastFromAnyView(src)) {
    return TypeTraits<T>::ConvertFallbackValue(*std::move(value));
  }
  if constexpr (sizeof...(Rest) > 0) return TryFallbacks<T, Rest...>(src);
  return std::nullopt;
}

} // namespace detail

/** Base for the traits of a type that no value has and that is made from one of Fallbacks. */
template <typename T, typename... Fallbacks> struct FallbackOnlyTraitsBase : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  TVM_FFI_INLINE static std::optional<T> TryCastFromAnyView(const TVMFFIAny *src) {
    return detail::TryFallbacks<T, Fallbacks...>(src);
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_TYPE_TRAITS_H_ */
