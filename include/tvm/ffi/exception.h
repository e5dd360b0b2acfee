/* exception.h - C++ exceptions as errors. Programs include function.h.
 *
 * An exception that leaves a function becomes an error, and in Python an exception:
 *
 *   std::out_of_range                                             IndexError
 *   std::invalid_argument, domain_error, length_error, range_error   ValueError
 *   std::overflow_error                                           OverflowError
 *   std::bad_alloc                                                MemoryError
 *   std::bad_cast, bad_variant_access                             TypeError
 *   std::system_error, filesystem_error                           OSError, with errno and file names
 *   any other                                                     RuntimeError; the message ends with the C++ type
 *
 * ErrorDef registers the kind of another class:
 *
 *   TVM_FFI_STATIC_INIT_BLOCK() { refl::ErrorDef<Jam>("printer.Jam", "OSError"); } */
#ifndef TVM_FFI_EXCEPTION_H_
#define TVM_FFI_EXCEPTION_H_

#include <tvm/ffi/function.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#if defined(__has_include)
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
/** Whether the C++ library demangles names and knows the type of the current exception. */
#define TVM_FFI_HAS_CXXABI_ 1
#endif
#endif

namespace tvm {
namespace ffi {
namespace detail {

/** The C++ name of the type of the exception that is being handled; `known`, if it is not null, has the type. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string CurrentExceptionType(const std::exception *known) {
#if defined(TVM_FFI_HAS_CXXABI_)
  (void)known;
  const std::type_info *type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown";
  int status;
  char *text = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string name(text == nullptr ? type->name() : text);
  std::free(text);
  return name;
#elif defined(_CPPRTTI)
  std::string name(known == nullptr ? "unknown" : typeid(*known).name());
  return name.compare(0, 6, "class ") == 0 ? name.substr(6) : name;
#else
  return known == nullptr ? "unknown" : "std::exception";
#endif
}

/* ---- Classes with a kind of their own ---- */

/** The global function that translates the exception that is being handled: (bool exact) -> Error or None. Each
 * ErrorDef puts a function in front of the earlier one. */
inline constexpr const char *kTranslatorName = "ffi_hpy.translate_exception";
/** The beginning of the names of global functions that return the base of a kind: () -> str. */
inline constexpr const char *kKindPrefix = "ffi_hpy.error_base.";

/** The base of a kind that is a built-in class of Python or has an ErrorDef; "Exception" for another kind, "" for
 * BaseException. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string BaseOfKind(const std::string &kind) {
  static constexpr std::string_view bases[][2] = {
      {"BaseException", ""},
      {"Exception", "BaseException"},
      {"KeyboardInterrupt", "BaseException"},
      {"SystemExit", "BaseException"},
      {"GeneratorExit", "BaseException"},
      {"BaseExceptionGroup", "BaseException"},
      {"FloatingPointError", "ArithmeticError"},
      {"OverflowError", "ArithmeticError"},
      {"ZeroDivisionError", "ArithmeticError"},
      {"ModuleNotFoundError", "ImportError"},
      {"IndexError", "LookupError"},
      {"KeyError", "LookupError"},
      {"UnboundLocalError", "NameError"},
      {"BlockingIOError", "OSError"},
      {"ChildProcessError", "OSError"},
      {"ConnectionError", "OSError"},
      {"BrokenPipeError", "ConnectionError"},
      {"ConnectionAbortedError", "ConnectionError"},
      {"ConnectionRefusedError", "ConnectionError"},
      {"ConnectionResetError", "ConnectionError"},
      {"FileExistsError", "OSError"},
      {"FileNotFoundError", "OSError"},
      {"InterruptedError", "OSError"},
      {"IsADirectoryError", "OSError"},
      {"NotADirectoryError", "OSError"},
      {"PermissionError", "OSError"},
      {"ProcessLookupError", "OSError"},
      {"TimeoutError", "OSError"},
      {"NotImplementedError", "RuntimeError"},
      {"RecursionError", "RuntimeError"},
      {"PythonFinalizationError", "RuntimeError"},
      {"IndentationError", "SyntaxError"},
      {"TabError", "IndentationError"},
      {"UnicodeError", "ValueError"},
      {"UnicodeDecodeError", "UnicodeError"},
      {"UnicodeEncodeError", "UnicodeError"},
      {"UnicodeTranslateError", "UnicodeError"},
  };
  for (const auto &[name, base] : bases) {
    if (name == kind) return std::string(base);
  }
  std::optional<Function> base_of = Function::GetGlobal(kKindPrefix + kind);
  return base_of.has_value() ? (*base_of)().cast<std::string>() : "Exception";
}

/** The error for the current exception if an ErrorDef exists for its class, or else for a class above it. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::optional<Error> TranslateByDef() {
  std::optional<Function> translate = Function::GetGlobal(kTranslatorName);
  if (!translate.has_value()) return std::nullopt;
  for (bool exact : {true, false}) {
    if (std::optional<Error> error = (*translate)(exact).as<Error>()) return error;
  }
  return std::nullopt;
}

/* ---- Classes of the standard library ---- */

/** OSError. It has an Array (errno, text, file name, second file name), from which the Python exception is made. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error ErrorOfSystem(const std::system_error &exception) {
  std::error_condition condition = exception.code().default_error_condition();
  std::string text = exception.what();
  if (condition.category() != std::generic_category()) return Error("OSError", text, "");
  std::string paths[2];
  /* By its text, because the class would need a newer C++ library: "filesystem error: text [path] [path]". */
  constexpr std::string_view kPrefix = "filesystem error: ";
  size_t begin = text.find(" [");
  if (text.compare(0, kPrefix.size(), kPrefix) == 0) {
    if (begin != std::string::npos && text.back() == ']') {
      std::string inside = text.substr(begin + 2, text.size() - begin - 3);
      size_t middle = inside.find("] [");
      paths[0] = inside.substr(0, middle);
      if (middle != std::string::npos) paths[1] = inside.substr(middle + 3);
      for (std::string &path : paths) {
        if (path.size() > 1 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
      }
      text.resize(begin);
    }
    text.erase(0, kPrefix.size());
  }
  std::string message = "[Errno " + std::to_string(condition.value()) + "] " + text;
  for (size_t i = 0; i < 2 && !paths[i].empty(); ++i) message.append(i == 0 ? ": '" : " -> '").append(paths[i]) += '\'';
  Any names[2];
  for (size_t i = 0; i < 2 && !paths[i].empty(); ++i) names[i] = String(paths[i]);
  static constexpr const char *kArray = "ffi.Array";
  ObjectRef parts = Function::GetGlobalRequired(kArray)(condition.value(), String(text), names[0], names[1])
                        .template cast<ObjectRef>();
  return Error("OSError", message, "", std::nullopt, parts);
}

/** RuntimeError; the message ends with the type. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error ErrorOfOther(const char *text, const std::exception *exception) {
  std::string type = CurrentExceptionType(exception), message(text == nullptr ? "" : text);
  if (type.find("basic_string<char, ") != std::string::npos) type = "std::string";
  if (type == "std::bad_variant_access") return Error("TypeError", message, "");
  if (text == nullptr) return Error("RuntimeError", "a C++ exception of type `" + type + "`", "");
  return Error("RuntimeError", message.append(" [").append(type).append("]"), "");
}

/** The error for the exception that is being handled. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error ErrorOfCurrent() {
  if (std::optional<Error> error = TranslateByDef()) return *std::move(error);
  auto of = [](const char *kind, const std::exception &exception) { return Error(kind, exception.what(), ""); };
  try {
    throw;
  } catch (const std::out_of_range &exception) {
    return of("IndexError", exception);
  } catch (const std::invalid_argument &exception) {
    return of("ValueError", exception);
  } catch (const std::domain_error &exception) {
    return of("ValueError", exception);
  } catch (const std::length_error &exception) {
    return of("ValueError", exception);
  } catch (const std::range_error &exception) {
    return of("ValueError", exception);
  } catch (const std::overflow_error &exception) {
    return of("OverflowError", exception);
  } catch (const std::bad_cast &exception) {
    return of("TypeError", exception);
  } catch (const std::system_error &exception) {
    return ErrorOfSystem(exception);
  } catch (const std::exception &exception) {
    return ErrorOfOther(exception.what(), &exception);
  } catch (const char *text) {
    return ErrorOfOther(text, nullptr);
  } catch (const std::string &text) {
    return ErrorOfOther(text.c_str(), nullptr);
  } catch (...) {
    return ErrorOfOther(nullptr, nullptr);
  }
}

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void SetSafeCallRaisedFromCurrent() {
  try {
    throw;
  } catch (const Error &error) {
    SetSafeCallRaised(error);
#if defined(__GLIBCXX__)
  } catch (abi::__forced_unwind &) { /* the thread is being cancelled */
    throw;
#endif
  } catch (const std::bad_alloc &exception) {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", exception.what());
  } catch (...) {
    try {
      SetSafeCallRaised(ErrorOfCurrent());
    } catch (...) { /* usually no memory is left */
      TVMFFIErrorSetRaisedFromCStr("RuntimeError", "a C++ exception, for which no error could be made");
    }
  }
}

} // namespace detail

