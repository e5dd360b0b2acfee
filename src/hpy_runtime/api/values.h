/* Where small values lie in their objects: ints of one digit, and floats.
 *
 * This is for objects whose type is exactly int or float; those of derived classes may be laid out otherwise. The
 * objects are constant, so that any thread with a reference may read them. */
#ifndef FFI_HPY_RUNTIME_VALUES_H_
#define FFI_HPY_RUNTIME_VALUES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FHPY_INT_STATES = 16 };

typedef struct FhpyValues {
  /* Offset of the word that has the sign and the number of digits of an int; 0: not known. The word plus int_bias, if
   * that is not above int_last, is an index into int_sign, and the int is int_sign times the digit, which is a uint32_t
   * in the word behind it. All other ints have more digits. */
  ptrdiff_t int_word;
  uint64_t int_bias, int_last;
  int8_t int_sign[FHPY_INT_STATES];
  ptrdiff_t float_word; /* offset of the double in a float; 0: not known */
  /* How a reference to None, True, False or an int from -5 to 256 is made: by doing nothing, or by adding one to the
   * first word. If it is neither, by the context's function. */
  bool constants_are_immortal, constants_are_counted;
} FhpyValues;

/* The value of an int of one digit, which is anything from -(2**30 - 1) to 2**30 - 1; false for others. Not to be
 * called where int_word is 0. */
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

/* The value of a float. Not to be called where float_word is 0. */
static inline double fhpy_values_read_float(const FhpyValues *values, const void *object) {
  double number;
  memcpy(&number, (const char *)object + values->float_word, sizeof(number));
  return number;
}

#endif /* FFI_HPY_RUNTIME_VALUES_H_ */
