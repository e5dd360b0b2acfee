/* chrono.h - times of std::chrono as arguments and results. An argument that is finer than the unit of the C++ type is
 * refused; a result is cut to microseconds, the unit of Python.
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

namespace tvm::ffi {
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

/** "milliseconds", for messages. */
template <typename Period> std::string UnitName() {
  if constexpr (std::ratio_equal_v<Period, std::nano>) return "nanoseconds";
  if constexpr (std::ratio_equal_v<Period, std::micro>) return "microseconds";
  if constexpr (std::ratio_equal_v<Period, std::milli>) return "milliseconds";
  if constexpr (std::ratio_equal_v<Period, std::ratio<1>>) return "seconds";
  if constexpr (std::ratio_equal_v<Period, std::ratio<60>>) return "minutes";
  if constexpr (std::ratio_equal_v<Period, std::ratio<3600>>) return "hours";
  if constexpr (std::ratio_equal_v<Period, std::ratio<86400>>) return "days";
  return std::to_string(Period::num) + "/" + std::to_string(Period::den) + " seconds";
}

/** n units of From as a number of units of a Duration that counts in integers. The number is whole if they differ by
 * less than one unit of From: a microsecond cannot be divided into 24ths of a second. */
template <typename Duration, typename From> struct UnitCount {
  using Rep = typename Duration::rep;
  using Factor = std::ratio_divide<From, typename Duration::period>;
  bool is_whole = true, is_inside = false;
  int64_t count = 0;

  explicit UnitCount(int64_t n) {
    int64_t most = std::numeric_limits<int64_t>::max(), least = static_cast<int64_t>(std::numeric_limits<Rep>::min());
    if constexpr (sizeof(Rep) < sizeof(int64_t)) most = static_cast<int64_t>(std::numeric_limits<Rep>::max());
    int64_t scaled = n % Factor::den * Factor::num, part = scaled / Factor::den, rest = std::abs(scaled % Factor::den);
    if (rest >= Factor::num) {
      is_whole = Factor::den - rest < Factor::num;
      part += n < 0 ? -1 : 1;
    }
    if (n / Factor::den > most / Factor::num || n / Factor::den < least / Factor::num) return;
    count = n / Factor::den * Factor::num;
    is_inside = part == 0 || (part < 0 ? part >= least - count : part <= most - count);
    count += is_inside ? part : 0;
  }
};

/** n units of From as a Duration; nullopt if it would be another time. */
template <typename Duration, typename From> std::optional<Duration> ExactDuration(int64_t n) {
  if constexpr (std::is_integral_v<typename Duration::rep>) {
    UnitCount<Duration, From> units(n);
    if (!units.is_whole || !units.is_inside) return std::nullopt;
    return Duration(static_cast<typename Duration::rep>(units.count));
  } else {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<int64_t, From>(n));
  }
}

[[noreturn]] TVM_FFI_COLD_CODE inline void ThrowTimeTooLarge(const std::string &time) {
  TVM_FFI_THROW(OverflowError) << time << " do not fit into 64 bits of microseconds";
  TVM_FFI_UNREACHABLE();
}

/** The microseconds of a result. An integer number of smaller units is cut, because clocks count nanoseconds and Python
 * does not; OverflowError if 64 bits cannot have the number. */
template <typename Rep, typename Period> int64_t ToMicroseconds(std::chrono::duration<Rep, Period> time) {
  if constexpr (std::is_integral_v<Rep>) {
    using Factor = std::ratio_divide<Period, std::micro>;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / Factor::num;
    int64_t count = static_cast<int64_t>(time.count());
    bool is_wrapped = std::is_unsigned_v<Rep> && count < 0;
    if (!is_wrapped && count <= kMost && count >= -kMost) return count * Factor::num / Factor::den;
    ThrowTimeTooLarge(std::to_string(time.count()) + " " + UnitName<Period>());
  } else {
    double count = std::chrono::duration<double, std::micro>(time).count();
    if (std::abs(count) < 9.2e18) return std::llround(count);
    ThrowTimeTooLarge(FloatText(count * 1e-6) + " seconds");
  }
}

