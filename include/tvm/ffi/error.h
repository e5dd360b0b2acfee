/* error.h - errors: throwing, catching and passing them on.
 *
 *   TVM_FFI_THROW(ValueError) << "expected 3 dimensions, got " << ndim;
 *   TVM_FFI_CHECK_EQ(ndim, 3, ValueError) << "in my_function";
 *   TVM_FFI_ICHECK(ptr != nullptr) << "an invariant of this library";   (an InternalError)
 *   TVM_FFI_DCHECK(...)                                                 (the same, in builds without NDEBUG only)
 *
 * An Error is an object and a C++ exception. The exception crosses the ABI as an object: an error thrown in one library
 * is caught in another, or raised as the Python exception that is registered for its kind. */
#ifndef TVM_FFI_ERROR_H_
#define TVM_FFI_ERROR_H_

#include <tvm/ffi/object.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#ifndef TVM_FFI_ALWAYS_LOG_BEFORE_THROW
/** 1: errors are printed on stderr before they are thrown, for code whose exceptions cannot be caught. */
#define TVM_FFI_ALWAYS_LOG_BEFORE_THROW 0
#endif

/* The exception's vtable and type are in libtvm_ffi_cxx. Windows has no such library: each client has its own,
 * and a catch clause compares their names. */
#if defined(_WIN32)
#define TVM_FFI_ERROR_API
#else
/** Linkage of the exception. */
#define TVM_FFI_ERROR_API TVM_FFI_DLL
#endif

namespace tvm::ffi {

class ErrorObj : public Object, public TVMFFIErrorCell {
public:
  static constexpr int32_t _type_index = kTVMFFIError;
  TVM_FFI_DECLARE_OBJECT_INFO_STATIC(StaticTypeKey::kTVMFFIError, ErrorObj, Object);
};

namespace detail {

TVM_FFI_INLINE TVMFFIByteArray ByteArrayOf(const std::string &text) { return {text.data(), text.size()}; }

} // namespace detail

/** The exception of this ABI. The parts of the exception are strings:
 *   kind       the name of the error's class, such as "ValueError"
 *   message
 *   backtrace  one line or two per frame, `  File "a.cc", line 1, in f`, the most recent call first */
class TVM_FFI_ERROR_API Error : public ObjectRef, public std::exception {
public:
  /** An error with a backtrace, which may be empty. */
  Error(std::string kind, std::string message, std::string backtrace)
      : Error(kind, message, detail::ByteArrayOf(backtrace), nullptr, nullptr) {}
  /** An error with a backtrace of the C ABI, such as from TVMFFIBacktrace. */
  Error(std::string kind, std::string message, const TVMFFIByteArray *backtrace)
      : Error(kind, message, *backtrace, nullptr, nullptr) {}
  /** An error with the error that caused it and an attached object. */
  Error(std::string kind, std::string message, std::string backtrace, std::optional<Error> cause_chain,
        std::optional<ObjectRef> extra_context)
      : Error(kind, message, detail::ByteArrayOf(backtrace), HandleOf(cause_chain), HandleOf(extra_context)) {}

  /** The name of the error's class, such as "ValueError". */
  std::string kind() const { return Text(get()->kind); }
  /** Whether an `except` clause of Python for the class with the name `kind` catches this error: the kind is that name,
   * or the name of a class below it. The name is a kind, or the name of a Python class, with or without its module.
   * Without Python, built-in classes and classes of an ErrorDef are known (exception.h, which function.h
   * includes). */
  inline bool is_a(std::string_view kind) const;
  /** The text for the user. */
  std::string message() const { return Text(get()->message); }
  /** The frames, most recent call first. */
  std::string backtrace() const { return Text(get()->backtrace); }
  /** The error that caused this one. */
  std::optional<Error> cause_chain() const { return RefTo<Error>(get()->cause_chain); }
  /** An object that was attached to the error. */
  std::optional<ObjectRef> extra_context() const { return RefTo<ObjectRef>(get()->extra_context); }

