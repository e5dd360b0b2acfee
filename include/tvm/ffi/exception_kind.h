/* exception_kind.h - the class of Python for an exception of C++, for exception.h and ffi_hpy/bind.h, which programs
 * include. */
#ifndef TVM_FFI_EXCEPTION_KIND_H_
#define TVM_FFI_EXCEPTION_KIND_H_

#include <tvm/ffi/base_detail.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <typeinfo>

#if defined(__has_include)
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
/** Whether the C++ library demangles names and knows the type of the current exception. */
#define TVM_FFI_HAS_CXXABI_ 1
#endif
#endif

namespace tvm::ffi::detail {

/** An exception of C++, as Python knows it. */
struct ExceptionFacts {
  /** The name of Python's class. */
  const char *kind;
  /** For an OSError with a number: the system's text. */
  std::string text;
  /** Of an OSError. */
  bool has_number = false;
  int number = 0;
  /** The names of the files of an OSError, as the system has them; empty without one. */
  std::array<std::string, 2> paths{};
  /** The exception that this one is nested in, by std::throw_with_nested; or null. */
  std::exception_ptr cause{};

  /** The message of the exception. */
  std::string Message() const {
    if (!has_number) return text;
    std::string message = "[Errno " + std::to_string(number) + "] " + text;
    for (size_t i = 0; i < 2 && !paths[i].empty(); ++i)
      message.append(i == 0 ? ": '" : " -> '").append(paths[i]) += '\'';
    return message;
  }
};

/** The exception during whose handling std::throw_with_nested threw an exception; null for another exception. */
template <typename Exception> std::exception_ptr NestedIn(const Exception &exception) {
#if defined(__cpp_rtti) || defined(__GXX_RTTI) || defined(_CPPRTTI)
  if constexpr (std::is_polymorphic_v<Exception>) {
    const auto *nested = dynamic_cast<const std::nested_exception *>(__builtin_addressof(exception));
    if (nested != nullptr) return nested->nested_ptr();
  }
#endif
  (void)exception;
  return nullptr;
}

/** The C++ name of a type. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string NameOfType(const std::type_info &type) {
#if defined(TVM_FFI_HAS_CXXABI_)
  int status;
  char *text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name(text == nullptr ? type.name() : text);
  std::free(text);
  return name;
#else
  std::string name(type.name());
  return name.compare(0, 6, "class ") == 0 ? name.substr(6) : name;
#endif
}

/** The mangled name of the class inside of a class whose objects std::throw_with_nested throws; empty for another type.
 * In a name of several parts that repeat, the references between parts belong to the outer name. */
TVM_FFI_COLD_CODE inline std::string_view MangledInside(const std::type_info &type) {
  std::string_view name(type.name());
  for (std::string_view begin : {"St17_Nested_exceptionI", "NSt3__18__nestedI"}) { /* of libstdc++, of libc++ */
    if (name.substr(0, begin.size()) != begin) continue;
    size_t n_end = begin.front() == 'N' ? 2 : 1;
    return name.substr(begin.size(), name.size() - begin.size() - n_end);
  }
  return {};
}

/** The C++ name of a type of exceptions: for a class whose objects std::throw_with_nested throws, the name of the class
 * inside. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string NameOfException(const std::type_info &type) {
  std::string name = NameOfType(type);
  for (std::string_view begin : {"std::_Nested_exception<", "std::__1::__nested<"}) {
    if (name.compare(0, begin.size(), begin) != 0) continue;
    size_t end = name.find_last_not_of(' ', name.size() - 2); /* "outer<inner<int> >" */
    return name.substr(begin.size(), end + 1 - begin.size());
  }
  return name;
}

