/* wstring.h - std::wstring as an argument and as a result: a str. */
#ifndef FFI_HPY_STL_WSTRING_H_
#define FFI_HPY_STL_WSTRING_H_

#include <ffi_hpy/bind/function.h>

#include <string>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

inline constexpr bool wide_is_utf16 = sizeof(wchar_t) == 2;

/** Wide characters from UTF-8 that Python made, and which is valid but may have lone surrogates. */
inline std::wstring wide_of(std::string_view text) {
  std::wstring made;
  made.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    auto first = static_cast<unsigned char>(text[i++]);
    int n_more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t code = n_more == 0 ? first : first & (0x3fu >> n_more);
    for (; n_more > 0 && i < text.size(); --n_more) code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3fu);
    if (wide_is_utf16 && code >= 0x10000) {
      made += static_cast<wchar_t>(0xd7c0 + (code >> 10));
      code = 0xdc00 + (code & 0x3ff);
    }
    made += static_cast<wchar_t>(code);
  }
  return made;
}

inline void add_utf8(std::string *to, uint32_t code) {
  int n_more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
  *to += static_cast<char>(marks[n_more] | (code >> (6 * n_more)));
  while (n_more-- > 0) *to += static_cast<char>(0x80 | (code >> (6 * n_more) & 0x3f));
}

/** UTF-8 from wide characters. Throws value_error for a number that is not a code point. */
inline std::string narrow_of(const std::wstring &text) {
  std::string made;
  made.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto code = static_cast<uint32_t>(text[i]);
    bool is_pair =
        wide_is_utf16 && code >> 10 == 0x36 && i + 1 < text.size() && static_cast<uint32_t>(text[i + 1]) >> 10 == 0x37;
    if (is_pair) code = 0x10000 + ((code & 0x3ff) << 10) + (static_cast<uint32_t>(text[++i]) & 0x3ff);
    if (code > 0x10ffff || code >> 11 == 0x1b) throw value_error("a wide string has a number that is not a character");
    add_utf8(&made, code);
  }
  return made;
}

template <> struct type_caster<std::wstring> : native_caster {
  FFI_HPY_TYPE_CASTER(std::wstring, const_name("str"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    std::string_view text;
    if (!read_text(source.any(), false, &text)) return false;
    try {
      value = wide_of(text);
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }
  static handle from_cpp(const std::wstring &source, rv_policy, cleanup_list *) noexcept {
    return guarded([&] { return str_of(narrow_of(source)); });
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_WSTRING_H_ */
