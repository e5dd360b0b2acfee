/* Conversion of Python numbers by schemas of int, float and bool.
 *
 * A value that is exactly an int (or, for a float schema, a float) is read directly, without Python code. A number of
 * another class (an IntEnum, numpy.int64) is first converted by int(), float() or bool(). That call may run code of the
 * number's class, and may fail. */
#include "source_number.h"

#include "fit.h"
#include "hpy_module/context/attr.h"
#include "hpy_module/context/cut.h"
#include "hpy_module/context/text.h"

/* FB_MISFIT with the first 100 digits in the message. A schema's int is an int64; only as an argument of a call does a
 * larger int become a BigInt. */
static FbFit beyond_int64(HPyContext *ctx, HPy number, FbMismatch *mismatch) {
  HPy text = mismatch == NULL ? HPy_NULL : HPy_Str(ctx, number);
  HPy_ssize_t n;
  const char *digits = HPy_IsNull(text) ? NULL : fb_text_get(ctx, text, &n);
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx); /* Python refuses to print an int with thousands of digits */
  char shown[101] = "with very many digits";
  if (digits != NULL) fb_cut_copy(shown, sizeof(shown), digits, (size_t)n);
  fb_mismatch_set(mismatch, "integer %s%s out of int64 range [-9223372036854775808, 9223372036854775807]", shown,
                  digits != NULL && (size_t)n >= sizeof(shown) ? "..." : "");
  if (!HPy_IsNull(text)) HPy_Close(ctx, text);
  return FB_MISFIT;
}

/* Whether the value has exactly the given type, so that reading it runs no other code. */
FH_INLINE bool is_exactly(HPyContext *ctx, HPy value, HPy type) {
  if (FH_LIKELY(fb_ext != NULL)) return fb_type_kind_type(value) == type._i;
  HPy own = HPy_Type(ctx, value);
  bool is_same = HPy_Is(ctx, own, type);
  HPy_Close(ctx, own);
  return is_same;
}

/* The three readers get a number of the schema's own Python type; read_bool and read_float also accept an int. */
static FbFit read_int(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  int64_t value = HPyLong_AsInt64_t(ctx, number);
  if (FH_LIKELY(value != -1 || !HPyErr_Occurred(ctx))) return fb_fit_put(out, kTVMFFIInt, value);
  HPyErr_Clear(ctx); /* OverflowError */
  return beyond_int64(ctx, number, mismatch);
}

static FbFit read_bool(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  (void)mismatch; /* the truth value of an int or a bool never fails */
  return fb_fit_put(out, kTVMFFIBool, HPy_IsTrue(ctx, number));
}

static FbFit read_float(HPyContext *ctx, HPy number, TVMFFIAny *out, FbMismatch *mismatch) {
  double value = HPyFloat_AsDouble(ctx, number);
  /* Only an int can fail, with OverflowError if it is beyond the range of a double. */
  if (FH_UNLIKELY(value == -1.0) && HPyErr_Occurred(ctx)) {
    fb_mismatch_set(mismatch, "float() failed for int");
    return fb_mismatch_take_python(ctx, mismatch, ": ", "");
  }
  fb_fit_put(out, kTVMFFIFloat, 0);
  out->v_float64 = value;
  return FB_FIT;
}

typedef FbFit (*Read)(HPyContext *, HPy, TVMFFIAny *, FbMismatch *);

/* Reads callable(value), for numbers of other classes. `name` is the callable's name in the message, which is set
 * before the call because fb_source_call appends the reason to it. */
static FH_NOINLINE FbFit convert(HPyContext *ctx, const char *name, HPy callable, Read read, const FbSource *source,
                                 TVMFFIAny *out, FbMismatch *mismatch) {
  char given[FB_SOURCE_NAME];
  FbFit fit = FB_FIT;
  fb_mismatch_set(mismatch, "%s() failed for %s", name, fb_attr_type_name(ctx, source->value, given, FB_SOURCE_NAME));
  HPy number = fb_source_call(ctx, callable, &source->value, 1, mismatch, &fit);
  if (HPy_IsNull(number)) return fit;
  fit = read(ctx, number, out, mismatch);
  HPy_Close(ctx, number);
  return fit;
}

FbFit fb_source_number_fit(HPyContext *ctx, const FbSchema *schema, const FbSource *source, TVMFFIAny *out,
                           FbMismatch *mismatch) {
  HPy value = source->value;
  bool is_int = is_exactly(ctx, value, ctx->h_LongType);
  switch (schema->op) {
  case FB_SCHEMA_INT:
  case FB_SCHEMA_INT_ENUM:
    if (FH_LIKELY(is_int)) return read_int(ctx, value, out, mismatch);
    /* int() would truncate a float, so a float is refused even if it is whole. */
    if (source->kind == FB_TYPE_KIND_FLOAT) return fb_source_refuse(ctx, schema, source, mismatch);
    return convert(ctx, "int", ctx->h_LongType, read_int, source, out, mismatch);
  case FB_SCHEMA_BOOL:
    if (is_int) return read_bool(ctx, value, out, mismatch);
    if (source->kind == FB_TYPE_KIND_FLOAT) return fb_source_refuse(ctx, schema, source, mismatch);
    return convert(ctx, "bool", ctx->h_BoolType, read_bool, source, out, mismatch);
  default:
    if (is_int || is_exactly(ctx, value, ctx->h_FloatType)) return read_float(ctx, value, out, mismatch);
    return convert(ctx, "float", ctx->h_FloatType, read_float, source, out, mismatch);
  }
}