  /** The backtrace in Python's order: the most recent call last. */
  TVM_FFI_COLD_CODE std::string TracebackMostRecentCallLast() const {
    std::string lines;
    const TVMFFIByteArray &text = get()->backtrace;
    for (size_t end = text.size; end > 0;) {
      size_t begin = end; /* start of the last remaining line; `end` is the end of its text */
      while (begin > 0 && text.data[begin - 1] != '\n') --begin;
      if (begin < end) lines.append(text.data + begin, end - begin).push_back('\n');
      end = begin > 0 ? begin - 1 : 0;
    }
    return lines;
  }
  /** Backtrace, kind and message, in the form of an uncaught exception. */
  TVM_FFI_COLD_CODE std::string FullMessage() const {
    std::string text("Traceback (most recent call last):\n");
    return text.append(TracebackMostRecentCallLast()).append(kind()).append(": ").append(message()).append(1, '\n');
  }
  /** Changes this object, which other references may share. update_mode is a TVMFFIBacktraceUpdateMode. */
  void UpdateBacktrace(const TVMFFIByteArray *backtrace, int32_t update_mode) {
    get()->update_backtrace(detail::ObjectUnsafe::GetHeader(get()), backtrace, update_mode);
  }
  /** The message. */
  const char *what() const noexcept override { return get()->message.data; }

  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Error, ObjectRef, ErrorObj);

private:
  Error(const std::string &kind, const std::string &message, TVMFFIByteArray backtrace, TVMFFIObjectHandle cause,
        TVMFFIObjectHandle context) {
    TVMFFIByteArray kind_text = detail::ByteArrayOf(kind), message_text = detail::ByteArrayOf(message);
    TVMFFIObjectHandle made;
    if (TVMFFIErrorCreateWithCauseAndExtraContext(&kind_text, &message_text, &backtrace, cause, context, &made) != 0) {
      throw std::bad_alloc(); /* the only reason for a failure */
    }
    data_ = detail::ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<TVMFFIObject *>(made));
  }
  static std::string Text(const TVMFFIByteArray &text) { return std::string(text.data, text.size); }
  static TVMFFIObjectHandle HandleOf(const std::optional<Error> &ref) { return ref ? Handle(*ref) : nullptr; }
  static TVMFFIObjectHandle HandleOf(const std::optional<ObjectRef> &ref) { return ref ? Handle(*ref) : nullptr; }
  static TVMFFIObjectHandle Handle(const ObjectRef &ref) {
    return detail::ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(ref);
  }
  template <typename Ref> static std::optional<Ref> RefTo(TVMFFIObjectHandle handle) {
    if (handle == nullptr) return std::nullopt;
    return detail::ObjectUnsafe::ObjectRefFromObjectPtr<Ref>(
        detail::ObjectUnsafe::ObjectPtrFromUnowned<Object>(static_cast<TVMFFIObject *>(handle)));
  }
};

/** Throw this after TVMFFIEnvCheckSignals has returned -1: the exception is already pending in the host language. */
inline Error EnvErrorAlreadySet() { return Error("EnvErrorAlreadySet", "", ""); }

