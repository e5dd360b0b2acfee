/* stl_text.h - std::string_view, wstring, u16string and u32string as arguments and results. extra/stl.h includes it.
 *
 * All are str in Python. A string_view is for parameters, and for results that are copied at once: it borrows the
 * argument, which lives as long as the call. */
#ifndef TVM_FFI_EXTRA_STL_TEXT_H_
#define TVM_FFI_EXTRA_STL_TEXT_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/string.h>

#include <string>
#include <string_view>

namespace tvm::ffi {

template <> struct TypeTraits<std::string_view> : TypeTraitsBase {
  static constexpr bool storage_enabled = false;
  static constexpr bool kNeedsOwner = true;

  static void CopyToAnyView(std::string_view, TVMFFIAny *) {
    TVM_FFI_THROW(InternalError) << "a view cannot own the string";
  }
  static void MoveToAny(std::string_view src, TVMFFIAny *result) {
    TypeTraits<String>::MoveToAny(String(src.data(), src.size()), result);
  }
  static std::optional<std::string_view> TryCastFromAnyView(const TVMFFIAny *src) {
    switch (src->type_index) {
    case kTVMFFIRawStr: return std::string_view(src->v_c_str);
    case kTVMFFISmallStr: return std::string_view(src->v_bytes, src->small_str_len);
    case kTVMFFIStr: {
      const TVMFFIByteArray *text = TVMFFIBytesGetByteArrayPtr(src->v_obj);
      return std::string_view(text->data, text->size);
    }
    default: return std::nullopt;
    }
  }
  static std::string TypeStr() { return "str"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema(StaticTypeKey::kTVMFFIStr); }
};

namespace detail {

/** Appends a character as UTF-8. */
inline void AppendUtf8(uint32_t c, std::string *out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
    return;
  }
  int n_more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr int kHeads[] = {0, 0xC0, 0xE0, 0xF0};
  out->push_back(static_cast<char>(static_cast<uint32_t>(kHeads[n_more]) | (c >> (6 * n_more))));
  for (int i = n_more - 1; i >= 0; --i) out->push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F)));
}

/** Strings of wide characters: UTF-16 or UTF-32, by the size of a character. ValueError for a lone surrogate. */
template <typename Text> struct WideTextTraitsBase : TypeTraitsBase {
  using Char = typename Text::value_type;
  static constexpr bool storage_enabled = false;
  static constexpr bool kNeedsOwner = true;

  static void CopyToAnyView(const Text &, TVMFFIAny *) {
    TVM_FFI_THROW(InternalError) << "a view cannot own the string";
  }
  static void MoveToAny(Text src, TVMFFIAny *result) {
    std::string text;
    for (size_t i = 0; i < src.size(); ++i) {
      uint32_t c = static_cast<uint32_t>(src[i]);
      if constexpr (sizeof(Char) == 2) {
        bool has_second = (c & 0xFFFFFC00u) == 0xD800 && i + 1 < src.size() &&
                          (static_cast<uint32_t>(src[i + 1]) & 0xFFFFFC00u) == 0xDC00;
        if (has_second) c = 0x10000 + ((c & 0x3FF) << 10) + (static_cast<uint32_t>(src[++i]) & 0x3FF);
      }
      if (c > 0x10FFFF || (c & 0xFFFFF800u) == 0xD800) {
        TVM_FFI_THROW(ValueError) << "character " << i << " of the string is not valid in Unicode: " << c;
      }
      AppendUtf8(c, &text);
    }
    TypeTraits<String>::MoveToAny(String(std::move(text)), result);
  }
  static std::optional<Text> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<std::string_view> text = TypeTraits<std::string_view>::TryCastFromAnyView(src);
    if (!text.has_value()) return std::nullopt;
    Text result;
    for (size_t i = 0; i < text->size();) {
      uint32_t head = static_cast<unsigned char>((*text)[i++]);
      size_t n_more = head < 0xC0 ? 0 : head < 0xE0 ? 1 : head < 0xF0 ? 2 : 3;
      uint32_t c = n_more == 0 ? head : head & (0x3Fu >> n_more);
      if (n_more > text->size() - i) return std::nullopt; /* the text is not UTF-8 */
      for (; n_more != 0; --n_more) c = c << 6 | (static_cast<unsigned char>((*text)[i++]) & 0x3F);
      if constexpr (sizeof(Char) == 2) {
        if (c >= 0x10000) {
          result.push_back(static_cast<Char>(0xD800 + ((c - 0x10000) >> 10)));
          c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
      }
      result.push_back(static_cast<Char>(c));
    }
    return result;
  }
  static std::string TypeStr() { return "str"; }
  static std::string TypeSchema() { return NamedTypeSchema(StaticTypeKey::kTVMFFIStr); }
};

} // namespace detail

template <> struct TypeTraits<std::wstring> : detail::WideTextTraitsBase<std::wstring> {};
template <> struct TypeTraits<std::u16string> : detail::WideTextTraitsBase<std::u16string> {};
template <> struct TypeTraits<std::u32string> : detail::WideTextTraitsBase<std::u32string> {};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_STL_TEXT_H_ */
