/* The running context's facts about the values that are converted in place. */
#include "immediate.h"

FbImmediate fb_immediate;
HPy fb_immediate_small_ints[FB_IMMEDIATE_LARGEST - FB_IMMEDIATE_SMALLEST + 1];

/* Every CPython with a GIL up to 3.11 caches small ints, and so do all later versions, where these ints are immortal
 * like None. Therefore a reference to a small int is made in the same way as a reference to None. */
static int add_small_ints(HPyContext *ctx) {
  if (!fb_immediate.values.constants_are_immortal && !fb_immediate.values.constants_are_counted) return 0;
  for (int64_t value = FB_IMMEDIATE_SMALLEST; value <= FB_IMMEDIATE_LARGEST; ++value) {
    HPy number = HPyLong_FromInt64_t(ctx, value);
    if (HPy_IsNull(number)) return -1;
    fb_immediate_small_ints[value - FB_IMMEDIATE_SMALLEST] = number;
  }
  fb_immediate.has_small_ints = true;
  return 0;
}

int fb_immediate_init(HPyContext *ctx) {
  fb_immediate = (FbImmediate){.none = ctx->h_None, .yes = ctx->h_True, .no = ctx->h_False};
  if (fb_ext == NULL || !FHPY_EXTENSION_HAS(fb_ext, values)) return 0;
  fb_immediate.values = *fb_ext->values;
  if (fb_ext->values->int_word != 0) fb_immediate.int_type = ctx->h_LongType._i;
  if (fb_ext->values->float_word != 0) fb_immediate.float_type = ctx->h_FloatType._i;
  return add_small_ints(ctx);
}
