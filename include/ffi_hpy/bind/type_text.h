/* type_text.h - the names of the types in a signature. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_TYPE_TEXT_H_
#define FFI_HPY_BIND_TYPE_TEXT_H_

#include <ffi_hpy/bind/instance.h>
#include <tvm/ffi/exception_kind.h>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** The enums that this library has bound, in a list; they live as long as the process. */
struct enum_name {
  const std::type_info *type;
  std::string key;
  const enum_name *older;
};
inline const enum_name *enum_names = nullptr;

/** The names of types, from a text with '%' for each class or enum, and with the texts of io_name. The first line is
 * the type of a result, the other lines are types of parameters. `is_kept`: the text is read later, when more classes
 * are bound. A class that is not bound yet is then FFI_HPY_NAME_MARK, its C++ name, the mark, a readable name, the
 * mark; a reader of the text replaces these by the name that the class has got. */
inline std::string type_text(const char *text, const std::type_info *const *types, bool is_kept) {
  std::string made;
  bool is_result = true;
  uint64_t shown = 1; /* the last bit: whether the text is shown. An io_name inside of another io_name adds a bit. */
  for (; *text != '\0'; ++text) {
    if (*text == '\1') { /* io_name: the text of a parameter begins */
      shown = shown << 1 | (shown & (is_result ? 0 : 1));
      continue;
    }
    if (*text == '\2') {
      shown = (shown & ~uint64_t{1}) | (shown >> 1 & (is_result ? 1 : 0));
      continue;
    }
    if (*text == '\3') {
      shown >>= 1;
      continue;
    }
    if (*text == '\4') { /* opposite_name */
      is_result = !is_result;
      continue;
    }
    if (*text == '\n') is_result = false;
    if (*text != '%') {
      if ((shown & 1) != 0) made += *text;
      continue;
    }
    const std::type_info *type = *types++;
    if ((shown & 1) == 0) continue;
    const enum_name *each = enum_names;
    while (each != nullptr && *each->type != *type) each = each->older;
    const ffi_hpy_class *found = each == nullptr ? find_class(*type) : nullptr;
    if (each != nullptr || found != nullptr) {
      made += each != nullptr ? each->key : key_of(found, "");
      continue;
    }
    object shared = ask_python("enum_key", str_of(cpp_name_of(*type))); /* an enum of another library */
    std::string_view key;
    if (read_text(shared.any(), false, &key)) {
      made += key;
    } else { /* without template arguments, because their commas would separate types */
      std::string name = tvm::ffi::detail::NameOfType(*type);
      size_t end = name.find('<');
      name = name.substr(0, end) + (end != name.npos ? "<>" : "");
      const char *mark = FFI_HPY_NAME_MARK;
      made += is_kept ? joined({mark, cpp_name_of(*type), mark, name, mark}) : name;
    }
  }
  return made;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPE_TEXT_H_ */
