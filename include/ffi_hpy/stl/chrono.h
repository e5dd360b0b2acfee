/* chrono.h - std::chrono as arguments and as results: a duration is a datetime.timedelta, or as an argument a float of
 * seconds; a time of system_clock is a datetime.datetime in local time, or as an argument a date, a time of 1970-01-01,
 * or a datetime with a time zone; a time of another clock is as a duration. Python counts microseconds. */
#ifndef FFI_HPY_STL_CHRONO_H_
#define FFI_HPY_STL_CHRONO_H_

#include <ffi_hpy/bind/function.h>

#include <chrono>
#include <cmath>

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** Asks the package for the microseconds of a value of Python. False if it has none. */
inline bool read_microseconds(const char *operation, handle source, std::chrono::microseconds *out) noexcept {
  handle found = guarded([&] { return ask_python(operation, source); });
  if (!found.is_valid()) python_error dropped;
  bool fits = found.any().type_index == kTVMFFIInt;
  if (fits) *out = std::chrono::microseconds(found.any().v_int64);
  found.dec_ref();
  return fits;
}
template <typename Duration> handle timedelta_of(const Duration &source) noexcept {
  auto n = std::chrono::duration_cast<std::chrono::microseconds>(source).count();
  return guarded([&] { return ask_python("timedelta", int_value(static_cast<int64_t>(n))); });
}

/** Reads a duration: a timedelta, or a float of seconds that fits. */
template <typename Duration> bool read_duration(handle source, Duration *out) noexcept {
  if (source.any().type_index == kTVMFFIFloat) {
    constexpr double most = static_cast<double>(std::chrono::microseconds::max().count()) / 1e6;
    double seconds = source.any().v_float64;
    if (!(std::fabs(seconds) < most)) return false;
    *out = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    return true;
  }
  std::chrono::microseconds found;
  if (source.any().type_index != kTVMFFIOpaquePyObject || !read_microseconds("microseconds", source, &found))
    return false;
  *out = std::chrono::duration_cast<Duration>(found);
  return true;
}

template <typename Rep, typename Period> struct type_caster<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  FFI_HPY_TYPE_CASTER(Duration, io_name("datetime.timedelta | float", "datetime.timedelta"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept { return read_duration(source, &value); }
  static handle from_cpp(const Duration &source, rv_policy, cleanup_list *) noexcept { return timedelta_of(source); }
};

/** Times of system_clock, whose epoch Python knows. */
template <typename Duration> struct type_caster<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;
  FFI_HPY_TYPE_CASTER(Time, io_name("datetime.datetime | datetime.date | datetime.time", "datetime.datetime"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    std::chrono::microseconds found;
    if (source.any().type_index != kTVMFFIOpaquePyObject || !read_microseconds("since_epoch", source, &found))
      return false;
    value = Time(std::chrono::duration_cast<Duration>(found));
    return true;
  }
  static handle from_cpp(const Time &source, rv_policy, cleanup_list *) noexcept {
    auto n = std::chrono::duration_cast<std::chrono::microseconds>(source.time_since_epoch()).count();
    return guarded([&] { return ask_python("datetime", int_value(static_cast<int64_t>(n))); });
  }
};

/** Times of other clocks. */
template <typename Clock, typename Duration> struct type_caster<std::chrono::time_point<Clock, Duration>> {
  using Time = std::chrono::time_point<Clock, Duration>;
  FFI_HPY_TYPE_CASTER(Time, io_name("datetime.timedelta | float", "datetime.timedelta"));

  bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
    Duration found;
    if (!read_duration(source, &found)) return false;
    value = Time(found);
    return true;
  }
  static handle from_cpp(const Time &source, rv_policy, cleanup_list *) noexcept {
    return timedelta_of(source.time_since_epoch());
  }
};

} // namespace detail

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_STL_CHRONO_H_ */
