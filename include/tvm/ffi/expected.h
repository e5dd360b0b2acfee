/* expected.h - Expected<T>: a T or an Error, for code that does not throw. 16 bytes, an Any.
 *
 *   Expected<int> Parse(const String &text) noexcept {
 *     TVM_FFI_RET_CHECK(!text.empty(), ValueError) << "nothing to parse";
 *     ...
 *     return TVM_FFI_UNEXPECTED(ValueError) << "no digit: " << text;
 *   }
 *
 * A function that returns an Expected can be registered like any other function: its error is raised in the caller. */
#ifndef TVM_FFI_EXPECTED_H_
#define TVM_FFI_EXPECTED_H_

#include <tvm/ffi/any.h>
#include <tvm/ffi/error.h>

#include <sstream>

namespace tvm::ffi {

/** An error that a function returns as an Expected. */
template <typename E = Error> class Unexpected {
  static_assert(std::is_base_of_v<Error, std::remove_cv_t<E>>, "an Unexpected holds an Error");

public:
  /** Wraps an error that is to be returned. */
  explicit Unexpected(E error) : error_(std::move(error)) {}
  /** The error. */
  const E &error() const & noexcept { return error_; }
  /** The error. */
  E &error() & noexcept { return error_; }
  /** The error, to be moved out. */
  const E &&error() const && noexcept { return std::move(error_); }
  /** The error, to be moved out. */
  E &&error() && noexcept { return std::move(error_); }

private:
  E error_;
};
template <typename E> Unexpected(E) -> Unexpected<E>;

template <typename T> class Expected;

template <typename T, typename U>
inline constexpr bool type_subsumes_v<Expected<T>, Expected<U>> = type_subsumes_v<T, U>;

namespace detail {

template <typename T> inline constexpr bool is_expected_v = false;
template <typename T> inline constexpr bool is_expected_v<Expected<T>> = true;
template <typename T> inline constexpr bool is_unexpected_v = false;
template <typename E> inline constexpr bool is_unexpected_v<Unexpected<E>> = true;

struct ExpectedUnsafe;

/** The part of Expected<T> that does not depend on T. */
class ExpectedBase {
public:
  /** The type index of the value or of the error. */
  int32_t type_index() const noexcept { return data_.type_index(); }
  /** Whether there is an error. */
  bool is_err() const noexcept { return data_.type_index() == kTVMFFIError; }
  /** Whether there is a value. */
  bool is_ok() const noexcept { return !is_err(); }
  /** Whether there is a value. */
  bool has_value() const noexcept { return is_ok(); }
  /** The error. RuntimeError if there is a value. */
  Error error() const & {
    RequireError();
    return AnyUnsafe::CopyFromAnyViewAfterCheck<Error>(data_);
  }
  /** The error, moved out. RuntimeError if there is a value. */
  Error error() && {
    RequireError();
    return AnyUnsafe::MoveFromAnyAfterCheck<Error>(std::move(data_));
  }

protected:
  ExpectedBase() = default;
  explicit ExpectedBase(Any data) : data_(std::move(data)) {}
  TVM_FFI_INLINE void RequireValue() const {
    if (TVM_FFI_PREDICT_FALSE(is_err())) Throw();
  }

  Any data_;

private:
  [[noreturn]] TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE void Throw() const { throw error(); }
  void RequireError() const {
    if (is_ok()) TVM_FFI_THROW(RuntimeError) << "Bad expected access: there is a value, not an error";
  }

