/* span.c - the stable hash of bytes: a polynomial over words of 8 bytes, modulo the Mersenne prime 2^31 - 1.
 *
 * The numbers are part of the ABI: C++ clients compute them inline (base_detail.h) to search maps that this library has
 * filled. So every step is fixed, including the wrap-around of the sum at 2^64 before its reduction. */
#include "span.h"

/* Up to 7 bytes as a little-endian number. */
static uint64_t load_part(const unsigned char *data, size_t n_bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < n_bytes; ++i) word |= (uint64_t)data[i] << (8 * i);
  return word;
}

/* 8 bytes as a little-endian number. Compilers turn this form into one load. */
static uint64_t load_word(const unsigned char *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
         (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* The remainder by 2^31 - 1, without a division: 2^31 leaves the remainder 1, so the bits above the lowest 31 are added
 * to them. The first sum is less than 2^34, the second less than twice the modulus. */
static uint64_t reduce(uint64_t number) {
  const uint64_t modulus = 2147483647u;
  number = (number & modulus) + (number >> 31);
  number = (number & modulus) + (number >> 31);
  return number >= modulus ? number - modulus : number;
}

uint64_t fh_span_hash(const char *data, size_t n_bytes) {
  const uint64_t multiplier = 1099511628211u;
  const unsigned char *p = (const unsigned char *)data, *end = p + n_bytes;
  uint64_t hash = 0;
  /* Horner's scheme */
  for (; end - p >= 8; p += 8) hash = reduce(hash * multiplier + load_word(p));
  if (p == end) return hash;
  /* The tail is a separate number. With 8 bytes or more in all, one load of the last 8 and a shift produce it. */
  size_t n_left = (size_t)(end - p);
  uint64_t rest = n_bytes >= 8 ? load_word(end - 8) >> (8 * (8 - n_left)) : load_part(p, n_left);
  return reduce(hash * multiplier + rest);
}
