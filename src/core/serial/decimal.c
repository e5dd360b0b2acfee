/* decimal.c - numbers as decimal strings and back.
 *
 * Both directions multiply up to 64 significant bits by a power of ten; reading in this way is the Eisel-Lemire
 * algorithm. The power has 128 bits and is rounded down, and so is the product. So the exact product is at least the
 * computed one, and less than three units of the second word above it. If that difference could change the rounding of
 * the product, the C library decides. The decimal point of the C library depends on the locale: reading passes it a
 * string without a point, and writing skips the point. */
#include "decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/platform/fork.h"

/* --- powers of ten ------------------------------------------------------------------------------------------------ */

/* Powers of ten to 128 bits, computed once from exact powers of five: 10^n is 5^n * 2^n, and the power of two
 * goes into the exponent. Large integers of 31 words are sufficient. The table of 691 entries is computed at run time,
 * which keeps it out of the source and out of the library's file. */

/* Words of 32 bits, least significant first. 5^345 has 802 bits; 2^960 / 5^345 still has 159. */
#define N_WORDS 31
#define ONE_BITS 960
FH_STATIC_ASSERT(ONE_BITS == (N_WORDS - 1) * 32, "the one has its bit in the last word");

/* Entry i is 10^(i + FH_POW10_MIN). Written by fill_table under the fh_once, and only read after it. */
static fh_pow10 table[FH_POW10_MAX - FH_POW10_MIN + 1];
FH_ONCE(table_once, "pow10");

/* The number of bits up to the highest one; the words are not all 0. */
static int count_bits(const uint32_t *words) {
  int n = N_WORDS;
  while (words[n - 1] == 0) --n;
  return n * 32 - (fh_pow10_zeros_above(words[n - 1]) - 32);
}

/* The 64 bits below bit `end`; bits below bit 0 are zero. */
static uint64_t bits_below(const uint32_t *words, int end) {
  uint64_t bits = 0;
  for (int i = end - 1; i >= end - 64; --i) bits = bits << 1 | (i >= 0 ? words[i / 32] >> (i % 32) & 1 : 0);
  return bits;
}

/* Sets 10^n from words that are 5^n * 2^shift, or that value rounded down. The upper 128 bits are kept, which rounds
 * down, too. */
static void set_entry(int n, const uint32_t *words, int shift) {
  fh_pow10 *entry = &table[n - FH_POW10_MIN];
  int n_bits = count_bits(words);
  entry->high = bits_below(words, n_bits);
  entry->low = bits_below(words, n_bits - 64);
  entry->exponent = n_bits - 128 - shift + n;
}

