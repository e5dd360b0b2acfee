/* decimal.h - numbers as decimal strings and back: exact, and independent of the locale. */
#ifndef FH_DECIMAL_H_
#define FH_DECIMAL_H_

#include "core/platform/base.h"

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

#endif /* FH_DECIMAL_H_ */
