/* exception.h - C++ exceptions as Python's. Programs include ffi_hpy/bind.h. */
#ifndef FFI_HPY_BIND_EXCEPTION_H_
#define FFI_HPY_BIND_EXCEPTION_H_

#include <ffi_hpy/bind/python.h>
#include <tvm/ffi/exception_kind.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <typeinfo>

FFI_HPY_NAMESPACE_BEGIN

/** Classes of Python for builtin_exception. */
enum class exception_type {
  runtime_error,
  stop_iteration,
  index_error,
  key_error,
  value_error,
  type_error,
  buffer_error,
  import_error,
  attribute_error,
  next_overload
};

/** An exception that Python sees as the class of its `kind`. */
class builtin_exception : public std::runtime_error {
public:
  builtin_exception(const char *kind, const char *what)
      : std::runtime_error(what != nullptr ? what : ""), kind_(kind) {}
  builtin_exception(exception_type type, const char *what) : builtin_exception(name_of(type), what) {}
  /** The name of Python's class. */
  const char *kind() const { return kind_; }
  /** The class; runtime_error for a class that exception_type does not have. */
  exception_type type() const {
    int n = static_cast<int>(exception_type::next_overload);
    while (n > 0 && std::strcmp(name_of(static_cast<exception_type>(n)), kind_) != 0) --n;
    return static_cast<exception_type>(n);
  }

private:
  static const char *name_of(exception_type type) {
    static const char *const all[] = {"RuntimeError",   "StopIteration", "IndexError",  "KeyError",
                                      "ValueError",     "TypeError",     "BufferError", "ImportError",
                                      "AttributeError", "next_overload"};
    return all[static_cast<int>(type)];
  }
  const char *kind_;
};

#define FFI_HPY_BUILTIN_EXCEPTION(name, kind) \
  inline builtin_exception name(const char *what = "") { return builtin_exception(kind, what); }
FFI_HPY_BUILTIN_EXCEPTION(stop_iteration, "StopIteration")
FFI_HPY_BUILTIN_EXCEPTION(index_error, "IndexError")
FFI_HPY_BUILTIN_EXCEPTION(key_error, "KeyError")
FFI_HPY_BUILTIN_EXCEPTION(value_error, "ValueError")
FFI_HPY_BUILTIN_EXCEPTION(type_error, "TypeError")
FFI_HPY_BUILTIN_EXCEPTION(buffer_error, "BufferError")
FFI_HPY_BUILTIN_EXCEPTION(import_error, "ImportError")
FFI_HPY_BUILTIN_EXCEPTION(attribute_error, "AttributeError")
#undef FFI_HPY_BUILTIN_EXCEPTION

/** Thrown by cast<T>() for a value that is not a T. Python sees a RuntimeError. */
class cast_error : public std::bad_cast {
public:
  explicit cast_error(const char *what = "std::bad_cast") : text_(what != nullptr ? what : "") {}
  const char *what() const noexcept override { return text_.what(); }

private:
  std::runtime_error text_; /* whose copies cannot fail: copies of an exception must not fail */
};

namespace detail {
/** Thrown by cast() for a value of a class that is not bound, or that the rv_policy refuses. The TypeError that names
 * the class is its cause. */
class refused_error : public cast_error {
public:
  explicit refused_error(python_error &&cause) : cause_(std::move(cause)) {}
  const python_error &cause() const { return cause_; }
  /** Whether such a value caused the error. */
  static bool is(const python_error &error) {
    std::string_view text = error.message();
    return (text.substr(0, kBegin.size()) == kBegin && ends_with(text, kEnd)) || ends_with(text, kByPolicy);
  }
  static std::string text_of(const char *name) { return joined({kBegin, name, kEnd}); }
  static std::string text_by_policy(std::string_view name) { return joined({name, kByPolicy}); }

private:
  static bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
  }
  static constexpr std::string_view kBegin = "the C++ class `", kEnd = "` is not bound";
  static constexpr std::string_view kByPolicy = ": a result cannot be returned by this rv_policy";
  python_error cause_;
};
void raise_refused(const refused_error &thrown); /* below */
} // namespace detail

