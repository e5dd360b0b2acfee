/* park_linux.c - park.h by the futex calls of Linux. Empty elsewhere. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "park.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PRIVATE: no other process shares the words, which makes them cheaper for the kernel to find. */
void fh_park_sleep(uint32_t *word, uint32_t seen) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void fh_park_wake_one(uint32_t *word) { (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
void fh_park_wake_all(uint32_t *word) { (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0); }
#endif