/** Traits of times that contain a Duration, which the static member DurationOf of Derived returns. */
template <typename Derived, typename Self, typename Duration, typename As> struct TimeTraitsBase : TypeTraitsBase {
  static constexpr bool kNeedsOwner = true;
  static constexpr bool storage_enabled = false;

  static void CopyToAnyView(const Self &, TVMFFIAny *) {
    static_assert(sizeof(Self) == 0, "an AnyView cannot own the object that this becomes: make it an Any");
  }
  static void MoveToAny(Self src, TVMFFIAny *result) {
    int64_t count = ToMicroseconds(Derived::DurationOf(src));
    Any made = AskPython(As::kMake, count);
    if (made == nullptr) made = Any(static_cast<double>(count) * 1e-6);
    *result = AnyUnsafe::MoveAnyToTVMFFIAny(std::move(made));
  }
  static std::optional<Self> TryCastFromAnyView(const TVMFFIAny *src) {
    std::optional<Self> result;
    auto convert = [&result](int64_t n, auto unit) {
      if (auto time = ExactDuration<Duration, decltype(unit)>(n)) result.emplace(*time);
    };
    if constexpr (!kIsCounted) {
      /* a time may have __float__ */
      bool is_time =
          src->type_index == kTVMFFIOpaquePyObject && AskPython(As::kRead, AnyView::CopyFromTVMFFIAny(*src)) != nullptr;
      if (std::optional<double> seconds = is_time ? std::nullopt : Seconds(src)) {
        return Self(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds)));
      }
    }
    WithUnits(src, convert, [] {});
    return result;
  }
  static std::string GetMismatchTypeInfo(const TVMFFIAny *src) {
    std::string found;
    auto explain = [src, &found](int64_t n, auto unit) {
      found = Shown(src);
      if (!UnitCount<Duration, decltype(unit)>(n).is_whole) {
        found += ", which is finer than " + UnitName<typename Duration::period>();
      } else {
        found.append(kOutsideTheRange).append("of ").append(std::to_string(8 * sizeof(typename Duration::rep)));
        found += " bits of " + UnitName<typename Duration::period>();
      }
    };
    auto exceed = [src, &found] { found = Shown(src) + kOutsideTheRange + "of 64 bits of microseconds"; };
    WithUnits(src, explain, exceed);
    return found.empty() ? GivenClass(src) : found;
  }
  static std::string TypeStr() { return As::kName; }
  static std::string TypeSchema() { return NamedTypeSchema(As::kName); }

private:
  static constexpr bool kIsCounted = std::is_integral_v<typename Duration::rep>;

  static std::optional<double> Seconds(const TVMFFIAny *src) {
    if (!As::kTakesSeconds) return std::nullopt;
    return TypeTraits<double>::TryCastFromAnyView(src);
  }
  /** Calls use(n, unit) for a value that is n units long, or exceed() if n needs more than 64 bits. The unit of a time
   * of Python is a microsecond. The unit of a number of seconds is a microsecond, or the unit of Duration if that is
   * smaller. */
  template <typename Use, typename Exceed> static void WithUnits(const TVMFFIAny *src, Use use, Exceed exceed) {
    using Unit = std::conditional_t<std::ratio_less_v<typename Duration::period, std::micro>, typename Duration::period,
                                    std::micro>;
    if (src->type_index == kTVMFFIOpaquePyObject) {
      Any count = AskPython(As::kRead, AnyView::CopyFromTVMFFIAny(*src));
      if (std::optional<int64_t> n = count.as<int64_t>()) return use(*n, std::micro());
      if (count != nullptr) return exceed();
    }
    if (std::optional<double> seconds = Seconds(src)) {
      double n = *seconds * Unit::den / Unit::num;
      if (!(std::abs(n) < 9.2e18)) return exceed();
      use(std::llround(n), Unit());
    }
  }
  /** The value as Python shows it, or the number of seconds. */
  static std::string Shown(const TVMFFIAny *src) {
    if (std::optional<double> seconds = Seconds(src)) return FloatText(*seconds) + " seconds";
    return AskPython("repr", AnyView::CopyFromTVMFFIAny(*src)).template cast<String>();
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
    int64_t year = (*parts)[0], month = (*parts)[1], day = (*parts)[2];
    bool is_inside = std::abs(year) <= 32767 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
    if (!is_inside) return std::nullopt;
    return Self(std::chrono::year(static_cast<int>(year)), std::chrono::month(static_cast<unsigned>(month)),
                std::chrono::day(static_cast<unsigned>(day)));
  }
  static std::string TypeStr() { return "datetime.date"; }
  static std::string TypeSchema() { return detail::NamedTypeSchema("datetime.date"); }
};

#endif

} // namespace tvm::ffi

#endif /* TVM_FFI_EXTRA_CHRONO_H_ */
