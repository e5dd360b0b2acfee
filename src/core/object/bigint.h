/* bigint.h - integers beyond 64 bits: ffi.BigInt, header, word count, words.
 *
 * Words are int64, least significant first, two's complement, in native byte order, without redundant sign words. An
 * integer that fits int64 is never a BigInt, so two unequal type indices mean two unequal integers. */
#pragma once

#include "any.h"

typedef struct {
  TVMFFIObject header;
  size_t n_words;
  int64_t words[];
} fh_bigint_object;

/* Makes an Int or BigInt of a decimal string with or without a sign; ValueError for any other string. */
int fh_bigint_from_decimal(TVMFFIByteArray text, TVMFFIAny *out);

/* Raises the OverflowError for argument number i, a BigInt, of a function that takes an int64. Always -1. */
FH_COLD int fh_bigint_raise_argument(const char *name, int32_t i, const TVMFFIAny *got);

/* Gives BigInt its __any_hash__ and __any_equal__: maps compare the numbers, not the objects. */
void fh_bigint_init(void);
