/* range.c - the numbers that an integer parameter of a bound function accepts. */
#include "range.h"

#include "core/object/any.h"
#include "core/object/bigint.h"
#include "core/object/error.h"

/* The number of bits of an integer parameter; 0 for another one. */
static uint32_t bits_of(const ffi_hpy_param *param) {
  uint32_t size = (param->flags >> FFI_HPY_PARAM_SIZE_SHIFT) & 7;
  return size == 0 ? 0 : 4u << size;
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
  uint32_t size = (param->flags >> FFI_HPY_PARAM_SIZE_SHIFT) & 7;
  return (uint8_t)(size << FFI_HPY_TYPE_SIZE_SHIFT | (is_unsigned(param) ? kFfiHpyTypeUnsigned : 0));
}

static const fh_bigint_object *as_bigint(const TVMFFIAny *arg) {
  return arg->type_index == kTVMFFIBigInt ? (const fh_bigint_object *)(const void *)arg->v_obj : NULL;
}

bool fh_range_excludes(const ffi_hpy_param *param, const TVMFFIAny *arg) {
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
