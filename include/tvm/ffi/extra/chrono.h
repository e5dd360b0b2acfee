/* chrono.h - times of std::chrono as arguments and results, to the microsecond.
 *
 *   duration, steady_clock::time_point   datetime.timedelta; a number is seconds
 *   system_clock::time_point             datetime.datetime in local time, without a zone; also takes a datetime with a
 *                                        zone, a date (midnight) and a time (of 1 January 1970)
 *   year_month_day (C++20)               datetime.date
 *   hh_mm_ss (C++20)                     datetime.time
 *
 * Without a Python in the process, durations and points cross as seconds, a float. */
#ifndef TVM_FFI_EXTRA_CHRONO_H_
#define TVM_FFI_EXTRA_CHRONO_H_

#include <tvm/ffi/container/array.h>

#include <chrono>
#include <cmath>

namespace tvm {
namespace ffi {
namespace detail {

/** Traits of times that are a number of microseconds. Derived provides FromMicroseconds and ToMicroseconds, and the
 * names of the operations of Python and of its class. */
template <typename Derived, typename Self> struct TimeTraitsBase : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const Self &, TVMFFIAny *) {
    static_assert(sizeof(Self) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    int64_t count = Derived::ToMicroseconds(src).count();
    Any made = AskPython(Derived::kMake, count);
    if (made == nullptr) made = Any(static_cast<double>(count) * 1e-6);
    *result = AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    using std::chrono::microseconds;
    if (src->type_index == kTVMFFIOpaquePyObject) {
      Any count = AskPython(Derived::kRead, AnyView::CopyFromTVMFFIAny(*src));
      if (std::optional<int64_t> n = count.as<int64_t>()) return Derived::FromMicroseconds(microseconds(*n));
      return std::nullopt;
    }
    if (!Derived::kTakesSeconds) return std::nullopt;
    std::optional<double> seconds = TypeTraits<double>::TryCastFromAnyView(src);
    if (!seconds.has_value()) return std::nullopt;
    if (!(std::abs(*seconds) < 9e12)) {
      TVM_FFI_THROW(OverflowError) << *seconds << " seconds do not fit into 64 bits of microseconds";
    }
    return Derived::FromMicroseconds(microseconds(std::llround(*seconds * 1e6)));
  }
  static std::string TypeStr() { return Derived::kName; }
  static std::string TypeSchema() { return NamedTypeSchema(Derived::kName); }

protected:
  template <typename To> static To Fit(std::chrono::microseconds value) {
    using Wide = std::chrono::duration<double, typename To::period>;
    double count = std::chrono::duration_cast<Wide>(value).count();
    if constexpr (std::is_integral_v<typename To::rep>) {
      using Limits = std::numeric_limits<typename To::rep>;
      if (count < static_cast<double>(Limits::min()) || count > static_cast<double>(Limits::max())) {
        TVM_FFI_THROW(OverflowError) << value.count() << " microseconds do not fit into the callee's duration";
      }
    }
    return std::chrono::duration_cast<To>(value);
  }
};

} // namespace detail

template <typename Rep, typename Period>
struct TypeTraits<std::chrono::duration<Rep, Period>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::duration<Rep, Period>>, std::chrono::duration<Rep, Period>> {
  using Self = std::chrono::duration<Rep, Period>;
  static constexpr const char *kName = "datetime.timedelta";
  static constexpr const char *kMake = "timedelta";
  static constexpr const char *kRead = "microseconds_of_timedelta";
  static constexpr bool kTakesSeconds = true;
  static Self FromMicroseconds(std::chrono::microseconds value) { return TypeTraits::template Fit<Self>(value); }
  static std::chrono::microseconds ToMicroseconds(Self value) {
    return std::chrono::duration_cast<std::chrono::microseconds>(value);
  }
};

template <typename Duration>
struct TypeTraits<std::chrono::time_point<std::chrono::system_clock, Duration>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::time_point<std::chrono::system_clock, Duration>>,
                             std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Self = std::chrono::time_point<std::chrono::system_clock, Duration>;
  static constexpr const char *kName = "datetime.datetime";
  static constexpr const char *kMake = "datetime";
  static constexpr const char *kRead = "microseconds_of_datetime";
  static constexpr bool kTakesSeconds = false;
  static Self FromMicroseconds(std::chrono::microseconds value) {
    return Self(TypeTraits::template Fit<Duration>(value));
  }
  static std::chrono::microseconds ToMicroseconds(Self value) {
    return std::chrono::duration_cast<std::chrono::microseconds>(value.time_since_epoch());
  }
};

template <typename Duration>
struct TypeTraits<std::chrono::time_point<std::chrono::steady_clock, Duration>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::time_point<std::chrono::steady_clock, Duration>>,
                             std::chrono::time_point<std::chrono::steady_clock, Duration>> {
  using Self = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  static constexpr const char *kName = "datetime.timedelta";
  static constexpr const char *kMake = "timedelta";
  static constexpr const char *kRead = "microseconds_of_timedelta";
  static constexpr bool kTakesSeconds = true;
  static Self FromMicroseconds(std::chrono::microseconds value) {
    return Self(TypeTraits::template Fit<Duration>(value));
  }
  static std::chrono::microseconds ToMicroseconds(Self value) {
    return std::chrono::duration_cast<std::chrono::microseconds>(value.time_since_epoch());
  }
};

#if __cplusplus >= 202002L && (!defined(_GLIBCXX_RELEASE) || _GLIBCXX_RELEASE >= 11)

template <typename Duration>
struct TypeTraits<std::chrono::hh_mm_ss<Duration>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::hh_mm_ss<Duration>>, std::chrono::hh_mm_ss<Duration>> {
  using Self = std::chrono::hh_mm_ss<Duration>;
  static constexpr const char *kName = "datetime.time";
  static constexpr const char *kMake = "time";
  static constexpr const char *kRead = "microseconds_of_time";
  static constexpr bool kTakesSeconds = false;
  static Self FromMicroseconds(std::chrono::microseconds value) {
    return Self(TypeTraits::template Fit<Duration>(value));
  }
  static std::chrono::microseconds ToMicroseconds(Self value) {
    return std::chrono::duration_cast<std::chrono::microseconds>(value.to_duration());
  }
};

template <> struct TypeTraits<std::chrono::year_month_day> : TypeTraitsBase {
  using Self = std::chrono::year_month_day;
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const Self &, TVMFFIAny *) { TVM_FFI_THROW(InternalError) << "a view cannot own the date"; }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    Array<int64_t> parts{static_cast<int>(src.year()), static_cast<unsigned>(src.month()),
                         static_cast<unsigned>(src.day())};
    Any made = detail::AskPython("date", parts);
    if (made == nullptr) made = Any(std::move(parts));
    *result = detail::AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    Any value = AnyView::CopyFromTVMFFIAny(*src);
    if (src->type_index == kTVMFFIOpaquePyObject) value = detail::AskPython("date_parts", value);
    auto parts = value.as<Array<int64_t>>();
    if (!parts.has_value() || parts->size() != 3) return std::nullopt;
    return Self(std::chrono::year(static_cast<int>((*parts)[0])),
                std::chrono::month(static_cast<unsigned>((*parts)[1])),
                std::chrono::day(static_cast<unsigned>((*parts)[2])));
  }
  static std::string TypeStr() { return "datetime.date"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("datetime.date"); }
};

#endif

} // namespace ffi
} // namespace tvm

#endif /* TVM_FFI_EXTRA_CHRONO_H_ */