  friend struct ExpectedUnsafe;
};

/** The TypeError for a value that is not of the other type. The name of that type is made here, because only an error
 * needs it. */
TVM_FFI_COLD_CODE TVM_FFI_NO_INLINE inline Error CannotTreat(int32_t type_index, std::string (*name_of_other)()) {
  return Error("TypeError",
               "Cannot treat type `" + TypeIndexToTypeKey(type_index) + "` as type `" + name_of_other() + "`", "");
}

} // namespace detail

/** A T or an Error: the result of a function that does not throw. */
template <typename T> class Expected : public detail::ExpectedBase {
  static_assert(!std::is_void_v<T>, "use Expected<void>, without const or volatile");
  static_assert(!std::is_same_v<T, Error>, "an Expected<Error> could not distinguish success from failure: use Error");
  template <typename U>
  static constexpr bool kIsValue =
      !detail::is_expected_v<U> && !detail::is_unexpected_v<U> && !std::is_base_of_v<Error, U>;

public:
  using value_type = T;

  /** A value. */
  Expected(T value) : ExpectedBase(Any(std::move(value))) {}
  /** A value, converted to T. */
  template <typename U, typename = std::enable_if_t<kIsValue<std::decay_t<U>> && std::is_convertible_v<U, T>>>
  Expected(U &&value) : Expected(static_cast<T>(std::forward<U>(value))) {}
  /** From an Expected of another type, whose value is converted if it is not a T already. */
  template <typename U,
            typename = std::enable_if_t<!std::is_void_v<U> && (type_subsumes_v<T, U> || std::is_convertible_v<U, T>)>>
  Expected(Expected<U> other) {
    if (type_subsumes_v<T, U> || other.is_err()) {
      data_ = std::move(other.data_);
    } else {
      data_ = Any(static_cast<T>(std::move(other).value()));
    }
  }
  /** An error. */
  Expected(Error error) : ExpectedBase(Any(std::move(error))) {}
  /** An error, as TVM_FFI_UNEXPECTED makes it. */
  template <typename E, typename = std::enable_if_t<std::is_base_of_v<Error, std::remove_cv_t<E>>>>
  Expected(Unexpected<E> unexpected) : Expected(Error(std::move(unexpected).error())) {}

  /** The value. Throws the error if the Expected has none. */
  TVM_FFI_INLINE T value() const & {
    RequireValue();
    return detail::AnyUnsafe::CopyFromAnyViewAfterCheck<T>(data_);
  }
  /** The value, moved out. Throws the error if the Expected has none. */
  TVM_FFI_INLINE T value() && {
    RequireValue();
    return detail::AnyUnsafe::MoveFromAnyAfterCheck<T>(std::move(data_));
  }
  /** The value, or `fallback` if there is an error. */
  template <typename U = std::remove_cv_t<T>> TVM_FFI_INLINE T value_or(U &&fallback) const & {
    return is_ok() ? value() : static_cast<T>(std::forward<U>(fallback));
  }
  /** The value, moved out, or `fallback` if there is an error. */
  template <typename U = std::remove_cv_t<T>> TVM_FFI_INLINE T value_or(U &&fallback) && {
    return is_ok() ? std::move(*this).value() : static_cast<T>(std::forward<U>(fallback));
  }

  /** The value as a U, by the rules of Any::as. An error is passed on; a value that is not a U gives a TypeError. */
  template <typename U, typename = std::enable_if_t<std::is_same_v<U, std::decay_t<U>> &&
                                                    !std::is_base_of_v<Error, U> && detail::storage_enabled_v<U>>>
  TVM_FFI_INLINE Expected<U> as_or_error() const & {
    return Expected(*this).template Become<U>();
  }
  /** As as_or_error() const, but moves the content out. */
  template <typename U, typename = std::enable_if_t<std::is_same_v<U, std::decay_t<U>> &&
                                                    !std::is_base_of_v<Error, U> && detail::storage_enabled_v<U>>>
  TVM_FFI_INLINE Expected<U> as_or_error() && {
    return this->template Become<U>();
  }

private:
  Expected() = default;
  template <typename U> TVM_FFI_INLINE Expected<U> Become() {
    Expected<U> result;
    if (TVM_FFI_PREDICT_TRUE(is_err() || detail::AnyUnsafe::CheckAnyStrict<U>(data_))) {
      result.data_ = std::move(data_);
    } else {
      result.data_ = detail::CannotTreat(type_index(), &detail::Type2Str<U>::v);
    }
    return result;
  }

  template <typename> friend class Expected;
  friend struct detail::ExpectedUnsafe;
};

/** Success without a value, or an error. */
template <> class Expected<void> : public detail::ExpectedBase {
public:
  using value_type = void;

  Expected() = default;
  /** An error. */
  Expected(Error error) : ExpectedBase(Any(std::move(error))) {}
  /** An error, as TVM_FFI_UNEXPECTED makes it. */
  template <typename E, typename = std::enable_if_t<std::is_base_of_v<Error, std::remove_cv_t<E>>>>
  Expected(Unexpected<E> unexpected) : Expected(Error(std::move(unexpected).error())) {}

  /** Throws the error if there is one. */
  void value() const { RequireValue(); }

  friend struct detail::ExpectedUnsafe;
};

namespace detail {

/** Access to the value inside an Expected. */
struct ExpectedUnsafe {
  template <typename T> TVM_FFI_INLINE static Expected<T> MoveFromTVMFFIAny(TVMFFIAny raw) {
    Expected<T> result;
    result.data_ = AnyUnsafe::MoveTVMFFIAnyRawToAny(raw);
    return result;
  }
  template <typename T> TVM_FFI_INLINE static TVMFFIAny MoveToTVMFFIAny(Expected<T> &&result) {
    return AnyUnsafe::MoveAnyToTVMFFIAny(std::move(result.data_));
  }
  template <typename T> TVM_FFI_INLINE static Any &&GetData(Expected<T> &result) noexcept {
    return std::move(result.data_);
  }
  template <typename T> TVM_FFI_INLINE static const Any &GetData(const Expected<T> &result) noexcept {
    return result.data_;
  }
  /** The value as a T; the caller knows that it is a T. */
  template <typename T, typename U> TVM_FFI_INLINE static T ValueAs(const Expected<U> &result) {
    return AnyUnsafe::CopyFromAnyViewAfterCheck<T>(result.data_);
  }
};

} // namespace detail

template <typename T> inline constexpr bool use_default_type_traits_v<Expected<T>> = false;

/** As a value: the T (None for void), or the error. */
template <typename T> struct TypeTraits<Expected<T>> : TypeTraitsBase {
  using Value = std::conditional_t<std::is_void_v<T>, std::nullptr_t, T>;
  using Unsafe = detail::ExpectedUnsafe;

  TVM_FFI_INLINE static void CopyToAnyView(const Expected<T> &src, TVMFFIAny *result) {
    *result = *detail::AnyUnsafe::TVMFFIAnyPtrFromAny(Unsafe::GetData(src));
  }
  TVM_FFI_INLINE static void MoveToAny(Expected<T> src, TVMFFIAny *result) {
    *result = Unsafe::MoveToTVMFFIAny(std::move(src));
  }
  TVM_FFI_INLINE static bool CheckAnyStrict(const TVMFFIAny *src) {
    return src->type_index == kTVMFFIError || TypeTraits<Value>::CheckAnyStrict(src);
  }
  TVM_FFI_INLINE static Expected<T> CopyFromAnyViewAfterCheck(const TVMFFIAny *src) {
    return Make(AnyView::CopyFromTVMFFIAny(*src));
  }
  TVM_FFI_INLINE static Expected<T> MoveFromAnyAfterCheck(TVMFFIAny *src) {
    return Make(detail::AnyUnsafe::MoveTVMFFIAnyToAny(src));
  }
  TVM_FFI_INLINE static std::optional<Expected<T>> TryCastFromAnyView(const TVMFFIAny *src) {
    if (std::optional<Value> value = TypeTraits<Value>::TryCastFromAnyView(src)) return Make(Any(*std::move(value)));
    if (std::optional<Error> error = TypeTraits<Error>::TryCastFromAnyView(src)) return Make(Any(*std::move(error)));
    return std::nullopt;
  }
  static std::string TypeStr() { return "Expected<" + detail::Type2Str<T>::v() + ">"; }
  static std::string TypeSchema() {
    return "{\"type\":\"Expected\",\"args\":[" + detail::TypeSchema<T>::v() + ",{\"type\":\"ffi.Error\"}]}";
  }

private:
  TVM_FFI_INLINE static Expected<T> Make(Any data) {
    return Unsafe::MoveFromTVMFFIAny<T>(detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(data)));
  }
};

