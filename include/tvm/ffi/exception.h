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

#include <tvm/ffi/exception_kind.h>
#include <tvm/ffi/function.h>

namespace tvm::ffi {
namespace detail {

/* ---- Classes with a kind of their own ---- */

/** The global function that translates the exception that is being handled: (bool exact, void *library) -> Error or
 * None. Each ErrorDef puts a function in front of the earlier one. With a library, only its ErrorDefs translate. */
inline constexpr const char *kTranslatorName = "ffi_hpy.translate_exception.2";
/** The address of the variable stands for the library that is compiled. The functions that use it are hidden, too: of a
 * function that several libraries export, all of them may call the first one (RTLD_GLOBAL). */
TVM_FFI_HIDDEN inline char library_mark = 0;
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

/** The error for the current exception if an ErrorDef exists for its class, or else for a class above it; an ErrorDef
 * of this library comes before ErrorDefs of other libraries. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE TVM_FFI_HIDDEN inline std::optional<Error> TranslateByDef() {
  std::optional<Function> translate = Function::GetGlobal(kTranslatorName);
  if (!translate.has_value()) return std::nullopt;
  for (bool exact : {true, false}) {
    for (void *library : {static_cast<void *>(&library_mark), static_cast<void *>(nullptr)}) {
      if (std::optional<Error> error = (*translate)(exact, library).as<Error>()) return error;
    }
  }
  return std::nullopt;
}

TVM_FFI_HIDDEN Error ErrorOf(const std::exception_ptr &thrown); /* below */

/** An error of a kind whose cause is an exception, unless that is null. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE TVM_FFI_HIDDEN inline Error
ErrorWithCause(const std::string &kind, const std::string &message, const std::exception_ptr &cause) {
  if (cause == nullptr) return Error(kind, message, "");
  return Error(kind, message, "", ErrorOf(cause), std::nullopt);
}

/** The error for the exception that is being handled. An OSError has an Array (errno, text, file name, second file
 * name), from which the Python exception is made. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE TVM_FFI_HIDDEN inline Error ErrorOfCurrent() {
  if (std::optional<Error> error = TranslateByDef()) return *std::move(error);
  ExceptionFacts facts = FactsOfCurrent();
  if (!facts.has_number) return ErrorWithCause(facts.kind, facts.text, facts.cause);
  Any names[2]; /* bytes, because a name need not be UTF-8 */
  for (size_t i = 0; i < 2 && !facts.paths[i].empty(); ++i) names[i] = Bytes(facts.paths[i]);
  static constexpr const char *kArray = "ffi.Array";
  ObjectRef parts = Function::GetGlobalRequired(kArray)(facts.number, String(facts.text), names[0], names[1])
                        .template cast<ObjectRef>();
  std::optional<Error> cause;
  if (facts.cause != nullptr) cause = ErrorOf(facts.cause);
  return Error(facts.kind, facts.Message(), "", cause, parts);
}

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE TVM_FFI_HIDDEN inline Error ErrorOf(const std::exception_ptr &thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error &error) {
    return error;
  } catch (...) {
    return ErrorOfCurrent();
  }
}

TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE TVM_FFI_HIDDEN inline void SetSafeCallRaisedFromCurrent() {
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
template <typename Exception> class TVM_FFI_HIDDEN ErrorDef {
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
    auto translate = [name = std::string(kind), message, next](bool exact, void *library) -> Any {
      if (library == nullptr || library == &ffi::detail::library_mark) {
        try {
          throw;
        } catch (const Exception &exception) {
          if (!exact || IsExact())
            return ffi::detail::ErrorWithCause(name, TextOf(message, exception), ffi::detail::NestedIn(exception));
        } catch (...) {
        }
      }
      return next.has_value() ? (*next)(exact, library) : Any();
    };
    Function::SetGlobal(ffi::detail::kTranslatorName, Function::FromTyped(translate), true);
  }

private:
  /** The message of an exception. One that the function throws does not hide the class of the exception. */
  template <typename Message> static std::string TextOf(const Message &message, const Exception &exception) {
    try {
      return message(exception);
    } catch (...) {
      return "<no message: its function threw " + ffi::detail::FactsOfCurrent().Message() + ">";
    }
  }
  /** Whether the current exception is of that class, not of one that a program has defined below it. */
  static bool IsExact() {
#if defined(TVM_FFI_HAS_CXXABI_) && (defined(__cpp_rtti) || defined(__GXX_RTTI))
    const std::type_info *type = abi::__cxa_current_exception_type();
    return type != nullptr && ffi::detail::IsTypeOrNested(*type, typeid(Exception));
#else
    return true;
#endif
  }
};

} // namespace reflection
} // namespace tvm::ffi

#endif /* TVM_FFI_EXCEPTION_H_ */
