/* filesystem.h - std::filesystem::path as arguments and results: str, bytes and pathlib.Path in Python, which receives
 * a pathlib.Path, or a str without a Python in the process. */
#ifndef TVM_FFI_EXTRA_FILESYSTEM_H_
#define TVM_FFI_EXTRA_FILESYSTEM_H_

#include <tvm/ffi/string.h>
#include <tvm/ffi/widen.h>

#include <filesystem>

namespace tvm::ffi {

template <> struct TypeTraits<std::filesystem::path> : TypeTraitsBase {
  using Self = std::filesystem::path;
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const Self &, TVMFFIAny *) { TVM_FFI_THROW(InternalError) << "a view cannot own the path"; }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    Any made;
#if defined(_WIN32)
    auto text = src.u8string();
    String name(reinterpret_cast<const char *>(text.data()), text.size());
    made = detail::AskPython("path", name);
    if (made == nullptr) made = Any(std::move(name));
#else
    Bytes name(src.native()); /* a name on POSIX need not be UTF-8 */
    made = detail::AskPython("path", name);
    if (made == nullptr) made = Any(String(src.native()));
#endif
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    Any name = AnyView::CopyFromTVMFFIAny(*src);
    if (src->type_index == kTVMFFIOpaquePyObject) name = detail::AskPython("name_of_path", name);
    if (std::optional<String> text = name.as<String>()) return FromUtf8(*text);
#if !defined(_WIN32)
    if (std::optional<Bytes> bytes = name.as<Bytes>()) return Self(std::string(bytes->data(), bytes->size()));
#endif
    return std::nullopt;
  }
  static std::string TypeStr() { return "pathlib.Path"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("pathlib.Path"); }

private:
  static Self FromUtf8(const String &text) {
#if defined(__cpp_char8_t)
    return Self(std::u8string(reinterpret_cast<const char8_t *>(text.data()), text.size()));
#else
    return std::filesystem::u8path(text.data(), text.data() + text.size());
#endif
  }
};

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_FILESYSTEM_H_ */
