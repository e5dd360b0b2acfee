/* text.h - a growing string, and the formatting of strings, bytes and numbers for people. */
#pragma once

#include "core/platform/base.h"

/* All zero is an empty one. Every function returns 0, or -1 with a MemoryError pending. */
typedef struct {
  char *data; /* freed by fh_text_free */
  size_t n_bytes;
  size_t capacity;
} fh_text;

int fh_text_add(fh_text *text, const char *data, size_t n_bytes);
int fh_text_add_cstr(fh_text *text, const char *cstr);
/* Up to 127 bytes of output; the rest is cut off. */
int fh_text_add_format(fh_text *text, const char *format, ...) FH_PRINTF(2, 3);
/* "..." in ASCII: UTF-8 characters as \u1234 or \U00012345, other bytes as \x12. */
int fh_text_add_quoted(fh_text *text, TVMFFIByteArray content);
/* b"..." */
int fh_text_add_bytes(fh_text *text, TVMFFIByteArray content);
/* Decimal; little-endian two's complement words. */
int fh_text_add_bigint(fh_text *text, const int64_t *words, size_t n_words);
/* As "%g" with that many digits in the C locale. */
int fh_text_add_float(fh_text *text, double value, int n_digits);
void fh_text_free(fh_text *text);

/* Length of the UTF-8 sequence of more than one byte that begins at p, 0 if none does. n_left > 0. */
size_t fh_text_utf8_length(const unsigned char *p, size_t n_left);
