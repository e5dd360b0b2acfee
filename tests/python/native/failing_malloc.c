/* A library to preload that makes allocations fail. For our own libraries it counts the calls of malloc and makes them
 * fail. For CPython, it makes the allocations fail that CPython makes in functions called by our libraries, except in
 * Python code inside them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

/* ---- Our blocks ---- */

enum { N_SLOTS = 1 << 20 };
#define GONE ((void *)1)

static void *slots[N_SLOTS]; /* guarded by the lock; GONE marks a removed block */
static int64_t n_live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t home_of(const void *block) { return ((uintptr_t)block >> 4) * 2654435761u % N_SLOTS; }

static void note(void *block) {
  if (block == NULL) return;
  pthread_mutex_lock(&lock);
  size_t i = home_of(block);
  while (slots[i] != NULL && slots[i] != GONE) i = (i + 1) % N_SLOTS;
  slots[i] = block;
  ++n_live;
  pthread_mutex_unlock(&lock);
}

static void forget(const void *block) {
  if (block == NULL) return;
  pthread_mutex_lock(&lock);
  for (size_t i = home_of(block); slots[i] != NULL; i = (i + 1) % N_SLOTS) {
    if (slots[i] != block) continue;
    slots[i] = GONE;
    --n_live;
    break;
  }
  pthread_mutex_unlock(&lock);
}

/* ---- Our calls, and those that fail ---- */

static __thread int64_t countdown; /* 0: no allocation fails */
static __thread int fails_on, n_failed, is_asking, is_of_python;
static int is_counting;

static int is_library(const char *path) {
  static const char *const names[] = {"/libtvm_ffi.so", "/_core.hpy0.so", "/_hpy.so", "/libtvm_ffi_testing.so"};
  const char *last = path == NULL ? NULL : strrchr(path, '/');
  for (size_t i = 0; last != NULL && i < sizeof names / sizeof names[0]; ++i) {
    if (strcmp(last, names[i]) == 0) return 1;
  }
  return 0;
}

static int is_ours(const void *caller) {
  Dl_info info;
  if (!is_counting || is_asking) return 0;
  is_asking = 1;
  int result = dladdr(caller, &info) != 0 && is_library(info.dli_fname);
  is_asking = 0;
  return result;
}

/* Returns whether one of our functions called the interpreter, without Python code in between. */
static int is_for_us(void) {
  void *frames[64];
  Dl_info info;
  if (is_asking) return 0;
  is_asking = 1;
  int n = backtrace(frames, 64), result = 0;
  for (int i = 2; i < n && !result; ++i) {
    if (dladdr(frames[i], &info) == 0) continue;
    if (info.dli_sname != NULL && strcmp(info.dli_sname, "_PyEval_EvalFrameDefault") == 0) break;
    result = is_library(info.dli_fname);
  }
  is_asking = 0;
  return result;
}

static int must_fail(void) {
  if (n_failed != 0 && fails_on) return ++n_failed;
  if (countdown == 0 || --countdown != 0) return 0;
  return ++n_failed;
}

/* Makes the n-th allocation of this thread from now on fail, and with `all` also the later ones; 0: none. */
EXPORT void fail_nth(int64_t n, int all) {
  countdown = n;
  fails_on = all;
  n_failed = 0;
  is_counting = 1;
  is_of_python = 0;
}

EXPORT int failed(void) { return n_failed; }

EXPORT int64_t live_blocks(void) { return n_live; }

/* ---- The preloaded functions ---- */

EXPORT void *malloc(size_t size) {
  if (!is_ours(__builtin_return_address(0))) return __libc_malloc(size);
  if (!is_of_python && must_fail()) return NULL;
  void *block = __libc_malloc(size);
  note(block);
  return block;
}

EXPORT void *calloc(size_t n, size_t size) {
  if (!is_ours(__builtin_return_address(0))) return __libc_calloc(n, size);
  if (!is_of_python && must_fail()) return NULL;
  void *block = __libc_calloc(n, size);
  note(block);
  return block;
}

EXPORT void *realloc(void *old, size_t size) {
  if (!is_ours(__builtin_return_address(0))) return __libc_realloc(old, size);
  if (!is_of_python && must_fail()) return NULL;
  forget(old);
  void *block = __libc_realloc(old, size);
  note(block != NULL ? block : old);
  return block;
}

EXPORT void free(void *block) {
  if (is_counting) forget(block);
  __libc_free(block);
}

/* ---- CPython's allocators, by their public interface ---- */

typedef struct {
  void *ctx;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *);
} Allocator;
enum { N_DOMAINS = 3 };

static Allocator originals[N_DOMAINS];

static void *hook_malloc(void *ctx, size_t size) {
  Allocator *original = ctx;
  return is_of_python && is_for_us() && must_fail() ? NULL : original->malloc(original->ctx, size);
}

static void *hook_calloc(void *ctx, size_t n, size_t size) {
  Allocator *original = ctx;
  return is_of_python && is_for_us() && must_fail() ? NULL : original->calloc(original->ctx, n, size);
}

static void *hook_realloc(void *ctx, void *old, size_t size) {
  Allocator *original = ctx;
  return is_of_python && is_for_us() && must_fail() ? NULL : original->realloc(original->ctx, old, size);
}

static void hook_free(void *ctx, void *block) {
  Allocator *original = ctx;
  original->free(original->ctx, block);
}

/* Call this with the GIL before fail_nth_of_python(). Returns 0, or -1 without CPython. */
EXPORT int hook_python(void) {
  if (originals[0].malloc != NULL) return 0;
  void (*get)(int, Allocator *), (*set)(int, Allocator *);
  *(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
  *(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
  if (get == NULL || set == NULL) return -1;
  void *frame;
  (void)backtrace(&frame, 1); /* the first call loads a library */
  for (int domain = 0; domain < N_DOMAINS; ++domain) {
    get(domain, &originals[domain]);
    Allocator hook = {&originals[domain], hook_malloc, hook_calloc, hook_realloc, hook_free};
    set(domain, &hook);
  }
  return 0;
}

/* Like fail_nth(), for CPython's allocations for us. */
EXPORT void fail_nth_of_python(int64_t n, int all) {
  fail_nth(n, all);
  is_of_python = n != 0;
}
