/* shield_posix.c - implements shield.h with mmap. Empty on Windows. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "shield.h"

#if !defined(_WIN32)
#include <sys/mman.h>

/* The system rounds lengths up to pages. */
void *fh_shield_new(size_t n_bytes) {
  void *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages != MAP_FAILED ? pages : NULL;
}

void fh_shield_free(void *pages, size_t n_bytes) { (void)munmap(pages, n_bytes); }
void fh_shield_no_write(void *pages, size_t n_bytes) { (void)mprotect(pages, n_bytes, PROT_READ); }
void fh_shield_no_access(void *pages, size_t n_bytes) { (void)mprotect(pages, n_bytes, PROT_NONE); }
#endif