namespace detail {

/** Collects a message for an error that is returned. */
class UnexpectedBuilder {
public:
  UnexpectedBuilder(const char *kind, const char *file, int line, const char *function)
      : kind_(kind), file_(file), line_(line), function_(function) {}
  template <typename T> UnexpectedBuilder &&operator<<(T &&value) && {
    stream_ << std::forward<T>(value);
    return std::move(*this);
  }
  UnexpectedBuilder &&operator<<(std::ostream &(*manipulator)(std::ostream &)) && {
    manipulator(stream_);
    return std::move(*this);
  }
  TVM_FFI_NO_INLINE operator Unexpected<Error>() && {
    return Unexpected<Error>(
        Error(kind_, stream_.str(),
              std::string("  File \"") + file_ + "\", line " + std::to_string(line_) + ", in " + function_ + "\n"));
  }
  template <typename T> operator Expected<T>() && { return static_cast<Unexpected<Error>>(std::move(*this)); }

private:
  const char *kind_;
  const char *file_;
  int line_;
  const char *function_;
  std::ostringstream stream_;
};

} // namespace detail
} // namespace tvm::ffi

/* ---- Returning errors: << adds to the message ---- */

/** Makes an error that converts to any Expected; << adds to the message. */
#define TVM_FFI_UNEXPECTED(ErrorKind) \
  ::tvm::ffi::detail::UnexpectedBuilder(#ErrorKind, __FILE__, __LINE__, TVM_FFI_FUNC_SIG)

/** Returns from the function unless the condition holds. A loop, because an `if` would capture an `else` of the
 * caller. */
#define TVM_FFI_RET_CHECK(cond, ErrorKind)                                \
  while (TVM_FFI_PREDICT_FALSE(!(cond)))                                  \
  return TVM_FFI_UNEXPECTED(ErrorKind) << "Check failed: (" #cond ") is " \
                                          "false: "

/** The body of the comparing checks: returns an error unless `x op y`; the message shows both values. */
#define TVM_FFI_RET_CHECK_BINARY_OP(name, op, x, y, ErrorKind)              \
  while (auto __tvm_ffi_log_err = ::tvm::ffi::detail::LogCheck##name(x, y)) \
  return TVM_FFI_UNEXPECTED(ErrorKind) << "Check failed: " << #x " " #op " " #y << *__tvm_ffi_log_err << ": "

/** Returns ErrorKind unless x < y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_LT(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_LT, <, x, y, ErrorKind)
/** Returns ErrorKind unless x > y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_GT(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_GT, >, x, y, ErrorKind)
/** Returns ErrorKind unless x <= y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_LE(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_LE, <=, x, y, ErrorKind)
/** Returns ErrorKind unless x >= y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_GE(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_GE, >=, x, y, ErrorKind)
/** Returns ErrorKind unless x == y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_EQ(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_EQ, ==, x, y, ErrorKind)
/** Returns ErrorKind unless x != y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_CHECK_NE(x, y, ErrorKind) TVM_FFI_RET_CHECK_BINARY_OP(_NE, !=, x, y, ErrorKind)

/** Returns InternalError unless the condition holds; << adds to the message. */
#define TVM_FFI_RET_ICHECK(x) TVM_FFI_RET_CHECK(x, InternalError)
/** Returns InternalError unless x < y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_LT(x, y) TVM_FFI_RET_CHECK_LT(x, y, InternalError)
/** Returns InternalError unless x > y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_GT(x, y) TVM_FFI_RET_CHECK_GT(x, y, InternalError)
/** Returns InternalError unless x <= y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_LE(x, y) TVM_FFI_RET_CHECK_LE(x, y, InternalError)
/** Returns InternalError unless x >= y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_GE(x, y) TVM_FFI_RET_CHECK_GE(x, y, InternalError)
/** Returns InternalError unless x == y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_EQ(x, y) TVM_FFI_RET_CHECK_EQ(x, y, InternalError)
/** Returns InternalError unless x != y; the message shows both values, and << adds to it. */
#define TVM_FFI_RET_ICHECK_NE(x, y) TVM_FFI_RET_CHECK_NE(x, y, InternalError)

#endif /* TVM_FFI_EXPECTED_H_ */
