/* missing_header.h - the header of ffi_hpy/stl that a type of the standard library needs, for the compiler's message.
 * The name of the type decides, so this includes no header of the type. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_MISSING_HEADER_H_
#define FFI_HPY_BIND_MISSING_HEADER_H_

#include <ffi_hpy/bind/caster.h>
#include <tvm/ffi/name_of_type.h>

#include <string>
#include <string_view>
#include <type_traits>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Whether T is a type of namespace std. */
template <typename T> constexpr bool is_of_standard_library() {
  return ::tvm::ffi::detail::NameOfType<T>().substr(0, 5) == "std::";
}

/* The last part of each type's name, and its header. */
#define FFI_HPY_EACH_HEADER(X)    \
  X(array, array)                 \
  X(complex, complex)             \
  X(deque, deque)                 \
  X(duration, chrono)             \
  X(function, function)           \
  X(list, list)                   \
  X(map, map)                     \
  X(monostate, variant)           \
  X(nullopt_t, optional)          \
  X(optional, optional)           \
  X(pair, pair)                   \
  X(path, filesystem)             \
  X(set, set)                     \
  X(shared_ptr, shared_ptr)       \
  X(time_point, chrono)           \
  X(tuple, tuple)                 \
  X(unique_ptr, unique_ptr)       \
  X(unordered_map, unordered_map) \
  X(unordered_set, unordered_set) \
  X(variant, variant)             \
  X(vector, vector)               \
  X(wstring, wstring)

/** Asserts that T, which has no caster, is not of the standard library; the message names the header with the caster.
 * Returns true. */
template <typename T, bool IsChecked> constexpr bool check_header() {
  if constexpr (IsChecked && is_of_standard_library<T>()) {
    constexpr std::string_view whole = ::tvm::ffi::detail::NameOfType<T>();
    constexpr std::string_view name =
        std::is_same_v<T, std::wstring> ? std::string_view("wstring") : whole.substr(whole.rfind(':') + 1);
#define FFI_HPY_HEADER_OF(type, header)                                                                    \
  static_assert(name != #type, "a type of the standard library: #include <ffi_hpy/stl/" #header ".h>; or " \
                               "FFI_HPY_MAKE_OPAQUE, if it is bound as a class");
#define FFI_HPY_IS(type, header) || name == #type
    FFI_HPY_EACH_HEADER(FFI_HPY_HEADER_OF)
    static_assert(false FFI_HPY_EACH_HEADER(FFI_HPY_IS),
                  "a type of the standard library without a header in ffi_hpy/stl: FFI_HPY_MAKE_OPAQUE binds it as a "
                  "class");
#undef FFI_HPY_IS
#undef FFI_HPY_HEADER_OF
  }
  return true;
}
#undef FFI_HPY_EACH_HEADER

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_MISSING_HEADER_H_ */
