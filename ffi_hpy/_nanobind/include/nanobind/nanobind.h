/* nanobind/nanobind.h - ffi_hpy/bind.h in nanobind's namespace, with nanobind's macros: for sources that were written
 * for nanobind.
 *
 * The other headers of this folder include this one, and the header of ffi_hpy that has the same path. */
#ifndef FFI_HPY_NANOBIND_NANOBIND_H_
#define FFI_HPY_NANOBIND_NANOBIND_H_

#if defined(FFI_HPY_BIND_NAMESPACE)
#error "one file includes ffi_hpy's or nanobind's headers, not both"
#endif
#define FFI_HPY_BIND_NAMESPACE nanobind
#define NB_STRINGIFY(x) #x
#define NB_TOSTRING(x) NB_STRINGIFY(x)
#if defined(NB_DOMAIN)
#define FFI_HPY_BIND_DOMAIN FFI_HPY_TEXT_OF(NB_DOMAIN)
#endif

/* nanobind accepts members of types whose header the source does not include. */
#define FFI_HPY_BIND_LATE_TYPES 1
/* The message of an exception is its text. */
#define FFI_HPY_BIND_PLAIN_MESSAGES 1

/* A parameter of any object refuses None without nb::arg().none(). */
#define FFI_HPY_BIND_REFUSES_NONE 1

/* Headers that Python.h includes, so that sources for nanobind may lack them. */
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Sources for nanobind expect Python.h, too: its types and some functions by their names, on every Python. A file that
 * includes Python.h itself before this header has CPython's, and neither `handle(PyObject *)` nor `ptr()`. */
#if !defined(Py_PYTHON_H)
#define Py_PYTHON_H
#define FFI_HPY_BIND_PY_OBJECT 1
#endif

#include <ffi_hpy/bind.h>
#if defined(FFI_HPY_BIND_PY_OBJECT)
#include <ffi_hpy/bind/py_api.h>
#include <ffi_hpy/bind/py_buffer.h>
#define NB_VECTORCALL_ARGUMENTS_OFFSET nanobind::detail::kArgumentsOffset
#define NB_VECTORCALL_NARGS(n) ((n) & ~nanobind::detail::kArgumentsOffset)
#endif

/* The release whose vocabulary this is. */
#define NB_VERSION_MAJOR 3
#define NB_VERSION_MINOR 1
#define NB_VERSION_PATCH 0
#define NB_VERSION_DEV 0

#define NB_MODULE(name, variable) FFI_HPY_MODULE(name, variable)
#define NB_MAKE_OPAQUE(...) FFI_HPY_MAKE_OPAQUE(__VA_ARGS__)
/* Members of a class of Python objects; the first form is for a class whose variables are set at once. */
#if defined(FFI_HPY_BIND_PY_OBJECT)
#define NB_OBJECT(Type, Parent, Str, Check) FFI_HPY_OBJECT(Type, Parent, Str, Check(value.ptr()))
#define NB_OBJECT_DEFAULT(Type, Parent, Str, Check) FFI_HPY_OBJECT_DEFAULT(Type, Parent, Str, Check(value.ptr()))
#endif
#define NB_TYPE_CASTER(Type, ...) FFI_HPY_TYPE_CASTER(Type, __VA_ARGS__);

/* Of nanobind/trampoline.h. The number of virtual functions may follow the class. */
#define NB_TRAMPOLINE(...) FFI_HPY_TRAMPOLINE(__VA_ARGS__)
#define NB_OVERRIDE(...) FFI_HPY_OVERRIDE(__VA_ARGS__)
#define NB_OVERRIDE_NAME(...) FFI_HPY_OVERRIDE_NAME(__VA_ARGS__)
#define NB_OVERRIDE_PURE(...) FFI_HPY_OVERRIDE_PURE(__VA_ARGS__)
#define NB_OVERRIDE_PURE_NAME(...) FFI_HPY_OVERRIDE_PURE_NAME(__VA_ARGS__)

/* How sources open and close the namespace, and mark functions. */
#define NAMESPACE_BEGIN(name) namespace name {
#define NAMESPACE_END(name) }
#if defined(__GNUC__) || defined(__clang__)
#define NB_NAMESPACE nanobind __attribute__((visibility("hidden")))
#define NB_EXPORT __attribute__((visibility("default")))
#define NB_IMPORT NB_EXPORT
#define NB_HIDDEN __attribute__((visibility("hidden")))
#define NB_INLINE inline __attribute__((always_inline))
#define NB_LIKELY(x) __builtin_expect(bool(x), 1)
#define NB_UNLIKELY(x) __builtin_expect(bool(x), 0)
#define NB_UNREACHABLE() __builtin_unreachable()
#else
#define NB_NAMESPACE nanobind
#define NB_EXPORT __declspec(dllexport)
#define NB_IMPORT __declspec(dllimport)
#define NB_HIDDEN
#define NB_INLINE __forceinline
#define NB_LIKELY(x) (x)
#define NB_UNLIKELY(x) (x)
#define NB_UNREACHABLE() __assume(0)
#endif
#define NB_NOINLINE FFI_HPY_NOINLINE
#define NB_CONCAT_IMPL(first, second) first##second
#define NB_CONCAT(first, second) NB_CONCAT_IMPL(first, second)
#define NB_NONCOPYABLE(Type)    \
  Type(const Type &) = delete;  \
  Type &operator=(const Type &) = delete;

namespace nanobind {
using ssize_t = std::ptrdiff_t;

/** Whether T derives from a class that a template makes of one type. */
template <template <typename> class Base, typename U> std::true_type derives_from(const Base<U> *);
template <template <typename> class Base> std::false_type derives_from(...);
template <typename T, template <typename> class Base>
inline constexpr bool is_base_of_template_v = decltype(derives_from<Base>(static_cast<T *>(nullptr)))::value;

namespace detail {
using nanobind::raise_python_error;
/** Modules with one tag share their classes: all modules do, with every compiler. */
inline const char *abi_tag() { return "ffi_hpy"; }
/** Ends the process with a message. */
[[noreturn]] inline void fail(const char *format, ...) {
  std::va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
  std::abort();
}
#if defined(FFI_HPY_BIND_PY_OBJECT)
/** The name of the class of an object: a new reference. */
inline PyObject *nb_inst_name(PyObject *o) { return inst_name(handle(o)).release().ptr(); }
#endif
/** For casters: a part of a value of type T, moved out of a value that is a temporary. */
template <typename T, typename Part> constexpr decltype(auto) forward_like_(Part &&part) {
  using Plain = std::remove_reference_t<Part>;
  return static_cast<std::conditional_t<std::is_lvalue_reference_v<T>, Plain &, Plain &&>>(part);
}
/** For call policies: lets the patient live at least as long as the nurse. */
inline void keep_alive(handle nurse, handle patient) { keep_alive_object(nurse, patient); }
} // namespace detail
} // namespace nanobind

#endif /* FFI_HPY_NANOBIND_NANOBIND_H_ */
