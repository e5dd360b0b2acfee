/* graph.c - graphs of objects as JSON. */
#include "fuzz.h"

void fuzz_start(void) {}

static int write_graph(TVMFFIAny value, TVMFFIAny *text) {
  return fuzz_call("ffi.ToJSONGraphString", FUZZ_ARGS(value, fh_any_none()), text);
}

void fuzz_one(const uint8_t *data, size_t n_bytes) {
  fuzz_round_trip("ffi.FromJSONGraphString", write_graph, data, n_bytes);
}
