/* The layout of small values: ints of one digit, and floats.
 *
 * The file applies to objects whose type is exactly int or float; instances of subclasses may have another layout. The
 * objects are constant, so any thread with a reference may read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FHPY_INT_STATES = 16 };

typedef struct FhpyValues {
  /* Offset of the word with the sign and the number of digits of an int; 0: unknown. If the word plus int_bias is not
   * above int_last, it is an index into int_sign, and the int is int_sign times the digit, a uint32_t after the word.
   * All other ints have more digits. */
  ptrdiff_t int_word;
  uint64_t int_bias, int_last;
  int8_t int_sign[FHPY_INT_STATES];
  ptrdiff_t float_word; /* offset of the double in a float; 0: unknown */
  /* How to make a reference to None, True, False or an int from -5 to 256: no action (immortal), or an increment of the
   * first word (counted). If both are false, by the context's function. */
  bool constants_are_immortal, constants_are_counted;
} FhpyValues;

/* Reads an int of one digit, from -(2**30 - 1) to 2**30 - 1; returns false for others. Requires int_word != 0. */
static inline bool fhpy_values_read_int(const FhpyValues *values, const void *object, int64_t *out) {
  uint64_t word;
  uint32_t digit;
  memcpy(&word, (const char *)object + values->int_word, sizeof(word));
  memcpy(&digit, (const char *)object + values->int_word + sizeof(word), sizeof(digit));
  word += values->int_bias;
  if (word > values->int_last) return false;
  *out = (int64_t)values->int_sign[word] * digit;
  return true;
}

/* Reads a float. Requires float_word != 0. */
static inline double fhpy_values_read_float(const FhpyValues *values, const void *object) {
  double number;
  memcpy(&number, (const char *)object + values->float_word, sizeof(number));
  return number;
}
