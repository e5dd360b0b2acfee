/* span.h - borrowed ranges of bytes: comparison and the ABI's hash. */
#pragma once

#include "base.h"

static inline bool fh_span_same(TVMFFIByteArray a, TVMFFIByteArray b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool fh_span_is(TVMFFIByteArray a, const char *literal) {
  return fh_span_same(a, fh_base_bytes(literal));
}

/* The ABI's hash of bytes: the same on every machine and in every process. 0 for no bytes. */
uint64_t fh_span_hash(const char *data, size_t n_bytes);
/* The ABI's way to mix a second value into a hash. */
static inline uint64_t fh_span_hash_combine(uint64_t key, uint64_t value) {
  return key ^ (value + 0x9e3779b9u + (key << 6) + (key >> 2));
}
