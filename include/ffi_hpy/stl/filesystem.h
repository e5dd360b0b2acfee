/* filesystem.h - std::filesystem::path as an argument and as a result: a pathlib.Path; as an argument also a str,
 * bytes, or any os.PathLike. */
#ifndef FFI_HPY_STL_FILESYSTEM_H_
#define FFI_HPY_STL_FILESYSTEM_H_

#include <ffi_hpy/bind/function.h>

#include <filesystem>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

template <> struct type_caster<std::filesystem::path> {
  FFI_HPY_TYPE_CASTER(std::filesystem::path, io_name("str | os.PathLike", "pathlib.Path"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    handle named = guarded([&] {
      object encoded = ask_python("path_bytes", source);
      std::string_view text;
      if (read_text(encoded.any(), true, &text)) value = path_of(text);
      return encoded;
    });
    if (!named.is_valid()) python_error dropped;
    bool is_path = named.is_valid() && !named.is_none();
    named.dec_ref();
    return is_path;
  }
  static handle from_cpp(const std::filesystem::path &source, rv_policy, cleanup_list *) noexcept {
    return guarded([&] {
#if defined(_WIN32)
      auto text = source.u8string();
#else
      const std::string &text = source.native();
#endif
      return ask_python("path", bytes(text.data(), text.size()));
    });
  }

private:
  /* Python's bytes of a path are UTF-8 on Windows, and the file system's elsewhere. */
  static std::filesystem::path path_of(std::string_view text) {
#if defined(_WIN32)
    return std::filesystem::u8path(text.begin(), text.end());
#else
    return std::filesystem::path(std::string(text));
#endif
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_FILESYSTEM_H_ */
