/* thread.h - data of a thread in addition to FH_THREAD_LOCAL (base.h): an id, a pointer with a destructor, the stack.
 *
 * FH_THREAD_LOCAL is the fast way to thread-local plain data; data that must be freed when a thread ends is also stored
 * in an fh_tls. */
#ifndef FH_THREAD_H_
#define FH_THREAD_H_

#include "base.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

/* fh_tls: one pointer per thread, all zero until fh_tls_new. at_thread_end(value) runs when a thread ends that has set
 * a non-NULL pointer; it may set the pointer again, and is then called again, except on Windows. fh_tls_new and
 * fh_tls_set return 0, or -1 without resources and without an error pending. If no key could be made (Linux has 1024),
 * fh_tls_set fails too: key 0 may belong to another library. */
#if defined(_WIN32)
typedef struct {
  uint32_t key;
  int is_made;
} fh_tls;
#if defined(_MSC_VER) && !defined(__clang__)
#define FH_TLS_CALLBACK __stdcall
#else
#define FH_TLS_CALLBACK /* 64-bit Windows has one calling convention */
#endif
int fh_tls_new(fh_tls *tls, void(FH_TLS_CALLBACK *at_thread_end)(void *));
int fh_tls_set(const fh_tls *tls, void *value);
void fh_thread_yield(void);

#else
#include <pthread.h>
#include <sched.h>

typedef struct {
  pthread_key_t key;
  int is_made;
} fh_tls;
#define FH_TLS_CALLBACK
static inline int fh_tls_new(fh_tls *tls, void (*at_thread_end)(void *)) {
  tls->is_made = pthread_key_create(&tls->key, at_thread_end) == 0;
  return tls->is_made ? 0 : -1;
}
static inline int fh_tls_set(const fh_tls *tls, void *value) {
  return tls->is_made && pthread_setspecific(tls->key, value) == 0 ? 0 : -1;
}
static inline void fh_thread_yield(void) { (void)sched_yield(); }
#endif

/* Distinct among the threads that live at the same time; never 0. The only thread of a child of fork keeps its id. It
 * is the id that CPython without a GIL uses (_Py_ThreadId): the address of the thread's control block. */
static inline uint64_t fh_thread_id(void) {
#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_ARM64)
  return __getReg(18);
#elif defined(_MSC_VER) && !defined(__clang__)
  return __readgsqword(48);
#elif defined(_WIN32) && defined(__aarch64__)
  uint64_t block;
  __asm__("mov %0, x18" : "=r"(block));
  return block;
#elif defined(_WIN32)
  uint64_t block;
  __asm__("movq %%gs:48, %0" : "=r"(block));
  return block;
#elif defined(__APPLE__) && defined(__aarch64__)
  uint64_t block;
  __asm__("mrs %0, tpidrro_el0" : "=r"(block));
  return block & ~(uint64_t)7; /* up to macOS 11 the low bits hold the number of the thread's processor */
#elif defined(__APPLE__)
  uint64_t block;
  __asm__("movq %%gs:0, %0" : "=r"(block));
  return block;
#elif (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__) && FH_HAS_BUILTIN(__builtin_thread_pointer)
  return (uint64_t)(uintptr_t)__builtin_thread_pointer(); /* one instruction */
#else
  static FH_THREAD_LOCAL char mark;
  return (uint64_t)(uintptr_t)&mark;
#endif
}

/* The stack of this thread: its lowest address, and its size. 0, with nothing written, where the system does not report
 * them. */
int fh_thread_stack(uintptr_t *end, size_t *n_bytes);

#endif /* FH_THREAD_H_ */