TVM_FFI_COLD_CODE inline bool Error::is_a(std::string_view kind) const {
  std::string name = this->kind();
  while (name != kind && !name.empty()) name = detail::BaseOfKind(name);
  if (!name.empty()) return true;
  return detail::AskPython("error_is_a", *this, String(kind.data(), kind.size())).try_cast<bool>().value_or(false);
}

namespace reflection {

/** Registers the kind of a class of exceptions, which need not be a std::exception. In Python such an exception becomes
 * one of the class that Python code registered for the kind, or else of a new class with the kind's name, below the
 * base. An exception whose class has no ErrorDef has the kind of a class above it that has one. */
template <typename Exception> class ErrorDef {
public:
  /** `kind` is the name of the Python class with its module, such as "printer.Jam"; `base` is a built-in class or
   * another kind. The message is what(). */
  explicit ErrorDef(const char *kind, const char *base = "RuntimeError")
      : ErrorDef(kind, base, [](const Exception &exception) { return std::string(exception.what()); }) {}
  /** As above, with a function that returns the message of an exception. */
  template <typename Message> ErrorDef(const char *kind, const char *base, Message message) {
    Function::SetGlobal(ffi::detail::kKindPrefix + std::string(kind),
                        Function::FromTyped([base = std::string(base)] { return base; }), true);
    std::optional<Function> next = Function::GetGlobal(ffi::detail::kTranslatorName);
    auto translate = [name = std::string(kind), message, next](bool exact) -> Any {
      try {
        throw;
      } catch (const Exception &exception) {
        if (!exact || IsExact()) return Error(name, message(exception), "");
      } catch (...) {
      }
      return next.has_value() ? (*next)(exact) : Any();
    };
    Function::SetGlobal(ffi::detail::kTranslatorName, Function::FromTyped(translate), true);
  }

private:
  /** Whether the current exception is of that class, not of one below it. */
  static bool IsExact() {
#if defined(TVM_FFI_HAS_CXXABI_) && (defined(__cpp_rtti) || defined(__GXX_RTTI))
    const std::type_info *type = abi::__cxa_current_exception_type();
    return type != nullptr && *type == typeid(Exception);
#else
    return true;
#endif
  }
};

} // namespace reflection
} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXCEPTION_H_ */
