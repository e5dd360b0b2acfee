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
 * the type of a result, the others are types of parameters. */
inline std::string type_text(const char *text, const std::type_info *const *types) {
  std::string made;
  bool is_result = true, is_shown = true;
  for (; *text != '\0'; ++text) {
    if (*text >= '\1' && *text <= '\3') { /* io_name */
      is_shown = *text == '\3' || (*text == '\2') == is_result;
      continue;
    }
    if (*text == '\4') { /* opposite_name */
      is_result = !is_result;
      continue;
    }
    if (*text == '\n') is_result = false;
    if (*text != '%') {
      if (is_shown) made += *text;
      continue;
    }
    const std::type_info *type = *types++;
    const enum_name *each = enum_names;
    while (each != nullptr && *each->type != *type) each = each->older;
    const ffi_hpy_class *found = each == nullptr ? find_class(*type) : nullptr;
    made += each != nullptr ? each->key : found != nullptr ? key_of(found, "") : tvm::ffi::detail::NameOfType(*type);
  }
  return made;
}

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_TYPE_TEXT_H_ */
