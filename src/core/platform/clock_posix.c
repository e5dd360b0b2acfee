/* clock_posix.c - implements clock.h with POSIX. Empty on Windows. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE)
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */
#endif
#include "clock.h"

#if !defined(_WIN32)
#include <time.h>

enum { PER_SECOND = 1000000000 };

uint64_t fh_clock_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * PER_SECOND + (uint64_t)t.tv_nsec;
}

void fh_clock_sleep(uint64_t nanoseconds) {
  struct timespec t = {(time_t)(nanoseconds / PER_SECOND), (long)(nanoseconds % PER_SECOND)};
  (void)nanosleep(&t, NULL);
}
#endif
