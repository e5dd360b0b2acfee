/* missing_header.h - the header that declares the traits of a type of the standard library, for the compiler's message
 * where a program has not included it. The name of the type decides, so this includes no other header of the standard
 * library. */
#ifndef TVM_FFI_MISSING_HEADER_H_
#define TVM_FFI_MISSING_HEADER_H_

#include <tvm/ffi/name_of_type.h>
#include <tvm/ffi/type_traits.h>

namespace tvm::ffi::detail {

enum class StlHeader { kNone, kStl, kComplex, kChrono, kFilesystem };

/** Whether the traits of T are specialized, so that the header is included and T has another fault. */
template <typename T, typename = void> inline constexpr bool has_own_traits_v = false;
template <typename T>
inline constexpr bool has_own_traits_v<T, std::void_t<decltype(TypeTraits<T>::field_static_type_index)>> = true;

/** The header that a program has to include for T; kNone if it would not help. */
template <typename T> constexpr StlHeader MissingHeader() {
  if constexpr (has_own_traits_v<T>) {
    return StlHeader::kNone;
  } else {
    constexpr std::string_view name = NameOfType<T>();
    if (name.substr(0, 5) != "std::") return StlHeader::kNone;
    if (name.find("chrono") != std::string_view::npos) return StlHeader::kChrono;
    if (name.find("filesystem") != std::string_view::npos) return StlHeader::kFilesystem;
    std::string_view last = name.substr(name.rfind(':') + 1);
    if (last == "complex") return StlHeader::kComplex;
    for (std::string_view known : {"vector",
                                   "array",
                                   "list",
                                   "deque",
                                   "forward_list",
                                   "tuple",
                                   "pair",
                                   "map",
                                   "unordered_map",
                                   "set",
                                   "unordered_set",
                                   "multiset",
                                   "unordered_multiset",
                                   "function",
                                   "optional",
                                   "variant",
                                   "monostate",
                                   "shared_ptr",
                                   "unique_ptr",
                                   "basic_string",
                                   "basic_string_view",
                                   "wstring",
                                   "string_view"}) {
      if (last == known) return StlHeader::kStl;
    }
    return StlHeader::kNone;
  }
}

/** Asserts that the program has included the header for T. Returns whether it has. */
template <typename T> constexpr bool CheckHeader() {
  constexpr StlHeader missing = MissingHeader<T>();
  static_assert(missing != StlHeader::kStl, "a type of the standard library: #include <tvm/ffi/extra/stl.h>");
  static_assert(missing != StlHeader::kComplex, "a std::complex: #include <tvm/ffi/extra/complex.h>");
  static_assert(missing != StlHeader::kChrono, "a time of std::chrono: #include <tvm/ffi/extra/chrono.h>");
  static_assert(missing != StlHeader::kFilesystem, "a path: #include <tvm/ffi/extra/filesystem.h>");
  return missing == StlHeader::kNone;
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_MISSING_HEADER_H_ */
