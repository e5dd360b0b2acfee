/* backtrace.c - the frames above a point as a string.
 *
 * The string is in a buffer of the calling thread, which the next call on that thread overwrites. The environment is
 * read again at each call, so a program can switch native frames on while it runs. */
#include "backtrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"

#define DEFAULT_LIMIT 512
#define MAX_NATIVE_FRAMES 256

/* The thread's buffer, which is not shared. Callers get a pointer to `text`: its data is `block`, or "" without a
 * block. */
typedef struct {
  TVMFFIByteArray text;
  char *block;
  size_t capacity;
} text_buffer;

static FH_THREAD_LOCAL text_buffer buffer;
static fh_tls buffer_end; /* frees `buffer.block` when its thread ends */

static void FH_TLS_CALLBACK free_buffer(void *unused) {
  FH_UNUSED(unused); /* the thread's first block, which may have been reallocated since; not NULL, so that this runs */
  fh_mem_free(buffer.block);
  /* empty: if other clean-up code of the thread asks for a backtrace, it gets a new block, and this runs again */
  memset(&buffer, 0, sizeof(buffer));
}

void fh_backtrace_init(void) { (void)fh_tls_new(&buffer_end, free_buffer); } /* on failure see reserve_text */

/* Makes room for n_more bytes and a NUL: 1, or 0 without memory. Then the backtrace ends early, which is not an error:
 * backtraces are made while an error is being raised. */
static bool reserve_text(size_t n_more) {
  size_t wanted = buffer.text.size + n_more + 1;
  if (wanted <= buffer.capacity) return true;
  size_t capacity = wanted > 512 ? wanted * 2 : 1024;
  bool is_first = buffer.block == NULL;
  char *block = (char *)fh_mem_realloc(buffer.block, capacity);
  if (block == NULL) return false;
  if (is_first) (void)fh_tls_set(&buffer_end, block); /* without memory or a key: leaked at the end */
  buffer.block = block;
  buffer.capacity = capacity;
  buffer.text.data = block;
  return true;
}

/* The format is Python's, and part of the ABI (TVMFFIErrorCell). */
static void append_frame(const char *filename, int line, const char *func) {
  static const char format[] = "  File \"%s\", line %d, in %s\n";
  /* 12 bytes have room for the longest line number */
  size_t n_max = sizeof(format) + strlen(filename) + strlen(func) + 12;
  if (!reserve_text(n_max)) return;
  int n = snprintf(buffer.block + buffer.text.size, buffer.capacity - buffer.text.size, format, filename, line, func);
  if (n > 0) buffer.text.size += (size_t)n;
}

/* 0 is a valid limit: no frames. */
static int frame_limit(void) {
  const char *text = getenv("TVM_TRACEBACK_LIMIT");
  if (text == NULL) return DEFAULT_LIMIT;
  char *end = NULL;
  long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 0 || value > INT32_MAX) return DEFAULT_LIMIT;
  return (int)value;
}

/* C++ headers that every call and every throw goes through: their lines do not help the reader. */
static bool is_glue_file(const char *filename) {
  static const char *const files[] = {"include/tvm/ffi/error.h", "include/tvm/ffi/function_detail.h",
                                      "include/tvm/ffi/function.h", "include/tvm/ffi/any.h", "include/c++/"};
  for (size_t i = 0; i < FH_COUNT_OF(files); ++i) {
    if (strstr(filename, files[i]) != NULL) return true;
  }
  return false;
}

static void *boundary; /* release store in fh_backtrace_set_boundary, acquire load in boundary_base */

void fh_backtrace_set_boundary(void *function) {
  fh_atomic_store_release_ptr(&boundary, function); /* pairs with the load in boundary_base */
}

/* The base address of the boundary's library; NULL without one. */
static void *boundary_base(void) {
  void *function = fh_atomic_load_acquire_ptr(&boundary); /* pairs with the store in fh_backtrace_set_boundary */
  fh_loader_place place;
  return function != NULL && fh_loader_place_of(function, &place) ? place.base : NULL;
}

static bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/* Frames that are not the reader's code: this ABI's own, the C++ call glue, and those of libc and libffi. */
static bool is_uninteresting(const char *symbol) {
  return starts_with(symbol, "TVMFFIBacktrace") || starts_with(symbol, "TVMFFIErrorSetRaised") ||
         starts_with(symbol, "_ZN3tvm3ffi6detail") || starts_with(symbol, "_ZN3tvm3ffi8Function") ||
         starts_with(symbol, "_ZN3tvm3ffi11FunctionObj") || starts_with(symbol, "__libc_") ||
         starts_with(symbol, "ffi_call") || starts_with(symbol, "ffi_closure");
}

/* The entry into this ABI, and CPython's own frames: a backtrace ends there even if the host has set no boundary. */
static bool is_boundary(const char *symbol) {
  return strcmp(symbol, "TVMFFIFunctionCall") == 0 || starts_with(symbol, "_Py") || starts_with(symbol, "PyObject") ||
         starts_with(symbol, "slot_tp_call");
}

/* abi::__cxa_demangle, which returns a block of malloc, or NULL. */
typedef char *(*demangle_function)(const char *mangled, char *out, size_t *n_bytes, int *status);

/* C++ names become readable if a library of the process loads the C++ runtime; this library does not. */
static char *demangled(const char *symbol) {
  /* looked up at each call, because the C++ runtime may be loaded later */
  demangle_function demangle = (demangle_function)(uintptr_t)fh_loader_find_anywhere("__cxa_demangle");
  int status = -1;
  if (demangle == NULL || !starts_with(symbol, "_Z")) return NULL;
  return demangle(symbol, NULL, NULL, &status);
}

/* Adds the native frames. A caller that passes its own frame, in native code, gets the frames above it up to the host's
 * library; its own frame is in the string already and is left out. A caller without a frame is code of the host that
 * asks for its callers, or TVMFFIErrorSetRaisedFromCStr: then the first frames are skipped if they belong to the host's
 * library. */
static FH_NOINLINE void append_native(int names_itself, int limit, int cross_ffi_boundary, int n_frames) {
  enum { N_OWN = 2 }; /* this function's frame and that of TVMFFIBacktrace; so neither function may be inlined */
  void *addresses[MAX_NATIVE_FRAMES], *host = boundary_base();
  int n_addresses = fh_loader_frames(addresses, MAX_NATIVE_FRAMES), is_at_host = !names_itself;
  for (int i = N_OWN + names_itself; i < n_addresses && n_frames < limit; ++i) {
    fh_loader_place place;
    if (!fh_loader_place_of(addresses[i], &place)) continue; /* code made at run time, for instance */
    bool is_host = host != NULL && place.base == host && !cross_ffi_boundary;
    if (is_host && !is_at_host) return; /* native code was called from here: the host's own traceback continues */
    is_at_host &= is_host;
    if (is_host || place.name == NULL) continue; /* without a name: not an exported function */
    if (!cross_ffi_boundary && is_boundary(place.name)) return;
    if (is_uninteresting(place.name)) continue;
    char *readable = demangled(place.name);
    append_frame(place.file[0] != '\0' ? place.file : "<unknown>", 0, readable ? readable : place.name);
    free(readable); /* not fh_mem_free: the C++ runtime allocated it with malloc */
    ++n_frames;
  }
}

static bool wants_native(void) {
  const char *text = getenv("TVM_FFI_NATIVE_BACKTRACE");
  return text != NULL && strcmp(text, "1") == 0;
}

FH_NOINLINE const TVMFFIByteArray *TVMFFIBacktrace(const char *filename, int lineno, const char *func,
                                                   int cross_ffi_boundary) {
  int limit = frame_limit(), n_frames = 0;
  /* The result is never NULL, even without memory for a block. */
  buffer.text.size = 0;
  if (buffer.block == NULL) buffer.text.data = "";
  int names_itself = filename != NULL && func != NULL;
  if (names_itself && limit > 0 && !is_glue_file(filename)) {
    append_frame(filename, lineno, func);
    n_frames = 1;
  }
  if (wants_native()) append_native(names_itself, limit, cross_ffi_boundary, n_frames);
  if (buffer.block != NULL) buffer.block[buffer.text.size] = '\0';
  return &buffer.text;
}
