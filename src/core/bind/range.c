/* range.c - the numbers that a parameter of a bound function accepts. */
#include "range.h"

#include <math.h>

#include "core/object/any.h"
#include "core/object/bigint.h"
#include "core/object/error.h"

/* The sizes after those of integers: see FFI_HPY_TYPE_SIZE_SHIFT. */
enum { SIZE_OF_FLOAT = 5, SIZE_OF_DOUBLE = 6 };

static uint32_t size_of(const ffi_hpy_param *param) { return (param->flags >> FFI_HPY_PARAM_SIZE_SHIFT) & 7; }

/* The number of bits of an integer parameter; 0 for another one. */
static uint32_t bits_of(const ffi_hpy_param *param) {
  uint32_t size = size_of(param);
  return size == 0 || size >= SIZE_OF_FLOAT ? 0 : 4u << size;
}

static bool is_unsigned(const ffi_hpy_param *param) { return (param->flags & kFfiHpyParamUnsigned) != 0; }

static int64_t least(const ffi_hpy_param *param) {
  return is_unsigned(param) ? 0 : (int64_t)(UINT64_MAX << (bits_of(param) - 1));
}

static uint64_t greatest(const ffi_hpy_param *param) {
  return UINT64_MAX >> (64 - bits_of(param) + (is_unsigned(param) ? 0 : 1));
}

uint32_t fh_range_flags(uint8_t type_flags) {
  uint32_t size = type_flags >> FFI_HPY_TYPE_SIZE_SHIFT;
  return size << FFI_HPY_PARAM_SIZE_SHIFT | ((type_flags & kFfiHpyTypeUnsigned) != 0 ? kFfiHpyParamUnsigned : 0);
}

uint8_t fh_range_type_flags(const ffi_hpy_param *param) {
  return (uint8_t)(size_of(param) << FFI_HPY_TYPE_SIZE_SHIFT | (is_unsigned(param) ? kFfiHpyTypeUnsigned : 0));
}

static const fh_bigint_object *as_bigint(const TVMFFIAny *arg) {
  return arg->type_index == kTVMFFIBigInt ? (const fh_bigint_object *)(const void *)arg->v_obj : NULL;
}

/* The nearest double, or an infinite one. */
static double to_double(const fh_bigint_object *big) {
  double number = (double)big->words[big->n_words - 1]; /* two's complement, the lowest word first */
  for (size_t i = big->n_words - 1; i-- > 0;) number = number * 0x1p64 + (double)(uint64_t)big->words[i];
  return number;
}

/* Whether a finite number becomes infinite as a float or double. */
static bool is_too_large(const ffi_hpy_param *param, const TVMFFIAny *arg) {
  const fh_bigint_object *big = as_bigint(arg);
  if (big == NULL && (arg->type_index != kTVMFFIFloat || isinf(arg->v_float64))) return false;
  double number = big != NULL ? to_double(big) : arg->v_float64;
  return size_of(param) == SIZE_OF_FLOAT ? isinf((float)number) : isinf(number);
}

bool fh_range_excludes(const ffi_hpy_param *param, const TVMFFIAny *arg) {
  if (size_of(param) >= SIZE_OF_FLOAT) return is_too_large(param, arg);
  if (bits_of(param) == 0) return false;
  if (arg->type_index == kTVMFFIInt) {
    int64_t number = arg->v_int64;
    return number < 0 ? number < least(param) : (uint64_t)number > greatest(param);
  }
  const fh_bigint_object *big = as_bigint(arg);
  if (big == NULL) return false;
  bool fits_64_bits = big->n_words == 2 && big->words[1] == 0; /* and is not an int64 */
  return !fits_64_bits || (uint64_t)big->words[0] > greatest(param);
}

int fh_range_add_text(fh_text *text, const ffi_hpy_param *param, const TVMFFIAny *arg) {
  if (size_of(param) >= SIZE_OF_FLOAT) {
    return fh_text_add_cstr(text, size_of(param) == SIZE_OF_FLOAT ? "outside the range of a float"
                                                                  : "outside the range of a double");
  }
  const fh_bigint_object *big = as_bigint(arg);
  int rc = fh_text_add_bigint(text, big != NULL ? big->words : &arg->v_int64, big != NULL ? big->n_words : 1);
  return rc | fh_text_add_format(text, ", which is outside the range %lld to %llu", (long long)least(param),
                                 (unsigned long long)greatest(param));
}

int fh_range_check_default(const char *function, const ffi_hpy_param *param) {
  if ((param->flags & kFfiHpyParamHasDefault) == 0 || !fh_range_excludes(param, &param->default_value)) return 0;
  fh_text text = {0};
  if (fh_range_add_text(&text, param, &param->default_value) == 0) {
    (void)fh_error_raise("OverflowError", "`%s`: parameter `%s`: the default is %.*s", function, param->name,
                         (int)text.n_bytes, text.data);
  }
  fh_text_free(&text);
  return -1;
}