static void multiply_by_5(uint32_t *words) {
  uint64_t carry = 0;
  for (int i = 0; i < N_WORDS; ++i) {
    carry += (uint64_t)words[i] * 5;
    words[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* Rounds down; repeated divisions have the same result as one division by the power of five. */
static void divide_by_5(uint32_t *words) {
  uint64_t rest = 0;
  for (int i = N_WORDS; i-- > 0;) {
    rest = rest << 32 | words[i];
    words[i] = (uint32_t)(rest / 5);
    rest %= 5;
  }
}

static void fill_table(void) {
  /* `up` is 5^n. `down` is 2^960 / 5^-n, whose upper 128 bits are correct even for the smallest n. */
  uint32_t up[N_WORDS] = {1}, down[N_WORDS] = {0};
  down[N_WORDS - 1] = 1;
  for (int n = 0; n <= FH_POW10_MAX; ++n, multiply_by_5(up)) set_entry(n, up, 0);
  for (int n = 0; n >= FH_POW10_MIN; --n, divide_by_5(down)) set_entry(n, down, ONE_BITS);
}

const fh_pow10 *fh_pow10_get(int n) {
  fh_once_run(&table_once, fill_table);
  return &table[n - FH_POW10_MIN];
}

/* --- decimal strings ---------------------------------------------------------------------------------------------- */

#define UNSURE 4 /* units of the second word, with a margin */
#define HALF ((uint64_t)1 << 63)

/* value = (high * 2^64 + low) * 2^exponent, truncated; the top bit is set. */
typedef struct {
  uint64_t high, low;
  int exponent;
} scaled;

/* bits * 2^exponent * 10^power; bits is not 0, the power is in the table. The lowest word of the product of 64 by 128
 * bits is only used for the bit that moves up if the top bit is not set. */
static scaled scale(uint64_t bits, int exponent, int power) {
  const fh_pow10 *p = fh_pow10_get(power);
  int shift = fh_pow10_zeros_above(bits);
  uint64_t low, rest;
  bits <<= shift;
  uint64_t high = fh_pow10_multiply(bits, p->high, &low);
  uint64_t carry = fh_pow10_multiply(bits, p->low, &rest);
  low += carry;
  high += low < carry;
  scaled product = {high, low, exponent - shift + p->exponent + 64};
  if (!(high >> 63)) {
    product.high = high << 1 | low >> 63;
    product.low = low << 1 | rest >> 63;
    product.exponent -= 1;
  }
  return product;
}

/* ---- Writing ---- */

static const char two_digits[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293"
    "949596979899";

/* Writes the digits of a number, right-aligned before `end`, two by two; returns their start. */
static char *write_digits(uint64_t value, char *end) {
  while (value >= 100) {
    end -= 2;
    memcpy(end, two_digits + value % 100 * 2, 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    memcpy(end, two_digits + value * 2, 2);
  } else {
    *--end = (char)('0' + value);
  }
  return end;
}

size_t fh_decimal_write_int(int64_t value, char *out) {
  char buffer[FH_DECIMAL_INT_MAX];
  char *end = buffer + sizeof(buffer);
  /* Negated as an unsigned number: -2^63 has no positive counterpart. */
  char *begin = write_digits(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, end);
  if (value < 0) *--begin = '-';
  memcpy(out, begin, (size_t)(end - begin));
  return (size_t)(end - begin);
}

#define DIGITS 17
#define LOWEST UINT64_C(10000000000000000)    /* the smallest number of 17 digits */
#define BEYOND UINT64_C(100000000000000000)

/* 17 significant digits of a positive value, correctly rounded, and the decimal exponent of the first: by the C
 * library. Skips the decimal point of the locale. */
static uint64_t round_by_printf(double value, int *exponent) {
  char text[64];
  uint64_t digits = 0;
  int n = snprintf(text, sizeof(text), "%.*e", DIGITS - 1, value), i = 0;
  for (; i < n && text[i] != 'e'; ++i) {
    if (text[i] >= '0' && text[i] <= '9') digits = digits * 10 + (uint64_t)(text[i] - '0');
  }
  *exponent = atoi(text + i + 1);
  return digits;
}

/* As round_by_printf, by one multiplication if its result is certain. The power of ten that leaves 17 digits before the
 * point is estimated from the highest bit, and may be one too large: then the product has more digits, and the next
 * power is tried. */
static uint64_t round_to_digits(double value, int *exponent) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  /* The parts of a double: value = bits * 2^power2. A raw exponent of 0 marks subnormal numbers, which have no hidden
   * bit. */
  int raw = (int)(bits >> 52 & 0x7ff);
  bits &= ((uint64_t)1 << 52) - 1;
  if (raw != 0) bits |= (uint64_t)1 << 52;
  int power2 = (raw != 0 ? raw : 1) - 1075;
  int top = power2 + 63 - fh_pow10_zeros_above(bits);                 /* value is in [2^top, 2^(top + 1)) */
  int first = (int)((int64_t)top * 315653 >> 20);                     /* floor(top * log10(2)) */
  for (;; ++first) {
    scaled product = scale(bits, power2, DIGITS - 1 - first);
    int n_below = -(product.exponent + 64);                           /* bits of `high` after the point: 4 to 10 */
    uint64_t digits = product.high >> n_below;
    if (digits >= BEYOND) continue;
    uint64_t fraction = product.high << (64 - n_below) | product.low >> n_below;
    /* The exact fraction is less than UNSURE above this one. If one half is in that range, including its ends, the C
     * library decides. A fraction near 1 is certain: it rounds up, to the number to which an exact fraction beyond 1
     * would be rounded down. */
    if (fraction + UNSURE >= HALF && fraction <= HALF) return round_by_printf(value, exponent);
    digits += fraction > HALF;
    *exponent = first;
    if (digits < BEYOND) return digits;
    /* Rounding up has produced 10^17, which has 18 digits. */
    *exponent = first + 1;
    return LOWEST;
  }
}

/* "e+05", "e-308": a sign and at least two digits, as in printf. Returns the number of bytes. */
static size_t write_exponent(int exponent, char *out) {
  char digits[8];
  char *begin = write_digits((uint64_t)(exponent < 0 ? -exponent : exponent), digits + sizeof(digits));
  size_t n = (size_t)(digits + sizeof(digits) - begin);
  out[0] = 'e';
  out[1] = exponent < 0 ? '-' : '+';
  if (n == 1) *--begin = '0', n = 2;
  memcpy(out + 2, begin, n);
  return n + 2;
}

size_t fh_decimal_write_float(double value, char *out) {
  char digits[DIGITS], *at = out;
  uint64_t sign;
  int exponent = 0, n = DIGITS;
  /* From the bits, because -0.0 is not less than 0. */
  memcpy(&sign, &value, sizeof(sign));
  if (sign >> 63) *at++ = '-';
  if (value == 0) {
    *at++ = '0';
    return (size_t)(at - out);
  }
  write_digits(round_to_digits(value < 0 ? -value : value, &exponent), digits + DIGITS);
  /* The rules of "%g": an exponent below -4, or at least the precision, is written with "e", and trailing zeros are
   * dropped. */
  while (n > 1 && digits[n - 1] == '0') --n;
  int n_before = exponent + 1; /* digits before the point */
  if (exponent < -4 || exponent >= DIGITS) n_before = 1;
  if (n_before <= 0) {
    /* At most three zeros follow the point, as the exponent is -4 or more. */
    memcpy(at, "0.000", 5);
    at += 2 - n_before;
    memcpy(at, digits, (size_t)n);
    return (size_t)(at + n - out);
  }
  /* Zeros before the point stay, and are still in `digits`. */
  if (n < n_before) n = n_before;
  memcpy(at, digits, (size_t)n_before);
  at += n_before;
  if (n > n_before) {
    *at++ = '.';
    memcpy(at, digits + n_before, (size_t)(n - n_before));
    at += n - n_before;
  }
  if (n_before != exponent + 1) at += write_exponent(exponent, at);
  return (size_t)(at - out);
}

/* ---- Reading ---- */

#define MAX_WORD_DIGITS 19 /* every number with that many digits fits 64 bits */
#define MAX_EXPONENT ((int64_t)1 << 56)

/* The parts of a number string: sign, digits without leading zeros and without point, power of ten after the last
 * digit. */
typedef struct {
  const char *first; /* the first digit that is not a zero, followed by digits and perhaps one point */
  int64_t n_digits;
  int64_t exponent;
  uint64_t bits; /* the first MAX_WORD_DIGITS digits as a number */
  bool is_negative;
  bool is_plain; /* neither point nor exponent */
} parts;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads digits up to their end; returns their number, zeros included. Leading zeros of the number are skipped, also
 * those after the point. Digits beyond MAX_WORD_DIGITS are counted, but do not go into `bits`. */
static int64_t read_digits(const char **at, const char *end, parts *p) {
  const char *begin = *at, *c = begin;
  if (p->n_digits == 0) {
    while (c != end && *c == '0') ++c;
    p->first = c;
  }
  const char *first = c;
  int64_t room = p->n_digits < MAX_WORD_DIGITS ? MAX_WORD_DIGITS - p->n_digits : 0;
  const char *stop = end - c > room ? c + room : end;
  for (; c != stop && is_digit(*c); ++c) p->bits = p->bits * 10 + (uint64_t)(*c - '0');
  while (c != end && is_digit(*c)) ++c;
  p->n_digits += c - first;
  *at = c;
  return c - begin;
}

/* From the "e" on: 1, or 0 without digits. Adds to *out; from MAX_EXPONENT on, further digits are skipped. */
static bool read_exponent(const char **at, const char *end, int64_t *out) {
  bool is_negative = false;
  int64_t exponent = 0;
  *at += 1;
  if (*at != end && (**at == '+' || **at == '-')) is_negative = *(*at)++ == '-';
  if (*at == end || !is_digit(**at)) return false;
  for (; *at != end && is_digit(**at); ++*at) {
    if (exponent < MAX_EXPONENT) exponent = exponent * 10 + (**at - '0');
  }
  *out += is_negative ? -exponent : exponent;
  return true;
}

/* Whether the whole string is one number. The value of the number is the digits from p->first on, times 10^exponent. */
static bool split(const char *at, const char *end, parts *p) {
  memset(p, 0, sizeof(*p));
  p->is_plain = true;
  if (at != end && (*at == '+' || *at == '-')) p->is_negative = *at++ == '-';
  int64_t n = read_digits(&at, end, p);
  if (at != end && *at == '.') {
    at += 1;
    p->is_plain = false;
    int64_t n_behind = read_digits(&at, end, p);
    p->exponent = -n_behind;
    n += n_behind;
  }
  if (n == 0) return false;
  if (at != end && (*at == 'e' || *at == 'E')) {
    p->is_plain = false;
    if (!read_exponent(&at, end, &p->exponent)) return false;
  }
  return at == end;
}

/* The nearest double by the C library, from digits and an exponent without a point. The number halfway between two
 * doubles has fewer than MAX_DIGITS digits, so for the digits after these it only matters whether all are zero: one
 * digit represents that. */
static double read_by_strtod(const parts *p) {
  enum { MAX_DIGITS = 800 };
  char text[MAX_DIGITS + 32];
  int64_t n = 0, n_read = 0;
  bool is_more = false;
  for (const char *at = p->first; n_read < p->n_digits; ++at) {
    if (!is_digit(*at)) continue;
    n_read += 1;
    if (n < MAX_DIGITS)
      text[n++] = *at;
    else
      is_more |= *at != '0';
  }
  int64_t exponent = p->exponent + p->n_digits - n;
  if (is_more) {
    text[n++] = '1';
    exponent -= 1;
  }
  snprintf(text + n, sizeof(text) - (size_t)n, "e%d", (int)exponent);
  return strtod(text, NULL);
}

/* The double nearest to bits * 10^power: 1, or 0 if the result is uncertain, as every tie is. The double may be
 * infinite. */
static bool nearest(uint64_t bits, int power, double *out) {
  scaled product = scale(bits, 0, power);
  int exponent = product.exponent + 127;                        /* exponent of the top bit */
  int n_below = exponent >= -1022 ? 11 : 11 + (-1022 - exponent); /* bits of `high` that do not fit the mantissa */
  /* For the smallest doubles hardly a bit is left, and no shift may be as wide as the word. */
  if (n_below > 62) return false;
  uint64_t mantissa = product.high >> n_below;
  uint64_t fraction = product.high << (64 - n_below) | product.low >> n_below;
  /* As in round_to_digits. */
  if (fraction + UNSURE >= HALF && fraction <= HALF) return false;
  mantissa += fraction > HALF;
  /* The mantissa's own top bit adds one to the exponent, and so does a carry out of the mantissa. */
  uint64_t raw = exponent >= -1022 ? (uint64_t)(exponent + 1022) : 0;
  uint64_t as_bits = exponent > 1023 ? (uint64_t)0x7ff << 52 : (raw << 52) + mantissa;
  memcpy(out, &as_bits, sizeof(as_bits));
  return true;
}

/* The nearest double; infinite beyond the largest. Numbers with many digits or extreme exponents are left to the C
 * library, except those that are certainly too large or too small, so it gets exponents that fit an int. */
static double to_double(const parts *p) {
  double value;
  if (p->n_digits == 0 || p->exponent + p->n_digits < -400) return 0;
  if (p->exponent + p->n_digits > 400) return (double)INFINITY;
  if (p->n_digits > MAX_WORD_DIGITS || p->exponent < FH_POW10_MIN || p->exponent > FH_POW10_MAX) {
    return read_by_strtod(p);
  }
  return nearest(p->bits, (int)p->exponent, &value) ? value : read_by_strtod(p);
}

fh_decimal_kind fh_decimal_read(const char *text, size_t n_bytes, fh_decimal_value *out) {
  parts p;
  if (!split(text, text + n_bytes, &p)) return FH_DECIMAL_INVALID;
  /* The magnitude of the smallest integer is one more than that of the largest. */
  if (p.is_plain && p.n_digits <= MAX_WORD_DIGITS && p.bits <= (uint64_t)INT64_MAX + (uint64_t)p.is_negative) {
    out->as_int = p.is_negative ? (int64_t)(0 - p.bits) : (int64_t)p.bits;
    return FH_DECIMAL_INT;
  }
  double value = to_double(&p);
  out->as_float = p.is_negative ? -value : value;
  return value > DBL_MAX ? FH_DECIMAL_TOO_LARGE : FH_DECIMAL_FLOAT;
}