/** Thrown by a function that does not accept its arguments: the next overload is tried. */
struct next_overload : builtin_exception {
  explicit next_overload(const char *what = nullptr) : builtin_exception(exception_type::next_overload, what) {}
};

namespace detail {

[[noreturn]] FFI_HPY_COLD inline void throw_next_overload() { throw next_overload(); }

/** A class of exceptions that the library has registered, in a list; the newest is tried first. The translator returns
 * true with an error pending, or false, or throws the exception for older translators. `known`: the exception, or null
 * if it is not known to be a std::exception. */
struct translator {
  bool (*translate)(const translator *self, const std::exception *known, const std::exception_ptr &thrown);
  std::string kind;
  void (*function)(const std::exception_ptr &, void *);
  void *payload;
  const translator *older;
};
inline const translator *translators = nullptr;

/** printf into a string. */
inline std::string formatted(const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  int n = std::vsnprintf(nullptr, 0, format, values);
  std::string text(static_cast<size_t>(n > 0 ? n : 0), '\0');
  if (n > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}
#define FFI_HPY_FORMATTED(text, format)                                           \
  va_list values;                                                                 \
  va_start(values, format);                                                       \
  std::string text = ::FFI_HPY_BIND_NAMESPACE::detail::formatted(format, values); \
  va_end(values)

/* The functions for which nanobind accepts the letters of PyErr_Format. */
#if defined(FFI_HPY_BIND_PY_OBJECT)
#define FFI_HPY_PRINTF_OF_PYTHON(text, first)

/** One value in the form of printf: `form` ends with its letter. */
template <typename T> void append_formatted(std::string *text, const std::string &form, T value) {
  char place[64];
  int n = std::snprintf(place, sizeof(place), form.c_str(), value);
  if (n < static_cast<int>(sizeof(place))) return void(text->append(place, static_cast<size_t>(n > 0 ? n : 0)));
  std::string longer(static_cast<size_t>(n) + 1, '\0');
  std::snprintf(longer.data(), longer.size(), form.c_str(), value);
  text->append(longer, 0, static_cast<size_t>(n));
}
/** The str of an object for one of the letters A, R, S, U and V. */
inline std::string text_of_object(char letter, const PyObject *pointer) {
  handle value(pointer);
  object text = borrow(value);
  if (letter == 'S') text = ask_python(kFfiHpyRunStr, value);
  if (letter == 'R') text = ask_python("repr", value);
  if (letter == 'A') text = ask_python("call", ask_python("constant", str_of("ascii")), str_of("p"), value);
  std::string_view found;
  (void)read_text(text.any(), false, &found);
  return std::string(found);
}
/** printf into a string, with the letters that PyErr_Format has for objects of Python. */
inline std::string formatted_with_objects(const char *format, va_list given) {
  va_list values;
  va_copy(values, given);
  std::string text;
  for (const char *at = format; *at != '\0'; ++at) {
    if (*at != '%') {
      text += *at;
      continue;
    }
    std::string form = "%";
    int n_long = 0;
    bool is_size = false;
    for (++at; *at != '\0' && std::strchr("-+ #0123456789.*hlzjt", *at) != nullptr; ++at) {
      n_long += *at == 'l';
      is_size = is_size || *at == 'z' || *at == 'j' || *at == 't';
      form += *at == '*' ? std::to_string(va_arg(values, int)) : std::string(1, *at);
    }
    char letter = *at;
    if (letter == '\0') break;
    if (std::strchr("ARSUV", letter) != nullptr) {
      const PyObject *pointer = va_arg(values, const PyObject *);
      const char *otherwise = letter == 'V' ? va_arg(values, const char *) : nullptr;
      append_formatted(&text, form + 's', pointer != nullptr ? text_of_object(letter, pointer).c_str() : otherwise);
      continue;
    }
    form += letter;
    if (letter == '%') {
      text += '%';
    } else if (letter == 's') {
      append_formatted(&text, form, va_arg(values, const char *));
    } else if (letter == 'p') {
      append_formatted(&text, form, va_arg(values, const void *));
    } else if (std::strchr("aeEfFgG", letter) != nullptr) {
      append_formatted(&text, form, va_arg(values, double));
    } else if (n_long > 1) {
      append_formatted(&text, form, va_arg(values, long long));
    } else if (is_size) {
      append_formatted(&text, form, va_arg(values, std::ptrdiff_t));
    } else if (n_long == 1) {
      append_formatted(&text, form, va_arg(values, long));
    } else {
      append_formatted(&text, form, va_arg(values, int));
    }
  }
  va_end(values);
  return text;
}
#else
#define FFI_HPY_PRINTF_OF_PYTHON(text, first) FFI_HPY_PRINTF(text, first)
inline std::string formatted_with_objects(const char *format, va_list values) { return formatted(format, values); }
#endif
#define FFI_HPY_FORMATTED_WITH_OBJECTS(text, format)                                           \
  va_list values;                                                                              \
  va_start(values, format);                                                                    \
  std::string text = ::FFI_HPY_BIND_NAMESPACE::detail::formatted_with_objects(format, values); \
  va_end(values)

/** Whether the message of every exception whose class Python does not know is its text alone, without the class. */
#if !defined(FFI_HPY_BIND_PLAIN_MESSAGES)
#define FFI_HPY_BIND_PLAIN_MESSAGES 0
#endif

/** Makes the exception that is being handled the pending error. Returns -1; or FFI_HPY_NEXT_OVERLOAD if an argument did
 * not fit. `known`: the exception, if the handler knows that it is a std::exception. */
inline int translate_exception(const std::exception *known = nullptr) { return in_module->translate_exception(known); }

void set_error_from(handle cause, handle exception_class, const std::string &text);
object builtin_class(const char *kind);

/** The exception during whose handling std::throw_with_nested threw an exception; null for another exception. */
template <typename E> std::exception_ptr cause_of(const E &thrown) {
  if constexpr (!std::is_base_of_v<std::nested_exception, E>) {
    if (typeid(thrown) == typeid(E)) return nullptr; /* this costs less than a dynamic_cast */
  }
  return tvm::ffi::detail::NestedIn(thrown);
}

/** Gives the pending error an exception as its cause, unless that is null. */
FFI_HPY_COLD inline void set_cause(const std::exception_ptr &cause) {
  if (cause == nullptr) return;
  python_error error;
  try {
    std::rethrow_exception(cause);
  } catch (...) {
    if (translate_exception() != -1) return error.restore();
  }
  python_error inner;
  try {
    object raised = error.value();
    ask_python(kFfiHpyRunSetAttr, raised, str_of("__cause__"), inner.value());
    ask_python("raise_object", ask_python(kFfiHpyRunType, raised), raised);
  } catch (const python_error &raised) { /* usually by raise_object */
    raised.restore();
  }
}

/** Makes the exception that is being handled the pending error, or throws it as a python_error. `text`: the message of
 * an exception without the class; NULL if it has none. */
FFI_HPY_COLD inline void raise_current(const char *text) {
  tvm::ffi::detail::ExceptionFacts facts = tvm::ffi::detail::FactsOfCurrent();
  if (!facts.has_number) {
    api->raise(facts.kind, text != nullptr && *text != '\0' ? text : facts.text.c_str());
    return set_cause(facts.cause);
  }
  try {
    ask_python("raise_os_error", int_value(facts.number), str_of(facts.text), bytes_object(facts.paths[0]),
               bytes_object(facts.paths[1]));
  } catch (const python_error &error) {
    error.restore();
    set_cause(facts.cause);
  }
}

/** Makes an exception of exactly one of the usual classes the pending error, without another throw, which costs more
 * than the whole call. False for an exception of another class. */
FFI_HPY_COLD inline bool raise_usual(const std::exception &thrown) {
  const std::type_info &type = typeid(thrown);
  const char *kind = nullptr;
  if (type == typeid(python_error)) return static_cast<const python_error &>(thrown).restore(), true;
  if (type == typeid(builtin_exception)) {
    kind = static_cast<const builtin_exception &>(thrown).kind();
    if (std::strcmp(kind, "next_overload") == 0) return false;
  }
  if (type == typeid(cast_error) || type == typeid(std::runtime_error))
    kind = "RuntimeError"; /* as raise() throws it */
#define FFI_HPY_COMPARE_TYPE(Type, name) \
  if (type == typeid(Type)) kind = name;
  TVM_FFI_STANDARD_EXCEPTIONS_(FFI_HPY_COMPARE_TYPE)
#undef FFI_HPY_COMPARE_TYPE
  if (kind != nullptr) api->raise(kind, thrown.what());
  return kind != nullptr;
}

std::string cpp_name_of(std::string name); /* instance.h */

/** Makes an exception of a class that another library has bound with exception<E> the pending error. */
FFI_HPY_COLD inline bool raise_shared(const std::exception &thrown) {
  const std::type_info &type = typeid(thrown);
  std::string_view inside = tvm::ffi::detail::MangledInside(type), text;
  object kind = ask_python("exception_kind", str_of(cpp_name_of(inside.empty() ? type.name() : std::string(inside))));
  if (!read_text(kind.any(), false, &text)) return false;
  api->raise(std::string(text).c_str(), thrown.what());
  set_cause(cause_of(thrown));
  return true;
}

/** Whether the message of an exception of no usual class is its text alone. */
FFI_HPY_COLD inline bool has_plain_message(const std::exception &thrown) {
  return FFI_HPY_BIND_PLAIN_MESSAGES || tvm::ffi::detail::IsTypeOrNested(typeid(thrown), typeid(std::runtime_error));
}

/** Whether an exception has a class of Python: translators, which may know all of std::exception, do not get it. */
FFI_HPY_COLD inline bool has_own_class(const std::exception *known, const std::exception_ptr &thrown) {
  if (known != nullptr) {
    return dynamic_cast<const builtin_exception *>(known) != nullptr ||
           dynamic_cast<const python_error *>(known) != nullptr;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception &exception) {
    return has_own_class(&exception, thrown);
  } catch (...) {
    return false;
  }
}

/** translate_exception(), by the newest translator that knows the exception, or else by the rules for all libraries. */
FFI_HPY_COLD inline int translate_exception_in_module(const std::exception *known) {
  std::exception_ptr thrown = translators != nullptr ? std::current_exception() : nullptr;
  const translator *each = thrown != nullptr && !has_own_class(known, thrown) ? translators : nullptr;
  for (; each != nullptr; each = each->older) {
    try {
      if (each->translate(each, known, thrown)) return -1;
    } catch (...) {
      thrown = std::current_exception();
      known = nullptr;
    }
  }
  if (known != nullptr && raise_usual(*known)) return -1;
  try {
    try {
      thrown != nullptr ? std::rethrow_exception(thrown) : throw;
    } catch (const python_error &error) {
      error.restore();
    } catch (const refused_error &error) {
      raise_refused(error);
    } catch (const builtin_exception &error) {
      if (error.type() == exception_type::next_overload) return FFI_HPY_NEXT_OVERLOAD;
      api->raise(error.kind(), error.what());
      set_cause(cause_of(error));
    } catch (const cast_error &error) {
      api->raise("RuntimeError", error.what());
      set_cause(cause_of(error));
    } catch (const std::exception &error) {
      if (!raise_usual(error) && !raise_shared(error)) raise_current(has_plain_message(error) ? error.what() : nullptr);
    } catch (...) {
      raise_current(nullptr);
    }
  } catch (const python_error &error) {
    error.restore();
  } catch (...) { /* usually no memory is left */
    api->raise("RuntimeError", "a C++ exception, for which no error could be made");
  }
  return -1;
}

} // namespace detail

/** Lets `function` translate exceptions. The function rethrows its argument. For an exception that it knows, it throws
 * another exception or calls set_error; other exceptions leave the function. */
inline void register_exception_translator(void (*function)(const std::exception_ptr &thrown, void *payload),
                                          void *payload = nullptr) {
  auto translate = [](const detail::translator *self, const std::exception *, const std::exception_ptr &thrown) {
    self->function(thrown, self->payload);
    return true;
  };
  detail::translators = /* for the life of the process */
      new detail::translator{translate, std::string(), function, payload, detail::translators};
}

#if defined(__GNUC__) || defined(__clang__)
#define FFI_HPY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define FFI_HPY_PRINTF(text, first)
#endif

/** Throws std::runtime_error with a text, as printf. */
[[noreturn]] FFI_HPY_PRINTF(1, 2) FFI_HPY_COLD inline void raise(const char *format, ...) {
  FFI_HPY_FORMATTED(text, format);
  throw std::runtime_error(text);
}
/** Throws type_error with a text, as printf. */
[[noreturn]] FFI_HPY_PRINTF(1, 2) FFI_HPY_COLD inline void raise_type_error(const char *format, ...) {
  FFI_HPY_FORMATTED(text, format);
  throw type_error(text.c_str());
}
namespace detail { /* casters of authors use the name from here */
using FFI_HPY_BIND_NAMESPACE::raise;
}
/** Throws the pending error of this thread. */
[[noreturn]] inline void raise_python_error() { throw python_error(); }
/** Makes an exception the pending error of this thread. The class is one of Python, or the name of a built-in one. */
FFI_HPY_PRINTF(2, 3) FFI_HPY_COLD inline void set_error(const char *kind, const char *format, ...) {
  FFI_HPY_FORMATTED(text, format);
  detail::api->raise(kind, text.c_str());
}

namespace detail {

/** Makes an exception of a class with a cause the pending error. */
FFI_HPY_COLD inline void set_error_from(handle cause, handle exception_class, const std::string &text) {
  try {
    ask_python("raise_from", cause, exception_class, str_of(text));
  } catch (const python_error &error) {
    error.restore();
  }
}
inline object builtin_class(const char *kind) { return ask_python("constant", str_of(kind)); }
inline void raise_refused(const refused_error &thrown) {
  set_error_from(thrown.cause().value(), builtin_class("RuntimeError"), thrown.what());
}

} // namespace detail

FFI_HPY_PRINTF_OF_PYTHON(2, 3)
FFI_HPY_COLD inline void set_error(handle exception_class, const char *format, ...) {
  try {
    python_error replaced; /* code of Python cannot run with a pending error */
    FFI_HPY_FORMATTED_WITH_OBJECTS(text, format);
    detail::set_error_from(handle(detail::none_value()), exception_class, text);
  } catch (const python_error &error) {
    error.restore();
  }
}
/** Makes an exception whose cause is the pending error the pending error. */
FFI_HPY_PRINTF_OF_PYTHON(2, 3)
FFI_HPY_COLD inline void chain_error(handle exception_class, const char *format, ...) {
  python_error cause;
  try {
    FFI_HPY_FORMATTED_WITH_OBJECTS(text, format);
    detail::set_error_from(cause.value(), exception_class, text);
  } catch (const python_error &error) {
    error.restore();
  }
}
FFI_HPY_PRINTF(2, 3) FFI_HPY_COLD inline void chain_error(const char *kind, const char *format, ...) {
  FFI_HPY_FORMATTED(text, format);
  python_error cause;
  detail::set_error_from(cause.value(), detail::builtin_class(kind), text);
}
/** Throws an exception of a Python class with another exception as its cause. */
[[noreturn]] FFI_HPY_PRINTF_OF_PYTHON(3, 4) FFI_HPY_COLD
    inline void raise_from(python_error &cause, handle exception_class, const char *format, ...) {
  FFI_HPY_FORMATTED_WITH_OBJECTS(text, format);
  detail::set_error_from(cause.value(), exception_class, text);
  throw python_error();
}
[[noreturn]] FFI_HPY_PRINTF(3, 4) FFI_HPY_COLD
    inline void raise_from(python_error &cause, const char *kind, const char *format, ...) {
  FFI_HPY_FORMATTED(text, format);
  detail::set_error_from(cause.value(), detail::builtin_class(kind), text);
  throw python_error();
}

#undef FFI_HPY_FORMATTED
#undef FFI_HPY_FORMATTED_WITH_OBJECTS

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_EXCEPTION_H_ */