namespace detail {

/** Returns and clears the pending error after a C function has returned -1. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error MoveFromSafeCallRaised() {
  TVMFFIObjectHandle handle = nullptr;
  TVMFFIErrorMoveFromRaised(&handle);
  if (handle == nullptr) return Error("InternalError", "a call failed without telling an error", "");
  return ObjectUnsafe::ObjectRefFromObjectPtr<Error>(
      ObjectUnsafe::ObjectPtrFromOwned<Object>(static_cast<TVMFFIObject *>(handle)));
}
inline void SetSafeCallRaised(const Error &error) {
  TVMFFIErrorSetRaised(ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(error));
}

/* ---- Names of classes in messages. While a text is being made, marks surround each name: bytes that no UTF-8 has. A
 * number between a mark and a semicolon is not part of the message either ---- */

inline constexpr char kClassBegin = '\xff', kClassEnd = '\xfe';
inline constexpr char kOfArgument = '\xfd'; /**< names that follow are about the argument of the number */
inline constexpr char kOfItem = '\xfc'; /**< names that follow are about the item of the number */

/** A number with a mark. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline std::string Marked(char mark, size_t number) {
  return std::string(1, mark) + std::to_string(number) + ";";
}
/** Throws an Error of a text with marks, which become FFI_HPY_CLASS_PLACES. `args` is the first argument. */
[[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline void ThrowMarked(const char *kind, const TVMFFIAny *args,
                                                                         const std::string &marked) {
  std::string text;
  std::vector<int64_t> places, path{0};
  int64_t begin = 0;
  for (size_t i = 0; i < marked.size(); ++i) {
    auto size = static_cast<int64_t>(text.size());
    if (marked[i] == kClassBegin) {
      begin = size;
    } else if (marked[i] == kClassEnd) {
      places.insert(places.end(), {begin, size - begin, static_cast<int64_t>(path.size())});
      places.insert(places.end(), path.begin(), path.end());
    } else if (marked[i] == kOfArgument || marked[i] == kOfItem) {
      if (marked[i] == kOfArgument) path.clear();
      char *end;
      path.push_back(std::strtoll(&marked[i + 1], &end, 10));
      i = static_cast<size_t>(end - marked.data());
    } else {
      text += marked[i];
    }
  }
  places.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(args)));
  places.push_back(static_cast<int64_t>(text.size()));
  TVMFFIByteArray bytes{reinterpret_cast<const char *>(places.data()), places.size() * sizeof(int64_t)};
  TVMFFIAny made;
  if (TVMFFIBytesFromByteArray(&bytes, &made) != 0) throw MoveFromSafeCallRaised();
  made.v_obj->__padding = FFI_HPY_CLASS_PLACES;
  const TVMFFIByteArray *backtrace = TVMFFIBacktrace(__FILE__, __LINE__, TVM_FFI_FUNC_SIG, 0);
  Error error(kind, text, std::string(backtrace->data, backtrace->size), std::nullopt,
              ObjectUnsafe::ObjectRefFromObjectPtr<ObjectRef>(ObjectUnsafe::ObjectPtrFromOwned<Object>(made.v_obj)));
  if (TVM_FFI_ALWAYS_LOG_BEFORE_THROW) std::fputs(error.FullMessage().c_str(), stderr);
  throw error;
}

/** Collects a message; its destructor throws. All members are out of line: throwing may be slow, but it occurs in many
 * places and the code at each should be small. */
class ErrorBuilder {
public:
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE ErrorBuilder(const char *kind, const TVMFFIByteArray *backtrace, bool log)
      : kind_(kind), backtrace_(backtrace->data, backtrace->size), log_(log) {}
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE ErrorBuilder(std::string kind, std::string backtrace, bool log)
      : kind_(std::move(kind)), backtrace_(std::move(backtrace)), log_(log) {}
  TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE ErrorBuilder(std::string kind, const TVMFFIByteArray *backtrace, bool log,
                                                   std::optional<Error> cause_chain,
                                                   std::optional<ObjectRef> extra_context)
      : kind_(std::move(kind)), backtrace_(backtrace->data, backtrace->size), cause_chain_(std::move(cause_chain)),
        extra_context_(std::move(extra_context)), log_(log) {}
  ErrorBuilder(const ErrorBuilder &) = delete;
  ErrorBuilder &operator=(const ErrorBuilder &) = delete;
#if defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4722) /* a destructor that never returns */
#endif
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE ~ErrorBuilder() noexcept(false) {
    Error error(std::move(kind_), stream_.str(), std::move(backtrace_), std::move(cause_chain_),
                std::move(extra_context_));
    if (log_) std::fputs(error.FullMessage().c_str(), stderr);
    throw error;
  }
#if defined(_MSC_VER)
#pragma warning(pop)
#endif
  std::ostringstream &stream() { return stream_; }

private:
  std::string kind_;
  std::string backtrace_;
  std::optional<Error> cause_chain_;
  std::optional<ObjectRef> extra_context_;
  std::ostringstream stream_;
  bool log_;
};

} // namespace detail
} // namespace tvm::ffi

/* ---- Throwing: << adds to the message ---- */

