/* test_decimal.c - conversions between numbers and strings, compared with the C library, here in the C locale. */
#include "core/serial/decimal.h"
#include <float.h>
#include <math.h>

#include "support/harness.h"

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state ^ *state >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static void expect_written(double value) {
  char text[FH_DECIMAL_FLOAT_MAX + 1], wanted[64];
  size_t n = fh_decimal_write_float(value, text);
  expect(n <= FH_DECIMAL_FLOAT_MAX);
  text[n] = '\0';
  snprintf(wanted, sizeof(wanted), "%.17g", value);
  if (strcmp(text, wanted) != 0) test_fail(__FILE__, __LINE__, "%s became %s", wanted, text);
}

static void expect_read(const char *text) {
  fh_decimal_value value;
  double wanted = strtod(text, NULL);
  fh_decimal_kind kind = fh_decimal_read(text, strlen(text), &value);
  if (isinf(wanted)) {
    expect_int(kind, FH_DECIMAL_TOO_LARGE);
    return;
  }
  if (kind == FH_DECIMAL_INT) value.as_float = (double)value.as_int;
  if (memcmp(&value.as_float, &wanted, sizeof(wanted)) != 0 && !(kind == FH_DECIMAL_INT && wanted == 0)) {
    test_fail(__FILE__, __LINE__, "%s became %.17g", text, value.as_float);
  }
}

TEST(powers_of_ten_are_exact_where_128_bits_hold_them) {
  uint64_t high = 0, low = 1; /* 10^n for n <= 38 */
  expect_int(fh_pow10_get(0)->exponent, -127);
  expect(fh_pow10_get(0)->high == (uint64_t)1 << 63 && fh_pow10_get(0)->low == 0);
  for (int n = 1; n <= 38; ++n) {
    uint64_t product_low, carry = fh_pow10_multiply(low, 10, &product_low);
    high = high * 10 + carry;
    low = product_low;
    const fh_pow10 *p = fh_pow10_get(n);
    uint64_t shifted_high = p->high, shifted_low = p->low;
    for (int i = p->exponent; i < 0; ++i) {
      expect(!(shifted_low & 1));
      shifted_low = shifted_low >> 1 | shifted_high << 63;
      shifted_high >>= 1;
    }
    expect(shifted_high == high && shifted_low == low);
  }
}

TEST(floats_are_written_as_printf_does) {
  static const double few[] = {0.0,
                               -0.0,
                               1.0,
                               -1.5,
                               0.1,
                               0.5,
                               1e15,
                               1e16,
                               1e17,
                               1e22,
                               1e23,
                               1e-4,
                               1e-5,
                               123456,
                               DBL_MAX,
                               DBL_MIN,
                               DBL_EPSILON,
                               5e-324,
                               1e308,
                               1e-308,
                               9007199254740993.0,
                               4503599627370496.5,
                               0.0001234,
                               1e100};
  for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); ++i) expect_written(few[i]);
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    double value = from_bits(next_random(&state));
    if (isfinite(value)) expect_written(value);
    expect_written((double)(int64_t)next_random(&state) / 1024); /* many of these are ties in the 17th digit */
    expect_written(ldexp((double)(next_random(&state) >> 40), (int)(next_random(&state) % 200) - 100));
  }
  for (int e = -1074; e <= 1023; ++e) {
    double power = ldexp(1, e), below;
    uint64_t bits;
    memcpy(&bits, &power, sizeof(bits));
    below = from_bits(bits - 1);
    expect_written(power);
    expect_written(below);
  }
}

TEST(floats_are_read_as_strtod_does) {
  static const char *const few[] = {"0",
                                    "-0",
                                    "-0.0",
                                    "1.",
                                    ".5",
                                    "+.5e1",
                                    "000123.4500",
                                    "1e22",
                                    "1e23",
                                    "9007199254740993",
                                    "9007199254740992.99999999999999999999999999999999",
                                    "9007199254740993.00000000000000000000000000000001",
                                    "2.2250738585072011e-308",
                                    "2.2250738585072014e-308",
                                    "4.9e-324",
                                    "2.4703282292062327e-324",
                                    "2.4703282292062328e-324",
                                    "1.7976931348623157e308",
                                    "1.7976931348623158e308",
                                    "1.7976931348623159e308",
                                    "1e309",
                                    "1e-400",
                                    "1e-99999999999999999999",
                                    "0e99999999999999999999",
                                    "1e99999999999999999999",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "-9223372036854775809",
                                    "123456789012345678901234567890"};
  for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); ++i) expect_read(few[i]);
  uint64_t state = 7;
  char text[128];
  for (int i = 0; i < 200000; ++i) {
    double value = from_bits(next_random(&state));
    if (!isfinite(value)) continue;
    snprintf(text, sizeof(text), "%.*g", (int)(next_random(&state) % 25) + 1, value);
    expect_read(text);
    snprintf(text, sizeof(text), "%llu.%llue%d", (unsigned long long)next_random(&state),
             (unsigned long long)next_random(&state), (int)(next_random(&state) % 700) - 350);
    expect_read(text);
  }
}

TEST(digits_beyond_any_buffer_still_decide) {
  static char text[3000];
  memset(text, '0', sizeof(text));
  memcpy(text, "9007199254740993.", 17); /* a tie unless more digits follow */
  text[sizeof(text) - 1] = '\0';
  expect_read(text);
  text[sizeof(text) - 2] = '1';
  expect_read(text);
  memset(text, '0', sizeof(text) - 8);
  text[1] = '.';
  memcpy(text + sizeof(text) - 8, "7e2990", 7);
  expect_read(text);
}

TEST(integers_are_integers_as_long_as_64_bits_hold_them) {
  static const int64_t few[] = {0, 9, 10, 99, 100, -1, 12345, INT64_MAX, INT64_MIN, 1000000000000000000};
  fh_decimal_value value;
  char text[FH_DECIMAL_INT_MAX], wanted[32];
  for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); ++i) {
    size_t n = fh_decimal_write_int(few[i], text);
    snprintf(wanted, sizeof(wanted), "%lld", (long long)few[i]);
    expect(n == strlen(wanted) && memcmp(text, wanted, n) == 0);
    expect_int(fh_decimal_read(text, n, &value), FH_DECIMAL_INT);
    expect_int(value.as_int, few[i]);
  }
  expect_int(fh_decimal_read("00000000000000000000000000012", 29, &value), FH_DECIMAL_INT);
  expect_int(value.as_int, 12);
  expect_int(fh_decimal_read("9223372036854775808", 19, &value), FH_DECIMAL_FLOAT);
}

TEST(a_text_that_is_not_a_number_is_invalid) {
  static const char *const few[] = {"",    "+",   "-",    ".",   "e5", "1e", "1e+", "1e-",  "1.2.3",
                                    "1-2", "--1", "1e5.", "0x1", " 1", "1 ", ".e1", "1ee5", "Infinity"};
  fh_decimal_value value;
  for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); ++i) {
    expect_int(fh_decimal_read(few[i], strlen(few[i]), &value), FH_DECIMAL_INVALID);
  }
}