/** Whether a type is another one, or the class below it whose objects std::throw_with_nested throws. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline bool IsTypeOrNested(const std::type_info &type,
                                                               const std::type_info &other) {
  return type == other || (!MangledInside(type).empty() && NameOfException(type) == NameOfType(other));
}

/** The C++ name of the type of the exception that is being handled; `known`, if it is not null, has the type. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string CurrentExceptionType(const std::exception *known) {
#if defined(TVM_FFI_HAS_CXXABI_)
  (void)known;
  const std::type_info *type = abi::__cxa_current_exception_type();
  return type == nullptr ? "unknown" : NameOfException(*type);
#elif defined(_CPPRTTI)
  return known == nullptr ? "unknown" : NameOfException(typeid(*known));
#else
  return known == nullptr ? "unknown" : "std::exception";
#endif
}

/** RuntimeError; the message ends with the type. `text` may be null. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline ExceptionFacts FactsOfOther(const char *text,
                                                                       const std::exception *exception) {
  std::string type = CurrentExceptionType(exception), message(text == nullptr ? "" : text);
  if (type.find("basic_string<char, ") != std::string::npos) type = "std::string";
  if (type == "std::bad_variant_access") return {"TypeError", message};
  if (message.empty()) return {"RuntimeError", "a C++ exception of type `" + type + "`"};
  return {"RuntimeError", message.append(" [").append(type).append("]")};
}

/** OSError. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline ExceptionFacts FactsOfSystem(const std::system_error &exception) {
  std::error_condition condition = exception.code().default_error_condition();
  ExceptionFacts facts{"OSError", exception.what()};
  if (condition.category() != std::generic_category()) return facts;
  facts.has_number = true;
  facts.number = condition.value();
  /* By its text, because the class would need a newer C++ library: "filesystem error: text: reason [path] [path]". */
  constexpr std::string_view kPrefix = "filesystem error: ";
  std::string &text = facts.text;
  if (text.compare(0, kPrefix.size(), kPrefix) != 0) return facts;
  text.erase(0, kPrefix.size());
  std::string reason = exception.code().message();
  size_t begin = text.find(reason + " [");
  if (begin == std::string::npos || text.back() != ']') return facts;
  begin += reason.size();
  std::string inside = text.substr(begin + 2, text.size() - begin - 3);
  size_t middle = inside.find("] [");
  facts.paths[0] = inside.substr(0, middle);
  if (middle != std::string::npos) facts.paths[1] = inside.substr(middle + 3);
  for (std::string &path : facts.paths) {
    if (path.size() > 1 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
  }
  text.resize(begin);
  return facts;
}

/** The classes of the standard library whose exceptions have a class of Python, each before its bases. */
#define TVM_FFI_STANDARD_EXCEPTIONS_(X)   \
  X(std::bad_alloc, "MemoryError")        \
  X(std::out_of_range, "IndexError")      \
  X(std::invalid_argument, "ValueError")  \
  X(std::domain_error, "ValueError")      \
  X(std::length_error, "ValueError")      \
  X(std::range_error, "ValueError")       \
  X(std::overflow_error, "OverflowError") \
  X(std::bad_cast, "TypeError")

/** The facts of the exception that is being handled. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline ExceptionFacts FactsOfCurrent() {
  auto with_cause = [](ExceptionFacts facts, const std::exception &exception) {
    facts.cause = NestedIn(exception);
    return facts;
  };
  auto of = [&](const char *kind, const std::exception &exception) {
    const char *text = exception.what();
    return with_cause(ExceptionFacts{kind, text == nullptr ? "" : text}, exception);
  };
  try {
    throw;
  }
#define TVM_FFI_CATCH_(Type, kind) \
  catch (const Type &exception) {  \
    return of(kind, exception);    \
  }
  TVM_FFI_STANDARD_EXCEPTIONS_(TVM_FFI_CATCH_)
#undef TVM_FFI_CATCH_
  catch (const std::system_error &exception) {
    return with_cause(FactsOfSystem(exception), exception);
  }
  catch (const std::exception &exception) {
    return with_cause(FactsOfOther(exception.what(), &exception), exception);
  }
  catch (const char *text) {
    return FactsOfOther(text, nullptr);
  }
  catch (const std::string &text) {
    return FactsOfOther(text.c_str(), nullptr);
  }
  catch (...) {
    return FactsOfOther(nullptr, nullptr);
  }
}

} // namespace tvm::ffi::detail

#endif /* TVM_FFI_EXCEPTION_KIND_H_ */
