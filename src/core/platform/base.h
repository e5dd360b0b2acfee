/* base.h - macros for the differences between compilers (attributes, static assert, the load-time constructor), and
 * strings in buffers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

#define FH_STATIC_ASSERT(cond, message) _Static_assert(cond, message)

/* Only the core has run on a big-endian machine, and only in the build for its tests, which defines FH_TEST. MSVC has
 * no __BYTE_ORDER__, and its targets are little-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && !defined(FH_TEST)
#error "ffi_hpy is for little-endian machines, and this target is big-endian"
#endif

/* FH_EXPORT exports a function that is not part of the ABI: the test build's controls. The prototypes in c_api.h export
 * the ABI's functions. Everything else is hidden (-fvisibility=hidden). FH_HIDDEN at the declaration of a variable also
 * spares its readers a load. FH_COLD marks functions that run on errors only. */
#if defined(_WIN32)
#define FH_EXPORT __declspec(dllexport)
#define FH_HIDDEN
#else
#define FH_EXPORT __attribute__((visibility("default")))
#define FH_HIDDEN __attribute__((visibility("hidden")))
#endif
#if defined(_MSC_VER)
#define FH_PRINTF(format_index, first_index)
#define FH_COLD __declspec(noinline)
#define FH_NOINLINE __declspec(noinline)
#define FH_MAYBE_UNUSED
#define FH_INLINE static inline
#define FH_LIKELY(cond) (cond)
#define FH_UNLIKELY(cond) (cond)
#define FH_THREAD_LOCAL __declspec(thread)
#define FH_PREFETCH(address) ((void)(address))
#else
#define FH_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#define FH_COLD __attribute__((cold, noinline))
#define FH_NOINLINE __attribute__((noinline))
#define FH_MAYBE_UNUSED __attribute__((unused))
#define FH_INLINE static inline __attribute__((always_inline))
#define FH_LIKELY(cond) __builtin_expect(!!(cond), 1)
#define FH_UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#define FH_THREAD_LOCAL __thread
#define FH_PREFETCH(address) __builtin_prefetch(address)
#endif

#if defined(__has_builtin)
#define FH_HAS_BUILTIN(name) __has_builtin(name)
#else
#define FH_HAS_BUILTIN(name) 0
#endif

/* FH_CONSTRUCTOR(name) { ... } runs when the library is loaded. */
#if defined(_MSC_VER)
#pragma section(".CRT$XCU", read)
#define FH_CONSTRUCTOR(name)                                          \
  static void name(void);                                             \
  __declspec(allocate(".CRT$XCU")) void (*name##_entry)(void) = name; \
  static void name(void)
#else
#define FH_CONSTRUCTOR(name) __attribute__((constructor)) static void name(void)
#endif

#define FH_UNUSED(name) ((void)(name))
#define FH_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A byte array of a string literal (the "" makes anything else a syntax error), or of a NUL-terminated string. */
#define FH_LITERAL(text) ((TVMFFIByteArray){"" text, sizeof(text) - 1})
static inline TVMFFIByteArray fh_base_bytes(const char *text) {
  TVMFFIByteArray bytes = {text, strlen(text)};
  return bytes;
}

/* Copies a string, or "" for NULL, cut to n_to bytes including the NUL at the end. */
static inline void fh_base_copy(char *to, size_t n_to, const char *text) {
  size_t n = text != NULL ? strlen(text) : 0;
  if (n >= n_to) n = n_to - 1;
  if (n != 0) memcpy(to, text, n);
  to[n] = '\0';
}

/* For "%.*s": precision and pointer of a byte array. The mask keeps the precision from becoming negative, as 2 GiB
 * would as an int: printf would then read on to a NUL. */
#define FH_BYTES_ARGS(bytes) (int)((bytes).size & INT32_MAX), (bytes).data ? (bytes).data : ""
