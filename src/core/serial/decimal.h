/* decimal.h - numbers as decimal strings and back: exact, and independent of the locale. */
#pragma once

#include "core/platform/base.h"

/* --- powers of ten ------------------------------------------------------------------------------------------------ */

/* Powers of ten to 128 bits, for exact conversion between decimal and binary floating point. */

#define FH_POW10_MIN (-345)
#define FH_POW10_MAX 345

/* 10^n is at least (high * 2^64 + low) * 2^exponent, and less than the next number of 128 bits. The top bit is set. */
typedef struct {
  uint64_t high, low;
  int32_t exponent;
} fh_pow10;

/* FH_POW10_MIN <= n <= FH_POW10_MAX. The table is computed at the first call. */
const fh_pow10 *fh_pow10_get(int n);

/* Multiplies two numbers: returns the upper half of the product, the lower half in *low. */
static inline uint64_t fh_pow10_multiply(uint64_t a, uint64_t b, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
  unsigned __int128 product = (unsigned __int128)a * b;
  *low = (uint64_t)product;
  return (uint64_t)(product >> 64);
#else
  uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
  uint64_t low_low = a_low * b_low, high_low = a_high * b_low, low_high = a_low * b_high;
  uint64_t middle = (low_low >> 32) + (uint32_t)high_low + (uint32_t)low_high;
  *low = middle << 32 | (uint32_t)low_low;
  return a_high * b_high + (high_low >> 32) + (low_high >> 32) + (middle >> 32);
#endif
}

/* The number of zero bits above the highest 1 bit; n is not 0. */
static inline int fh_pow10_zeros_above(uint64_t n) {
#if defined(__GNUC__)
  return __builtin_clzll(n);
#else
  int zeros = 0;
  for (; !(n >> 63); n <<= 1) ++zeros;
  return zeros;
#endif
}

/* --- decimal strings ---------------------------------------------------------------------------------------------- */

/* Room for the longest output of each writer, without a NUL: -2^63 has 20 bytes, -1.2345678901234567e-308 has 24. */
#define FH_DECIMAL_INT_MAX 20
#define FH_DECIMAL_FLOAT_MAX 25

/* Write to `out` and return the length; no NUL. */
size_t fh_decimal_write_int(int64_t value, char *out);
/* Writes like printf's "%.17g" in the C locale. The value must be finite. */
size_t fh_decimal_write_float(double value, char *out);

typedef enum {
  FH_DECIMAL_INVALID,
  FH_DECIMAL_INT,     /* digits only, and the value fits 64 bits */
  FH_DECIMAL_FLOAT,   /* anything else: the nearest double */
  FH_DECIMAL_TOO_LARGE /* beyond the largest double */
} fh_decimal_kind;

typedef union {
  int64_t as_int;
  double as_float;
} fh_decimal_value;

/* Reads a string that must be one number: [+-] digits [. digits] [e|E [+-] digits], where one side of the point may be
 * without digits. */
fh_decimal_kind fh_decimal_read(const char *text, size_t n_bytes, fh_decimal_value *out);