#define TVM_FFI_ERROR_STREAM_(ErrorKind, log) \
  ::tvm::ffi::detail::ErrorBuilder(#ErrorKind, TVMFFIBacktrace(__FILE__, __LINE__, TVM_FFI_FUNC_SIG, 0), log).stream()

/** Throws an Error of that kind with the message that << builds: TVM_FFI_THROW(ValueError) << "text". */
#define TVM_FFI_THROW(ErrorKind) TVM_FFI_ERROR_STREAM_(ErrorKind, TVM_FFI_ALWAYS_LOG_BEFORE_THROW)
/** For code that runs while a library is loaded, where an error may not be caught. */
#define TVM_FFI_LOG_AND_THROW(ErrorKind) TVM_FFI_ERROR_STREAM_(ErrorKind, true)

/* ---- Checking ---- */

/** Throws an Error of that kind unless the condition holds; << adds to the message. */
#define TVM_FFI_CHECK(cond, ErrorKind) \
  if (TVM_FFI_PREDICT_FALSE(!(cond))) TVM_FFI_THROW(ErrorKind) << "Check failed: (" #cond << ") is false: "

namespace tvm::ffi {
namespace detail {

/** " (1 vs. 2) ". Both sides are printed by their operator<<. */
template <typename X, typename Y>
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE std::unique_ptr<std::string> LogCheckFormat(const X &x, const Y &y) {
  std::ostringstream stream;
  stream << " (" << x << " vs. " << y << ") ";
  return std::make_unique<std::string>(stream.str());
}

/* Null if the comparison is true. Warnings about comparing signed with unsigned numbers are off, as the caller chose
 * the operands. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#elif defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4389 4018)
#endif
#define TVM_FFI_CHECK_FUNC_(name, op)                                                  \
  template <typename X, typename Y>                                                    \
  TVM_FFI_INLINE std::unique_ptr<std::string> LogCheck##name(const X &x, const Y &y) { \
    if (TVM_FFI_PREDICT_TRUE(x op y)) return nullptr;                                  \
    return LogCheckFormat(x, y);                                                       \
  }
TVM_FFI_CHECK_FUNC_(_LT, <)
TVM_FFI_CHECK_FUNC_(_GT, >)
TVM_FFI_CHECK_FUNC_(_LE, <=)
TVM_FFI_CHECK_FUNC_(_GE, >=)
TVM_FFI_CHECK_FUNC_(_EQ, ==)
TVM_FFI_CHECK_FUNC_(_NE, !=)
#undef TVM_FFI_CHECK_FUNC_
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#pragma warning(pop)
#endif

} // namespace detail
} // namespace tvm::ffi

/** The body of the comparing checks: throws unless `x op y`; the message shows both values. */
#define TVM_FFI_CHECK_BINARY_OP(name, op, x, y, ErrorKind)               \
  if (auto __tvm_ffi_log_err = ::tvm::ffi::detail::LogCheck##name(x, y)) \
  TVM_FFI_THROW(ErrorKind) << "Check failed: " << #x " " #op " " #y << *__tvm_ffi_log_err << ": "

/** Throws ErrorKind unless x < y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_LT(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_LT, <, x, y, ErrorKind)
/** Throws ErrorKind unless x > y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_GT(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_GT, >, x, y, ErrorKind)
/** Throws ErrorKind unless x <= y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_LE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_LE, <=, x, y, ErrorKind)
/** Throws ErrorKind unless x >= y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_GE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_GE, >=, x, y, ErrorKind)
/** Throws ErrorKind unless x == y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_EQ(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_EQ, ==, x, y, ErrorKind)
/** Throws ErrorKind unless x != y; the message shows both values, and << adds to it. */
#define TVM_FFI_CHECK_NE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_NE, !=, x, y, ErrorKind)
/** Returns the pointer, after a check that it is not null. */
#define TVM_FFI_CHECK_NOTNULL(x, ErrorKind) \
  ((x) == nullptr ? TVM_FFI_THROW(ErrorKind) << "Check not null: " #x << ' ', (x) : (x))

/** Throws InternalError unless the condition holds; << adds to the message. */
#define TVM_FFI_ICHECK(x) TVM_FFI_CHECK(x, InternalError)
/** Throws InternalError unless x < y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_LT(x, y) TVM_FFI_CHECK_LT(x, y, InternalError)
/** Throws InternalError unless x > y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_GT(x, y) TVM_FFI_CHECK_GT(x, y, InternalError)
/** Throws InternalError unless x <= y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_LE(x, y) TVM_FFI_CHECK_LE(x, y, InternalError)
/** Throws InternalError unless x >= y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_GE(x, y) TVM_FFI_CHECK_GE(x, y, InternalError)
/** Throws InternalError unless x == y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_EQ(x, y) TVM_FFI_CHECK_EQ(x, y, InternalError)
/** Throws InternalError unless x != y; the message shows both values, and << adds to it. */
#define TVM_FFI_ICHECK_NE(x, y) TVM_FFI_CHECK_NE(x, y, InternalError)
/** The pointer; throws InternalError if it is null. */
#define TVM_FFI_ICHECK_NOTNULL(x) TVM_FFI_CHECK_NOTNULL(x, InternalError)

/* With NDEBUG these checks are compiled but never run. */
#ifdef NDEBUG
#define TVM_FFI_DCHECK_SKIP_ while (false)
#define TVM_FFI_DCHECK_NOTNULL(x) (x)
#else
#define TVM_FFI_DCHECK_SKIP_
/** As TVM_FFI_ICHECK_NOTNULL, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_NOTNULL(x) TVM_FFI_ICHECK_NOTNULL(x)
#endif
/** As TVM_FFI_ICHECK, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK(x) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK(x)
/** As TVM_FFI_ICHECK_LT, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_LT(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_LT(x, y)
/** As TVM_FFI_ICHECK_GT, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_GT(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_GT(x, y)
/** As TVM_FFI_ICHECK_LE, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_LE(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_LE(x, y)
/** As TVM_FFI_ICHECK_GE, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_GE(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_GE(x, y)
/** As TVM_FFI_ICHECK_EQ, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_EQ(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_EQ(x, y)
/** As TVM_FFI_ICHECK_NE, in builds without NDEBUG only. */
#define TVM_FFI_DCHECK_NE(x, y) TVM_FFI_DCHECK_SKIP_ TVM_FFI_ICHECK_NE(x, y)

#endif /* TVM_FFI_ERROR_H_ */
