/* in_module.h - functions that the files of a library share. Compilers take long for functions that each file repeats.
 * With the macro FFI_HPY_SEVERAL_FILES the file with FFI_HPY_MODULE compiles all of the functions, and the other files
 * call them through a table. Without the macro each file compiles the functions that it uses. A file with the macro
 * needs it in the file with FFI_HPY_MODULE, too. CMake's functions define it for a module of several files. Programs
 * include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_IN_MODULE_H_
#define FFI_HPY_BIND_IN_MODULE_H_

#include <ffi_hpy/bind/handle.h>

#include <atomic>
#include <exception>
#include <string_view>
#include <typeinfo>

FFI_HPY_NAMESPACE_BEGIN

class python_error;

namespace detail {

class cleanup_list;
class class_base;
struct class_about;
struct class_constants;
struct class_record;
struct enum_record;
struct function_constants;
struct function_record;
struct mismatch;
enum class result_form;
using explain_function = bool (*)(handle source, uint32_t flags, mismatch *found);
/** Finds the object of the std::shared_ptr that owns a value; or else the class and the address of the whole object of
 * which the value is a part. */
using find_whole = object (*)(void *value, rv_policy policy, void **whole, const ffi_hpy_class **type);

/* The result, the name and the parameters of each function. NAME_in_module is its definition. */
#define FFI_HPY_MODULE_FUNCTIONS(X)                                                                                    \
  /* python.h */                                                                                                       \
  X(object, ask_python, (operation what, TVMFFIAny * args, size_t n))                                                  \
  X(object, own_text, (const TVMFFIAny &value))                                                                        \
  X(const char *, error_text, (const python_error &error) noexcept)                                                    \
  /* exception.h */                                                                                                    \
  X(int, translate_exception, (const std::exception *known))                                                           \
  /* caster.h */                                                                                                       \
  X(void, append_more, (cleanup_list * list, handle owned))                                                            \
  X(void, release_all, (cleanup_list * list))                                                                          \
  X(bool, conversion_failed, (cleanup_list * cleanup) noexcept)                                                        \
  X(void, throw_pending, ())                                                                                           \
  X(handle, ask_for_number, (operation what, handle source, cleanup_list * cleanup) noexcept)                          \
  X(handle, text_from_cpp, (std::string_view source, python_values python) noexcept)                                   \
  X(bool, keep_text, (const char **text, size_t size, cleanup_list *cleanup) noexcept)                                 \
  /* accessor.h */                                                                                                     \
  X(handle, lend, (object made) noexcept)                                                                              \
  X(bool, read_object_text, (const TVMFFIAny &value, bool is_bytes, std::string_view *out) noexcept)                   \
  /* instance.h */                                                                                                     \
  X(const ffi_hpy_class *, find_class_of, (const std::type_info &type))                                                \
  X(const ffi_hpy_class *, find_class, (class_record * record) noexcept)                                               \
  X(const ffi_hpy_class &, get_class, (class_record * record))                                                         \
  X(handle, result_instance,                                                                                           \
    (class_record * record, const void *result, result_form form, rv_policy policy, const cleanup_list *cleanup,       \
     find_whole find) noexcept)                                                                                        \
  X(void *, load_other, (class_record * record, const TVMFFIAny *any, uint32_t flags, cleanup_list *cleanup) noexcept) \
  /* functions.h */                                                                                                    \
  X(handle, python_class, (class_record * record))                                                                     \
  /* function.h */                                                                                                     \
  X(void, start,                                                                                                       \
    (function_record * record, const function_constants *constants, const char *name, ffi_hpy_param *params))          \
  X(void, keep_alive_object, (handle nurse, handle patient))                                                           \
  X(int, explain_argument,                                                                                             \
    (explain_function explain, const TVMFFIAny *arg, uint32_t flags, ffi_hpy_reason *out) noexcept)                    \
  X(object, define_loose, (function_record * record))                                                                  \
  /* define.h */                                                                                                       \
  X(void, define_function, (handle scope, function_record * record))                                                   \
  /* class.h */                                                                                                        \
  X(void, begin_class,                                                                                                 \
    (class_base * made, class_record * record, handle scope, const char *name, const class_constants &constants,       \
     const class_about &about))                                                                                        \
  X(void, add_constructor, (class_base * to, function_record * record))                                                \
  X(void, add_method, (class_base * to, const char *name, function_record *record))                                    \
  X(void, add_plain_method, (class_base * to, const char *name, bool is_static, function_record *record))              \
  X(void, add_property, (class_base * to, function_record * read, function_record * write))                            \
  /* enum.h */                                                                                                         \
  X(void, start_enum,                                                                                                  \
    (enum_record * record, const std::type_info *info, handle scope, const char *name, const char *doc))               \
  X(void, add_member, (enum_record * record, const char *name, int64_t number, object value, const char *doc))         \
  X(void, finish_enum, (enum_record * record))                                                                         \
  X(enum_record *, find_enum,                                                                                          \
    (std::atomic<enum_record *> * known, const std::type_info *info, object (*to_python)(int64_t number)) noexcept)    \
  X(bool, read_enum, (enum_record * record, handle source, uint32_t flags, int64_t *number) noexcept)                  \
  X(handle, member_of, (enum_record * record, int64_t number) noexcept)

#if defined(FFI_HPY_SEVERAL_FILES)

/** The functions. */
struct module_functions {
#define FFI_HPY_MODULE_MEMBER(result, name, parameters) result(*name) parameters;
  FFI_HPY_MODULE_FUNCTIONS(FFI_HPY_MODULE_MEMBER)
#undef FFI_HPY_MODULE_MEMBER
};
inline namespace several_files {
/** Set when the library is imported. */
inline const module_functions *in_module = nullptr;
} // namespace several_files

#else

#define FFI_HPY_MODULE_MEMBER(result, name, parameters) result name##_in_module parameters;
FFI_HPY_MODULE_FUNCTIONS(FFI_HPY_MODULE_MEMBER)
#undef FFI_HPY_MODULE_MEMBER
/** The functions. The compiler compiles only the functions that the file uses, because a template defines a member on
 * its first use. */
template <typename> struct own_functions {
#define FFI_HPY_MODULE_MEMBER(result, name, parameters) static constexpr result(*name) parameters = &name##_in_module;
  FFI_HPY_MODULE_FUNCTIONS(FFI_HPY_MODULE_MEMBER)
#undef FFI_HPY_MODULE_MEMBER
};
inline constexpr own_functions<void> own_functions_of_file{};
inline namespace one_file {
inline constexpr const own_functions<void> *in_module = &own_functions_of_file;
} // namespace one_file

#endif

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_IN_MODULE_H_ */
