/* Indices and slices, interpreted like those of CPython's own sequences. */
#include "position.h"

#include "hpy_module/context/attr.h"
#include "hpy_module/context/cut.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/object/type_kind.h"

/* Returns the index of an object with __index__; HPy_NULL with TypeError raised for other objects. */
static HPy as_int(HPyContext *ctx, HPy key) {
  return HPy_TypeCheck(ctx, key, ctx->h_LongType) ? HPy_Dup(ctx, key) : HPy_Index(ctx, key);
}

/* Reads an int: returns 0, 1 if the int is beyond 64 bits (*out is clamped), or -1 with an exception raised. */
static int read_int(HPyContext *ctx, HPy number, int64_t *out) {
  *out = HPyLong_AsInt64_t(ctx, number);
  if (FH_LIKELY(*out != -1) || !HPyErr_Occurred(ctx)) return 0;
  if (!HPyErr_ExceptionMatches(ctx, ctx->h_OverflowError)) return -1;
  HPyErr_Clear(ctx);
  /* Only the sign matters: such a number is beyond the end of every container. */
  HPy zero = HPyLong_FromInt32_t(ctx, 0);
  int is_negative = HPy_IsNull(zero) ? -1 : HPy_RichCompareBool(ctx, number, zero, HPy_LT);
  if (!HPy_IsNull(zero)) HPy_Close(ctx, zero);
  *out = is_negative ? INT64_MIN : INT64_MAX;
  return is_negative < 0 ? -1 : 1;
}

FbPosition fb_position_of(HPyContext *ctx, HPy self, HPy key, int64_t *index) {
  /* A plain int is recognised by its type word alone. */
  if (FH_LIKELY(fb_ext != NULL) && FH_LIKELY(fb_type_kind_type(key) == ctx->h_LongType._i)) {
    int rc = read_int(ctx, key, index);
    return rc == 0 ? FB_POSITION_INDEX : rc > 0 ? FB_POSITION_BEYOND : FB_POSITION_NONE;
  }
  if (HPy_TypeCheck(ctx, key, ctx->h_SliceType)) return FB_POSITION_SLICE;
  HPy number = as_int(ctx, key);
  if (HPy_IsNull(number)) {
    char name[128], given[128];
    /* The exception may come from the number's own __index__. A float has no __index__. On PyPy, HPyNumber_Check is
     * true only for objects with __int__ or __float__. */
    bool is_number = HPyNumber_Check(ctx, key) && !HPy_TypeCheck(ctx, key, ctx->h_FloatType);
    if (is_number || !HPyErr_ExceptionMatches(ctx, ctx->h_TypeError)) return FB_POSITION_NONE;
    HPyErr_Clear(ctx);
    fb_raise(ctx, ctx->h_TypeError, "%s indices must be integers or slices, not %s",
             fb_attr_type_name(ctx, self, name, sizeof(name)), fb_attr_type_name(ctx, key, given, sizeof(given)));
    return FB_POSITION_NONE;
  }
  int rc = read_int(ctx, number, index);
  HPy_Close(ctx, number);
  return rc == 0 ? FB_POSITION_INDEX : rc > 0 ? FB_POSITION_BEYOND : FB_POSITION_NONE;
}

int fb_position_of_number(HPyContext *ctx, HPy number, int64_t *out) {
  HPy plain = as_int(ctx, number);
  if (HPy_IsNull(plain)) return -1;
  int rc = read_int(ctx, plain, out);
  HPy_Close(ctx, plain);
  return rc < 0 ? -1 : 0;
}

HPy fb_position_refuse(HPyContext *ctx, HPy self, HPy key, int64_t size) {
  char name[128], shown[200];
  HPy text = HPy_Str(ctx, key);
  HPy_ssize_t n;
  const char *data = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (data != NULL) {
    fb_raise(ctx, ctx->h_IndexError, "%s index %s is out of range for %lld items",
             fb_attr_type_name(ctx, self, name, sizeof(name)), fb_cut_copy(shown, sizeof(shown), data, (size_t)n),
             (long long)size);
  }
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return HPy_NULL;
}

/* Resolves a bound of a slice: a negative bound counts from the end; the result is clamped to [low, high]. */
static int64_t clip(int64_t i, int64_t size, int64_t low, int64_t high) {
  if (i < 0) i += size;
  return i < low ? low : i > high ? high : i;
}

int fb_position_of_slice(HPyContext *ctx, HPy slice, int64_t size, FbRange *out) {
  int (*unpack)(HPyContext *, HPy, HPy_ssize_t *, HPy_ssize_t *, HPy_ssize_t *);
  HPy_ssize_t start, stop, step;
  FB_LATE(ctx, ctx_Slice_Unpack, unpack);
  if (unpack(ctx, slice, &start, &stop, &step) != 0) return -1;
  /* A slice with a negative step ends before the first item, at -1, and begins at the last item at most. */
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
  int64_t first = clip(start, size, low, high), end = clip(stop, size, low, high);
  int64_t span = step < 0 ? first - end : end - first, stride = step < 0 ? -(int64_t)step : step;
  /* the number of steps between the first item and the end, which is excluded */
  *out = (FbRange){.first = first, .step = step, .n = span <= 0 ? 0 : (span - 1) / stride + 1};
  return 0;
}
