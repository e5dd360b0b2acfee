/* chrono.h - std::chrono as arguments and as results: a duration is a datetime.timedelta, or as an argument a float of
 * seconds; a time of system_clock is a datetime.datetime in local time, or as an argument a date, a time of 1970-01-01,
 * or a datetime with a time zone; a time of another clock is as a duration. Python counts microseconds. */
#ifndef FFI_HPY_STL_CHRONO_H_
#define FFI_HPY_STL_CHRONO_H_

#include <ffi_hpy/bind/function.h>

#include <chrono>
#include <cmath>
#include <limits>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Asks the package for the microseconds of a value of Python. False if it has none. */
inline bool read_microseconds(operation what, handle source, std::chrono::microseconds *out) noexcept {
  handle found = guarded([&] { return ask_python(what, source); });
  if (!found.is_valid()) python_error dropped;
  bool fits = found.any().type_index == kTVMFFIInt;
  if (fits) *out = std::chrono::microseconds(found.any().v_int64);
  found.dec_ref();
  return fits;
}

/** Converts a duration to one of another unit, towards zero. False if the number is outside the range of the new
 * duration. */
template <typename To, typename From> bool convert_duration(const From &from, To *to) noexcept {
  using Rep = typename To::rep;
  if constexpr (!std::is_floating_point_v<Rep>) {
    /* The nearest numbers outside the range, or, if long double has too few digits, the last numbers inside. */
    constexpr auto least = static_cast<long double>(std::numeric_limits<Rep>::min()) - 1;
    constexpr auto most = static_cast<long double>(std::numeric_limits<Rep>::max()) + 1;
    long double n = std::chrono::duration<long double, typename To::period>(from).count();
    if (!(n > least && n < most)) return false;
  }
  if constexpr (std::is_same_v<Rep, float>) { /* fewer digits than a time has microseconds */
    *to = To(static_cast<float>(std::chrono::duration<double, typename To::period>(from).count()));
  } else {
    *to = std::chrono::duration_cast<To>(from);
  }
  return true;
}

/** The microseconds of a duration or time as an argument for Python. */
template <typename Duration> object microseconds_of(const Duration &source) {
  if constexpr (std::is_same_v<typename Duration::rep, float>) { /* too few digits for the microseconds of a day */
    using Period = typename Duration::period;
    constexpr double per_second = static_cast<double>(Period::den) / static_cast<double>(Period::num);
    double n = source.count(), seconds = std::trunc(n / per_second);
    float rest = static_cast<float>(n - seconds * per_second) * static_cast<float>(1e6 / per_second);
    return microseconds_of(std::chrono::duration<double, std::micro>(seconds * 1e6 + std::trunc(rest)));
  }
  std::chrono::duration<int64_t, std::micro> n;
  if (!convert_duration(source, &n)) {
    throw builtin_exception("OverflowError", "the time does not fit into 64 bits of microseconds");
  }
  return steal(int_value(n.count()));
}
template <typename Duration> handle timedelta_of(const Duration &source) noexcept {
  return guarded([&] { return ask_python(kFfiHpyRunTimedelta, microseconds_of(source)); });
}

/** Reads a float, or an object of a class that derives from it. */
inline bool read_float(handle source, double *out) noexcept {
  try {
    make_caster<double> number;
    bool is_float = source.any().type_index == kTVMFFIFloat || is_kind("float", source);
    if (!is_float || !number.from_python(source, cast_flags::convert, nullptr)) return false;
    *out = number.value;
    return true;
  } catch (...) {
    return conversion_failed(nullptr);
  }
}
/** Reads a duration: a timedelta, or, if values may be converted, a float of seconds that fits. */
template <typename Duration> bool read_duration(handle source, uint32_t flags, Duration *out) noexcept {
  std::chrono::microseconds found{};
  bool is_object = source.any().type_index == kTVMFFIOpaquePyObject;
  if (is_object && read_microseconds(kFfiHpyRunMicroseconds, source, &found)) return convert_duration(found, out);
  double seconds = 0;
  if ((flags & cast_flags::convert) == 0 || !read_float(source, &seconds)) return false;
  return std::isfinite(seconds) && convert_duration(std::chrono::duration<double>(seconds), out);
}

/** Whether a value that Caster refuses is a time outside of its range, or such a number of seconds. */
template <typename Caster>
FFI_HPY_COLD bool explain_time(operation what, handle source, uint32_t flags, mismatch *found) {
  int32_t kind = source.any().type_index;
  if (Caster().from_python(source, flags, nullptr)) return false;
  if (kind == kTVMFFIOpaquePyObject) {
    kind = ask_python(what, source).any().type_index;
    if (kind != kTVMFFIInt && kind != kTVMFFIBigInt) return false;
  } else if (kind != kTVMFFIFloat || !Caster::kTakesSeconds || (flags & cast_flags::convert) == 0) {
    return false;
  }
  found->place += " is outside the range of the time in C++";
  return true;
}

template <typename Rep, typename Period> struct type_caster<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr bool kTakesSeconds = true;
  FFI_HPY_TYPE_CASTER(Duration, io_name("datetime.timedelta | float", "datetime.timedelta"));

  bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
    return read_duration(source, flags, &value);
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return explain_time<type_caster>(kFfiHpyRunMicroseconds, source, flags, found);
  }
  static handle from_cpp(const Duration &source, rv_policy, cleanup_list *) noexcept { return timedelta_of(source); }
};

/** Times of system_clock, whose epoch Python knows. */
template <typename Duration> struct type_caster<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;
  static constexpr bool kTakesSeconds = false;
  FFI_HPY_TYPE_CASTER(Time, io_name("datetime.datetime | datetime.date | datetime.time", "datetime.datetime"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    std::chrono::microseconds found{};
    if (source.any().type_index != kTVMFFIOpaquePyObject || !read_microseconds("since_epoch", source, &found))
      return false;
    Duration since_epoch;
    if (!convert_duration(found, &since_epoch)) return false;
    value = Time(since_epoch);
    return true;
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return explain_time<type_caster>("since_epoch", source, flags, found);
  }
  static handle from_cpp(const Time &source, rv_policy, cleanup_list *) noexcept {
    return guarded([&] { return ask_python("datetime", microseconds_of(source.time_since_epoch())); });
  }
};

/** Times of other clocks. */
template <typename Clock, typename Duration> struct type_caster<std::chrono::time_point<Clock, Duration>> {
  using Time = std::chrono::time_point<Clock, Duration>;
  static constexpr bool kTakesSeconds = true;
  FFI_HPY_TYPE_CASTER(Time, io_name("datetime.timedelta | float", "datetime.timedelta"));

  bool from_python(handle source, uint32_t flags, cleanup_list *) noexcept {
    Duration found;
    if (!read_duration(source, flags, &found)) return false;
    value = Time(found);
    return true;
  }
  static bool explain(handle source, uint32_t flags, mismatch *found) {
    return explain_time<type_caster>(kFfiHpyRunMicroseconds, source, flags, found);
  }
  static handle from_cpp(const Time &source, rv_policy, cleanup_list *) noexcept {
    return timedelta_of(source.time_since_epoch());
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_CHRONO_H_ */
