/* json.c - JSON text. */
#include "fuzz.h"

void fuzz_start(void) {}

static int stringify(TVMFFIAny value, TVMFFIAny *text) {
  return fuzz_call("ffi.json.Stringify", FUZZ_ARGS(value, fh_any_none()), text);
}

void fuzz_one(const uint8_t *data, size_t n_bytes) { fuzz_round_trip("ffi.json.Parse", stringify, data, n_bytes); }
