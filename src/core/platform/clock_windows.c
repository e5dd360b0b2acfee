/* clock_windows.c - implements clock.h with Windows. Empty elsewhere. */
#include "clock.h"

#if defined(_WIN32)
#include "windows_api.h"

enum { PER_SECOND = 1000000000, PER_MILLISECOND = 1000000 };

/* The counter's frequency is 10 MHz almost everywhere; splitting the division prevents an overflow for any
 * frequency. */
uint64_t fh_clock_now(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceFrequency(&per_second);
  QueryPerformanceCounter(&ticks);
  uint64_t n = (uint64_t)ticks.QuadPart, frequency = (uint64_t)per_second.QuadPart;
  return n / frequency * PER_SECOND + n % frequency * PER_SECOND / frequency;
}

void fh_clock_sleep(uint64_t nanoseconds) { Sleep((DWORD)((nanoseconds + PER_MILLISECOND - 1) / PER_MILLISECOND)); }
#endif
