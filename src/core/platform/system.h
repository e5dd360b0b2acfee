/* system.h - the operating system: clock, pages, parking of threads, the loader of libraries, data of threads. Each
 * system has a source file, which is empty on other systems. */
#pragma once

#include "base.h"

/* Nanoseconds of the monotonic clock since a fixed moment; the moment does not change while the process runs. */
uint64_t fh_clock_now(void);
/* Sleeps for about that long, at least one tick of the system's clock. */
void fh_clock_sleep(uint64_t nanoseconds);

/* --- pages whose access can be removed --------------------------------------------------------------------------- */

/* Zeroed pages for n_bytes; NULL without memory. The other functions expect the same number of bytes. */
void *fh_shield_new(size_t n_bytes);
void fh_shield_free(void *pages, size_t n_bytes);
/* A later write (fh_shield_no_access: also a read) there ends the process. */
void fh_shield_no_write(void *pages, size_t n_bytes);
void fh_shield_no_access(void *pages, size_t n_bytes);

/* --- parking ----------------------------------------------------------------------------------------------------- */

/* Sleeping until a word changes, and waking sleeping threads: the base of the locks of sync.h on Linux (futex)
 * and Windows (WaitOnAddress). */

/* Sleeps while *word is `seen`; may also wake up without a reason. The system compares and puts to sleep in one step,
 * so a thread cannot miss a change with a wake-up between its own comparison and the sleep. */
void fh_park_sleep(uint32_t *word, uint32_t seen);
/* Wakes one of the threads that sleep on the word, or all. */
void fh_park_wake_one(uint32_t *word);
void fh_park_wake_all(uint32_t *word);

/* --- the loader of libraries ------------------------------------------------------------------------------------- */

/* The system's loader of shared libraries opens them, looks up symbols, and finds the library of an address. Paths are
 * UTF-8 on all systems. Any thread. Libraries are never closed. */

typedef enum {
  FH_LOADER_LOCAL,  /* only fh_loader_find, and libraries that this one loads, find its symbols */
  FH_LOADER_GLOBAL, /* libraries that are opened later find its symbols, too; on Windows the same as LOCAL */
  FH_LOADER_LAZY,   /* as LOCAL, but a missing symbol matters only when it is called; on Windows the same as LOCAL */
} fh_loader_mode;

enum { FH_LOADER_REASON = 4096 }; /* bytes that suffice for most reasons, which contain paths */
/* Opens a library and its dependencies. Windows looks for them also in the folder of the library if the path is
 * absolute. On failure NULL, with a reason in `reason`, cut to its size: the system's message without the path, which
 * the caller adds; for a file of another system or machine, a description of the file (loader_head.h). */
void *fh_loader_open(const char *path, fh_loader_mode mode, char *reason, size_t n_reason);
/* The name of the missing library in a reason for which a library was not opened, and the length of the name. NULL for
 * any other reason. */
const char *fh_loader_lacking(const char *reason, size_t *length);
/* The address of a symbol in a library, NULL if there is none. */
void *fh_loader_find(void *library, const char *name);
/* The address of a symbol in any library of the process with global symbols, NULL if there is none. On Windows the
 * symbols of every library are global. */
void *fh_loader_find_anywhere(const char *name);

/* The library and function that an address belongs to. */
typedef struct {
  void *base;       /* start of the library, or the program, in memory */
  const char *name; /* the exported function that contains the address; NULL if unknown */
  void *start;      /* start of that function */
  char file[4096];  /* path of the library, as the system reports it, or "" */
} fh_loader_place;
/* Whether the address belongs to a library or to the program. If not, *place is unchanged. */
bool fh_loader_place_of(const void *address, fh_loader_place *place);

/* Makes the symbols of the library that contains the address global, for all libraries that are opened later. */
void fh_loader_show(const void *address);
/* Keeps the library that contains the address loaded, even if another part of the process closes it. */
void fh_loader_pin(const void *address);
/* The number of bytes from an address to the end of its segment, in a library or the program. SIZE_MAX if the address
 * is in no segment, or if the system does not provide that. */
size_t fh_loader_room(const void *address);
/* Stores at most n return addresses of the current call stack, the caller's own first, and returns their number. 0
 * where they are unknown. */
int fh_loader_frames(void **addresses, int n);

/* --- threads ----------------------------------------------------------------------------------------------------- */

/* Data of a thread in addition to FH_THREAD_LOCAL (base.h): an id, a pointer with a destructor, the stack.
 *
 * FH_THREAD_LOCAL is the fast way to thread-local plain data; data that must be freed when a thread ends is also stored
 * in an fh_tls. */

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
  bool is_made;
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
  bool is_made;
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

/* Distinct among the threads that live at the same time; never 0. The only thread of a child of fork keeps its id.
 * CPython without a GIL uses the same id (_Py_ThreadId): the address of the thread's control block. */
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
bool fh_thread_stack(uintptr_t *end, size_t *n_bytes);
