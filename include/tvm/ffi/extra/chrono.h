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

/* The classes of Python that times become, and the operations of Python that make and read them. */
struct AsTimedelta {
  static constexpr const char *kName = "datetime.timedelta", *kMake = "timedelta", *kRead = "microseconds_of_timedelta";
  static constexpr bool kTakesSeconds = true;
};
struct AsDatetime {
  static constexpr const char *kName = "datetime.datetime", *kMake = "datetime", *kRead = "microseconds_of_datetime";
  static constexpr bool kTakesSeconds = false;
};
struct AsTime {
  static constexpr const char *kName = "datetime.time", *kMake = "time", *kRead = "microseconds_of_time";
  static constexpr bool kTakesSeconds = false;
};

/** Traits of times that contain a Duration, which the static member DurationOf of Derived returns. */
template <typename Derived, typename Self, typename Duration, typename As> struct TimeTraitsBase : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const Self &, TVMFFIAny *) {
    static_assert(sizeof(Self) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    int64_t count = std::chrono::duration_cast<std::chrono::microseconds>(Derived::DurationOf(src)).count();
    Any made = AskPython(As::kMake, count);
    if (made == nullptr) made = Any(static_cast<double>(count) * 1e-6);
    *result = AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    using std::chrono::microseconds;
    if (src->type_index == kTVMFFIOpaquePyObject) {
      Any count = AskPython(As::kRead, AnyView::CopyFromTVMFFIAny(*src));
      if (std::optional<int64_t> n = count.as<int64_t>()) return Self(Fit(microseconds(*n)));
      return std::nullopt;
    }
    if (!As::kTakesSeconds) return std::nullopt;
    std::optional<double> seconds = TypeTraits<double>::TryCastFromAnyView(src);
    if (!seconds.has_value()) return std::nullopt;
    if (!(std::abs(*seconds) < 9e12)) {
      TVM_FFI_THROW(OverflowError) << *seconds << " seconds do not fit into 64 bits of microseconds";
    }
    return Self(Fit(microseconds(std::llround(*seconds * 1e6))));
  }
  static std::string TypeStr() { return As::kName; }
  static std::string TypeSchema() { return NamedTypeSchema(As::kName); }

private:
  static Duration Fit(std::chrono::microseconds value) {
    using Wide = std::chrono::duration<double, typename Duration::period>;
    double count = std::chrono::duration_cast<Wide>(value).count();
    if constexpr (std::is_integral_v<typename Duration::rep>) {
      using Limits = std::numeric_limits<typename Duration::rep>;
      if (count < static_cast<double>(Limits::min()) || count > static_cast<double>(Limits::max())) {
        TVM_FFI_THROW(OverflowError) << value.count() << " microseconds do not fit into the callee's duration";
      }
    }
    return std::chrono::duration_cast<Duration>(value);
  }
};

template <typename Clock, typename Duration, typename As, typename Self = std::chrono::time_point<Clock, Duration>>
struct TimePointTraits : TimeTraitsBase<TypeTraits<Self>, Self, Duration, As> {
  static Duration DurationOf(Self value) { return value.time_since_epoch(); }
};

} // namespace detail

template <typename Rep, typename Period>
struct TypeTraits<std::chrono::duration<Rep, Period>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::duration<Rep, Period>>, std::chrono::duration<Rep, Period>,
                             std::chrono::duration<Rep, Period>, detail::AsTimedelta> {
  static std::chrono::duration<Rep, Period> DurationOf(std::chrono::duration<Rep, Period> value) { return value; }
};
template <typename Duration>
struct TypeTraits<std::chrono::time_point<std::chrono::system_clock, Duration>>
    : detail::TimePointTraits<std::chrono::system_clock, Duration, detail::AsDatetime> {};
template <typename Duration>
struct TypeTraits<std::chrono::time_point<std::chrono::steady_clock, Duration>>
    : detail::TimePointTraits<std::chrono::steady_clock, Duration, detail::AsTimedelta> {};

#if __cplusplus >= 202002L && (!defined(_GLIBCXX_RELEASE) || _GLIBCXX_RELEASE >= 11)

template <typename Duration>
struct TypeTraits<std::chrono::hh_mm_ss<Duration>>
    : detail::TimeTraitsBase<TypeTraits<std::chrono::hh_mm_ss<Duration>>, std::chrono::hh_mm_ss<Duration>, Duration,
                             detail::AsTime> {
  static auto DurationOf(const std::chrono::hh_mm_ss<Duration> &value) { return value.to_duration(); }
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
