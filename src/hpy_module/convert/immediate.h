/* The fast path for the most common values: None, bool, float and small ints. Such values need no call and no
 * temporary.
 *
 * The functions here agree with fb_argument_convert and fb_result_make, which handle every value. If a function here
 * returns false, the caller uses those two. All are inline, because a native call runs one of them for each value. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "args.h"
#include "hpy_module/context/context.h"

/* The range of the ints that every version of the interpreter caches. */
enum { FB_IMMEDIATE_SMALLEST = -5, FB_IMMEDIATE_LARGEST = 256 };

/* Copies of the context's facts about these values. Written once during the import. */
typedef struct FbImmediate {
  intptr_t int_type, float_type; /* type words (extension.h); 0: values cannot be read in place */
  HPy none, yes, no;
  bool has_small_ints; /* whether fb_immediate_small_ints is filled */
  FhpyValues values;
} FbImmediate;

extern FB_HIDDEN FbImmediate fb_immediate;
/* The cached ints of that range. The binding keeps a reference to each, so they are as constant as None
 * (FhpyValues). */
extern FB_HIDDEN HPy fb_immediate_small_ints[FB_IMMEDIATE_LARGEST - FB_IMMEDIATE_SMALLEST + 1];

/* Called once during the import, after fb_context_init. Returns 0, or -1 with an exception raised. */
int fb_immediate_init(HPyContext *ctx);

FH_INLINE intptr_t fb_immediate_type(HPy value) {
  intptr_t type;
  memcpy(&type, (const char *)value._i + fb_context_type_offset, sizeof(type));
  return type;
}

/* Converts an int of one digit to *out. Returns false without an exception for every other value. Requires the
 * extension. */
FH_INLINE bool fb_immediate_int(HPy value, TVMFFIAny *out) {
  int64_t number;
  if (FH_UNLIKELY(fb_immediate_type(value) != fb_immediate.int_type)) return false;
  if (FH_UNLIKELY(!fhpy_values_read_int(&fb_immediate.values, (const void *)value._i, &number))) return false;
  fb_put(out, kTVMFFIInt, number);
  return true;
}

/* Converts an exact float to *out. Returns false without an exception for every other value. Requires the extension. */
FH_INLINE bool fb_immediate_float(HPy value, TVMFFIAny *out) {
  if (FH_UNLIKELY(fb_immediate_type(value) != fb_immediate.float_type)) return false;
  fb_put_float(out, fhpy_values_read_float(&fb_immediate.values, (const void *)value._i));
  return true;
}

/* Whether the value is None or a bool. Requires the extension. */
FH_INLINE bool fb_immediate_is_constant(HPy value) {
  return value._i == fb_immediate.none._i || value._i == fb_immediate.yes._i || value._i == fb_immediate.no._i;
}

/* Converts None, a bool, a float or an int of one digit to *out. Returns false without an exception for every other
 * value. Requires the extension. */
FH_INLINE bool fb_immediate_read(HPy value, TVMFFIAny *out) {
  if (FH_LIKELY(fb_immediate_int(value, out)) || fb_immediate_float(value, out)) return true;
  if (!fb_immediate_is_constant(value)) return false;
  bool is_none = value._i == fb_immediate.none._i;
  fb_put(out, is_none ? kTVMFFINone : kTVMFFIBool, value._i == fb_immediate.yes._i);
  return true;
}

/* Returns a new handle of None, True or False. */
FH_INLINE HPy fb_immediate_constant(HPyContext *ctx, HPy constant) {
  const FhpyValues *values = &fb_immediate.values;
  if (values->constants_are_immortal) return constant;
  if (FH_UNLIKELY(!values->constants_are_counted)) return HPy_Dup(ctx, constant);
  ++*(intptr_t *)constant._i;
  return constant;
}

/* Returns a new handle of an int, or HPy_NULL with MemoryError raised. */
FH_INLINE HPy fb_immediate_int_new(HPyContext *ctx, int64_t value) {
  uint64_t which = (uint64_t)value - FB_IMMEDIATE_SMALLEST;
  if (which > FB_IMMEDIATE_LARGEST - FB_IMMEDIATE_SMALLEST || !fb_immediate.has_small_ints)
    return HPyLong_FromInt64_t(ctx, value);
  return fb_immediate_constant(ctx, fb_immediate_small_ints[which]);
}
