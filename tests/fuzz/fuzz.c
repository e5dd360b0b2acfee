/* fuzz.c - connects libFuzzer to the target, and checks the state after each input. */
#include "fuzz.h"
#include "core/object/any_hash.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

void fuzz_fail(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
  TVMFFIObject *error = fh_error_take();
  if (error != NULL) {
    const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
    fprintf(stderr, "  pending: %s: %s\n", cell->kind.data, cell->message.data);
  }
  abort();
}

int fuzz_call(const char *name, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIObjectHandle func;
  *result = fh_any_none();
  if (!fh_global_find(fh_base_bytes(name), &func)) fuzz_fail(__FILE__, __LINE__, name);
  int rc = TVMFFIFunctionGetCellPtr(func)->safe_call(func, args, n_args, result);
  fh_object_release(func);
  if (rc == 0) fuzz_check(!fh_error_is_pending());
  if (rc != 0) fuzz_check(rc == -1 && fh_error_is_pending() && !fh_any_is_object(result));
  return rc;
}

int fuzz_take_error(const char *kind) {
  TVMFFIObject *error = fh_error_take();
  fuzz_check(error != NULL);
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  int is_kind = fh_span_is(cell->kind, kind);
  fuzz_check(cell->message.size != 0 && strlen(cell->message.data) <= cell->message.size);
  fh_object_release(error);
  return is_kind;
}

/* Reads with the n-th allocation failing; returns whether there is a value. */
static int read_failing(const char *read, TVMFFIAny *text, int nth, TVMFFIAny *value) {
  fh_mem_fail_nth(nth);
  int rc = fuzz_call(read, text, 1, value);
  int has_failed = fh_mem_has_failed();
  fh_mem_fail_nth(0);
  if (rc == 0) return 1;
  int is_memory_error = fuzz_take_error(FH_MEMORY_ERROR);
  fuzz_check(is_memory_error == has_failed);
  return 0;
}

void fuzz_round_trip(const char *read, int (*write)(TVMFFIAny value, TVMFFIAny *text), const uint8_t *data,
                     size_t n_bytes) {
  TVMFFIAny input, value, first, second;
  int equal;
  if (n_bytes == 0) return;
  fuzz_check(fh_str_new((const char *)data + 1, n_bytes - 1, &input) == 0);
  int has_value = read_failing(read, &input, data[0], &value);
  fh_any_drop(&input);
  if (!has_value) return;
  int rc = write(value, &first);
  fh_any_drop(&value);
  if (rc != 0) {
    (void)fuzz_take_error("");
    return;
  }
  fuzz_check(fuzz_call(read, &first, 1, &value) == 0);
  fuzz_check(write(value, &second) == 0);
  fuzz_check(fh_any_equal(&first, &second, &equal) == 0 && equal);
  fh_any_drop(&value);
  fh_any_drop(&first);
  fh_any_drop(&second);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  (void)TVMFFIBacktrace("file", 1, "function", 0); /* the thread's buffer, allocated at first use, must not count as a
                                                    * leak */
  fuzz_start();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  int64_t live = fh_mem_live_blocks();
  fuzz_one(data, n_bytes);
  fuzz_check(!fh_error_is_pending());
  if (fh_mem_live_blocks() != live) fuzz_fail(__FILE__, __LINE__, "an input leaves blocks live");
  return 0;
}
