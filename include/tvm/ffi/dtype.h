/* dtype.h - DLDataType: string forms, comparison, and its use as a value; a string converts to it. */
#ifndef TVM_FFI_DTYPE_H_
#define TVM_FFI_DTYPE_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>
#include <tvm/ffi/type_traits.h>

#include <ostream>

namespace tvm::ffi {

/** Type codes from here on are free for other definitions than DLPack's. */
enum DLExtDataTypeCode {
  kDLExtCustomBegin = 129 /**< the first code for data types of users */
}; /**< the first code for data types of users */

/** "float32", "int8x4", "bool", ...; ValueError for anything else. */
inline DLDataType StringToDLDataType(const String &text) {
  TVMFFIByteArray bytes{text.data(), text.size()};
  DLDataType dtype;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeFromString(&bytes, &dtype));
  return dtype;
}
/** The name of a data type, such as "float32". */
inline String DLDataTypeToString(DLDataType dtype) {
  TVMFFIAny text;
  detail::PutNone(&text);
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeToString(&dtype, &text));
  return TypeTraits<String>::MoveFromAnyAfterCheck(&text);
}

/** Floating-point types of any width, bfloat and the small formats included. */
inline bool DTypeIsFloat(DLDataType dtype) {
  return dtype.code == kDLFloat || dtype.code == kDLBfloat ||
         (dtype.code >= kDLFloat8_e3m4 && dtype.code <= kDLFloat4_e2m1fn);
}
/** Signed and unsigned integers. */
inline bool DTypeIsInt(DLDataType dtype) { return dtype.code == kDLInt || dtype.code == kDLUInt; }
/** Whether a data type is bool. */
inline bool DTypeIsBool(DLDataType dtype) { return dtype.code == kDLBool; }

/** A short form for names: "f32", "i8x4", "bool", "f8_e4m3fn", "void". */
inline std::string DTypeAbbrev(DLDataType dtype) {
  std::string full = DLDataTypeToString(dtype);
  if (dtype.code == kDLOpaqueHandle) return dtype.bits == 0 && dtype.lanes == 0 ? "void" : "handle";
  if (dtype.code >= kDLExtCustomBegin) return full;
  /* The full name begins with one of these words. The width and the lanes follow, or the small format and the lanes. */
  static constexpr std::pair<const char *, const char *> kWords[] = {
      {"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "i"}};
  for (const auto &[word, abbreviation] : kWords) {
    if (full.rfind(word, 0) == 0) return abbreviation + full.substr(std::char_traits<char>::length(word));
  }
  return full;
}

template <>
struct TypeTraits<DLDataType> : detail::PlainTraitsBase<TypeTraits<DLDataType>, DLDataType, kTVMFFIDataType> {
  TVM_FFI_INLINE static void Put(DLDataType src, TVMFFIAny *result) {
    detail::PutInt64(kTVMFFIDataType, 0, result);
    result->v_dtype = src;
  }
  TVM_FFI_INLINE static DLDataType Get(const TVMFFIAny *src) { return src->v_dtype; }
  TVM_FFI_INLINE static std::optional<DLDataType> TryCastFromAnyView(const TVMFFIAny *src) {
    if (src->type_index == kTVMFFIDataType) return src->v_dtype;
    if (std::optional<String> text = TypeTraits<String>::TryCastFromAnyView(src)) return StringToDLDataType(*text);
    return std::nullopt;
  }
  TVM_FFI_TRAITS_NAME_(StaticTypeKey::kTVMFFIDataType)
};

} // namespace tvm::ffi

/** In the global namespace, where DLDataType is declared, so that argument-dependent lookup finds them. */
inline std::ostream &operator<<(std::ostream &out, DLDataType dtype) {
  return out << tvm::ffi::DLDataTypeToString(dtype);
}
inline bool operator==(const DLDataType &left, const DLDataType &right) {
  return left.code == right.code && left.bits == right.bits && left.lanes == right.lanes;
}
inline bool operator!=(const DLDataType &left, const DLDataType &right) { return !(left == right); }

#endif /* TVM_FFI_DTYPE_H_ */
