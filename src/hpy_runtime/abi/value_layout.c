/* Measures the layout of small values.
 *
 * Two layouts of int are known; a layout is used if every sample reads back its value. A float is a header and a
 * double; this layout is used if it fits every sample. */
#include "value_layout.h"

#include "layout.h"

FhpyValues fhpy_value_layout;

#ifdef FHPY_PYPY

int fhpy_value_layout_measure(void) { return 0; } /* cpyext's objects do not contain their values */

#else

/* --- int ---------------------------------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 30 };
#define MOST_OF_ONE_DIGIT ((1ll << DIGIT_BITS) - 1)

/* One digit each; the larger ones show that a digit has 30 bits. */
static const long long of_one_digit[] = {0,
                                         1,
                                         2,
                                         -1,
                                         -2,
                                         5,
                                         -5,
                                         -6,
                                         256,
                                         257,
                                         -257,
                                         32767,
                                         32768,
                                         -65536,
                                         1000003,
                                         0x2aaaaaaa,
                                         MOST_OF_ONE_DIGIT,
                                         -MOST_OF_ONE_DIGIT};
static const long long of_more[] = {
    MOST_OF_ONE_DIGIT + 1, -MOST_OF_ONE_DIGIT - 1, 1ll << 45, -(1ll << 59), 1ll << 60, INT64_MAX, INT64_MIN};

/* Whether an int reads as expected. Returns -1 with an exception raised on failure. */
static int reads_int(const FhpyValues *values, long long number, bool has_one_digit) {
  PyObject *object = PyLong_FromLongLong(number);
  if (object == NULL) return -1;
  int64_t seen;
  bool is_read = fhpy_values_read_int(values, object, &seen);
  Py_DecRef(object);
  return is_read == has_one_digit && (!is_read || seen == number);
}

/* Returns 1 if all samples read as expected, 0 if not, -1 with an exception raised. */
static int reads_ints(const FhpyValues *values) {
  int is_right = 1;
  for (size_t i = 0; is_right > 0 && i < sizeof(of_one_digit) / sizeof(of_one_digit[0]); ++i)
    is_right = reads_int(values, of_one_digit[i], true);
  for (size_t i = 0; is_right > 0 && i < sizeof(of_more) / sizeof(of_more[0]); ++i)
    is_right = reads_int(values, of_more[i], false);
  return is_right;
}

/* Up to 3.11 the word is the number of digits, negative for a negative int. From 3.12 on the number of digits is above
 * three bits; the lowest two of these are 0 for a positive int, 1 for zero, 2 for a negative int. */
static int measure_int(FhpyValues *values) {
  FhpyValues counted = {.int_bias = 1, .int_last = 2, .int_sign = {-1, 0, 1}};
  FhpyValues tagged = {.int_last = FHPY_INT_STATES - 1};
  for (int i = 0; i < FHPY_INT_STATES; ++i) tagged.int_sign[i] = (int8_t)(1 - (i & 3));
  FhpyValues *const known[] = {&counted, &tagged};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    known[i]->int_word = (ptrdiff_t)fhpy_layout.header_size;
    int is_right = reads_ints(known[i]);
    if (is_right < 0) return -1;
    if (is_right == 0) continue;
    *values = *known[i];
    return 0;
  }
  return 0;
}

/* --- float -------------------------------------------------------------------------------------------------------- */

static const double floats[] = {0.0, -0.0, 1.0, -1.5, 3.141592653589793, 5e-324, -1.7976931348623157e308, 1e100};

/* Returns 1 if all samples read as expected, 0 if not, -1 with an exception raised. */
static int reads_floats(const FhpyValues *values) {
  for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); ++i) {
    PyObject *object = PyFloat_FromDouble(floats[i]);
    if (object == NULL) return -1;
    double seen = fhpy_values_read_float(values, object);
    Py_DecRef(object);
    if (memcmp(&seen, &floats[i], sizeof(seen)) != 0) return 0;
  }
  return 1;
}

static int measure_float(FhpyValues *values) {
  values->float_word = (ptrdiff_t)fhpy_layout.header_size;
  int is_right = reads_floats(values);
  if (is_right <= 0) values->float_word = 0;
  return is_right < 0 ? -1 : 0;
}

/* --- None, True, False -------------------------------------------------------------------------------------------- */

/* Whether an incref leaves the header of `o` unchanged. */
static bool is_immortal(PyObject *o) {
  char before[64];
  if (fhpy_layout.header_size > sizeof(before)) return false;
  memcpy(before, o, fhpy_layout.header_size);
  Py_IncRef(o);
  bool is_same = memcmp(before, o, fhpy_layout.header_size) == 0;
  Py_DecRef(o);
  return is_same;
}

/* Returns 1 if all constants are immortal, 0 if not, -1 with an exception raised. */
static int are_immortal(void) {
  PyObject *const singletons[] = {&_Py_NoneStruct, &_Py_TrueStruct, &_Py_FalseStruct};
  bool is_so = fhpy_layout.minor >= 12;
  for (int i = 0; i < 3; ++i) is_so = is_so && is_immortal(singletons[i]);
  for (long number = -5; is_so && number <= 256; ++number) {
    PyObject *o = PyLong_FromLong(number);
    if (o == NULL) return -1;
    is_so = is_immortal(o);
    Py_DecRef(o);
  }
  return is_so;
}

int fhpy_value_layout_measure(void) {
  FhpyValues values = {0};
  if (measure_int(&values) < 0 || measure_float(&values) < 0) return -1;
  int is_immortal = are_immortal();
  if (is_immortal < 0) return -1;
  values.constants_are_immortal = is_immortal != 0;
  values.constants_are_counted = fhpy_layout.plain_refcounts && !values.constants_are_immortal;
  fhpy_value_layout = values;
  return 0;
}

#endif
