/* name_of_type.h - the name of a C++ type as text, for the compiler's messages. The file includes no other header of
 * ffi_hpy, because bind.h uses it, too. */
#ifndef TVM_FFI_NAME_OF_TYPE_H_
#define TVM_FFI_NAME_OF_TYPE_H_

#include <string_view>

namespace tvm::ffi::detail {

/** The name of T as this compiler writes it, without the arguments of its template. */
template <typename T> constexpr std::string_view NameOfType() {
#if defined(_MSC_VER) && !defined(__clang__)
  std::string_view text = __FUNCSIG__;
  text.remove_prefix(text.find("NameOfType<") + 11);
  for (std::string_view word : {"class ", "struct ", "enum "}) {
    if (text.substr(0, word.size()) == word) text.remove_prefix(word.size());
  }
#else
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
#endif
  return text.substr(0, text.find_first_of("<;]>"));
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_NAME_OF_TYPE_H_ */
