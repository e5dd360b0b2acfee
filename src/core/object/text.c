/* text.c - a growing string, and the formatting of strings, bytes and numbers for people: in repr, in access paths, and
 * as the digits of big integers in JSON. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/platform/mem.h"
#include "error.h"

int fh_text_add(fh_text *text, const char *data, size_t n_bytes) {
  if (n_bytes > text->capacity - text->n_bytes) {
    if (n_bytes > SIZE_MAX / 4 || text->n_bytes > SIZE_MAX / 4) return fh_error_raise_no_memory();
    size_t capacity = (text->n_bytes + n_bytes) * 2 + 32; /* doubled, so that n additions copy O(n) bytes */
    char *grown = (char *)fh_mem_realloc(text->data, capacity);
    if (grown == NULL) return fh_error_raise_no_memory();
    text->data = grown;
    text->capacity = capacity;
  }
  if (n_bytes != 0) memcpy(text->data + text->n_bytes, data, n_bytes);
  text->n_bytes += n_bytes;
  return 0;
}

int fh_text_add_cstr(fh_text *text, const char *cstr) { return fh_text_add(text, cstr, strlen(cstr)); }

int fh_text_add_format(fh_text *text, const char *format, ...) {
  char buffer[128];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(buffer, sizeof(buffer), format, args);
  va_end(args);
  if (n < 0) n = 0;
  return fh_text_add(text, buffer,
                     (size_t)n < sizeof(buffer) ? (size_t)n : sizeof(buffer) - 1); /* cut off if too long */
}

void fh_text_free(fh_text *text) {
  fh_mem_free(text->data);
  memset(text, 0, sizeof(*text));
}

/* ---- Strings and bytes ---- */

/* Whether n continuation bytes (10xxxxxx) follow. */
static bool is_tail(const unsigned char *p, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if ((p[i] & 0xc0) != 0x80) return false;
  }
  return true;
}

/* The definition of well-formed is table 3-7 of the Unicode standard. */
size_t fh_text_utf8_length(const unsigned char *p, size_t n_left) {
  /* The first byte gives the length; 0xc0 and 0xc1 would begin a long form of ASCII. */
  size_t n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
  if (n == 0 || n > n_left || !is_tail(p + 1, n - 1)) return 0;
  /* Not UTF-8: a character that has a shorter form, and surrogates and numbers beyond U+10FFFF. */
  bool is_long_form = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
  bool is_not_a_character = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
  return is_long_form || is_not_a_character ? 0 : n;
}

int fh_text_add_quoted(fh_text *text, TVMFFIByteArray content) {
  const unsigned char *p = (const unsigned char *)content.data;
  int rc = fh_text_add_cstr(text, "\"");
  for (size_t i = 0; i < content.size && rc == 0;) {
    size_t n = fh_text_utf8_length(p + i, content.size - i);
    if (n != 0) {
      /* the bits after the length mark of the first byte, then 6 bits of each other byte */
      uint32_t character = p[i] & (0xffu >> (n + 1));
      for (size_t k = 1; k < n; ++k) character = character << 6 | (p[i + k] & 0x3fu);
      rc = fh_text_add_format(text, n < 4 ? "\\u%04x" : "\\U%08x", (unsigned)character);
      i += n;
      continue;
    }
    switch (p[i]) {
    case '\n': rc = fh_text_add_cstr(text, "\\n"); break;
    case '\t': rc = fh_text_add_cstr(text, "\\t"); break;
    case '\r': rc = fh_text_add_cstr(text, "\\r"); break;
    case '\\': rc = fh_text_add_cstr(text, "\\\\"); break;
    case '"': rc = fh_text_add_cstr(text, "\\\""); break;
    default:
      rc = p[i] >= 0x20 && p[i] < 0x7f ? fh_text_add(text, content.data + i, 1)
                                       : fh_text_add_format(text, "\\x%02x", p[i]);
    }
    i += 1;
  }
  return rc != 0 ? rc : fh_text_add_cstr(text, "\"");
}

int fh_text_add_bytes(fh_text *text, TVMFFIByteArray content) {
  int rc = fh_text_add_cstr(text, "b\"");
  for (size_t i = 0; i < content.size && rc == 0; ++i) {
    unsigned char c = (unsigned char)content.data[i];
    bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    rc = is_plain ? fh_text_add(text, content.data + i, 1) : fh_text_add_format(text, "\\x%02x", c);
  }
  return rc != 0 ? rc : fh_text_add_cstr(text, "\"");
}

/* ---- Big integers ---- */

/* Divides n 32-bit digits, least significant first, by 10^9 and returns the rest. */
static uint32_t divide(uint32_t *digits, size_t n) {
  uint64_t rest = 0;
  for (size_t i = n; i-- > 0;) {
    uint64_t part = rest << 32 | digits[i];
    digits[i] = (uint32_t)(part / 1000000000u);
    rest = part % 1000000000u;
  }
  return (uint32_t)rest;
}

/* Divides by 10^9 repeatedly: each rest is a group of 9 digits, the last group first. Quadratic in n_words. */
int fh_text_add_bigint(fh_text *text, const int64_t *words, size_t n_words) {
  bool is_negative = n_words != 0 && words[n_words - 1] < 0;
  size_t n = n_words * 2, n_groups = 0;
  uint32_t *digits = (uint32_t *)fh_mem_calloc(n + 1, sizeof(*digits));
  /* 9 decimal digits each; a word of 32 bits adds less than two groups, and 0 has one */
  uint32_t *groups = (uint32_t *)fh_mem_calloc(n * 2 + 1, sizeof(*groups));
  int rc = digits == NULL || groups == NULL ? fh_error_raise_no_memory() : 0;
  if (rc == 0) {
    uint64_t carry = is_negative; /* the magnitude: invert and add one */
    for (size_t i = 0; i < n; ++i) {
      uint64_t word = (uint64_t)words[i / 2] >> (i % 2 * 32) & 0xffffffffu;
      carry += is_negative ? word ^ 0xffffffffu : word;
      digits[i] = (uint32_t)carry;
      carry >>= 32;
    }
    /* high words of 0 are skipped from the start, and after each division */
    while (n != 0 && digits[n - 1] == 0) --n;
    do {
      groups[n_groups++] = divide(digits, n);
      while (n != 0 && digits[n - 1] == 0) --n;
    } while (n != 0);
    rc = fh_text_add_format(text, "%s%u", is_negative ? "-" : "", (unsigned)groups[n_groups - 1]);
    for (size_t i = n_groups - 1; i-- > 0 && rc == 0;) rc = fh_text_add_format(text, "%09u", (unsigned)groups[i]);
  }
  fh_mem_free(digits);
  fh_mem_free(groups);
  return rc;
}

/* In other locales the decimal point is another string, possibly of several bytes. */
int fh_text_add_float(fh_text *text, double value, int n_digits) {
  char printed[64], plain[64];
  size_t n = 0;
  snprintf(printed, sizeof(printed), "%.*g", n_digits, value);
  for (const char *at = printed; *at != '\0'; ++at) {
    bool is_point = strchr("0123456789+-einfa", *at) == NULL; /* "e" of an exponent, "inf", "nan" */
    if (!is_point)
      plain[n++] = *at;
    else if (n != 0 && plain[n - 1] != '.')
      plain[n++] = '.';
  }
  return fh_text_add(text, plain, n);
}
