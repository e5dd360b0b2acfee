/* blob.c - modules embedded in a library. Only the first word of the blob, the number of bytes, can be trusted. */
#include "core/module/library_module.h"
#include "core/object/function.h"

#include "fuzz.h"

static const char *blob;

static void *find_symbol(const void *state, const char *symbol) {
  (void)state;
  return strcmp(symbol, "__tvm_ffi__library_bin") == 0 ? (void *)(uintptr_t)blob : NULL;
}
static void *find_function(const void *state, const char *name) { return (void)state, (void)name, NULL; }
static const fh_library_symbols library = {find_symbol, find_function, NULL};

/* Loads a module of the kind "k"; refuses content that begins with "no". */
static int load_k(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIByteArray content;
  (void)self;
  fuzz_check(n == 1 && fh_bytes_content(&args[0], &content));
  if (content.size >= 2 && memcmp(content.data, "no", 2) == 0) return fh_error_raise(FH_VALUE_ERROR, "no such module");
  if (content.size == 1) *result = fh_any_int(1); /* not a module */
  if (content.size == 1) return 0;
  const char *kept = blob;
  blob = NULL;
  int rc = fh_library_module_new(&library, NULL, result);
  blob = kept;
  return rc;
}

void fuzz_start(void) { fuzz_check(fh_global_add("ffi.Module.load_from_bytes.k", load_k, NULL) == 0); }

/* The first byte is the number of the allocation that fails, 0 for none. */
void fuzz_one(const uint8_t *data, size_t n_bytes) {
  if (n_bytes == 0) return;
  int nth = data[0];
  data += 1;
  n_bytes -= 1;
  char *bytes = (char *)malloc(8 + n_bytes);
  for (int i = 0; i < 8; ++i) bytes[i] = (char)((uint64_t)n_bytes >> 8 * i);
  memcpy(bytes + 8, data, n_bytes);
  blob = bytes;
  TVMFFIAny module;
  fh_mem_fail_nth(nth);
  int rc = fh_library_module_new(&library, NULL, &module);
  int has_failed = fh_mem_has_failed();
  fh_mem_fail_nth(0);
  if (rc == 0) {
    fuzz_check(!has_failed && module.type_index == kTVMFFIModule);
    fh_any_drop(&module);
  } else {
    int is_memory_error = fuzz_take_error(FH_MEMORY_ERROR);
    fuzz_check(is_memory_error == has_failed);
  }
  free(bytes);
}
