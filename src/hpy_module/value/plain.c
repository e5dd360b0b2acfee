/* Shared functions of the classes of plain values. A plain value is a struct inside the Python object, copied into the
 * native value when it is passed: nothing is shared with native code, and nothing needs to be released. */
#include "plain.h"

#include "hpy_module/context/instance.h"
#include "hpy_module/context/raise.h"

const void *fb_plain_expect(HPyContext *ctx, HPy h, const void *data) {
  if (FH_UNLIKELY(data == NULL)) fb_instance_raise_unmade(ctx, h);
  return data;
}

int64_t fb_plain_int(HPyContext *ctx, HPy h, const char *what, int64_t low, int64_t high, bool *ok) {
  int64_t value = HPyLong_AsInt64_t(ctx, h);
  if (value == -1 && HPyErr_Occurred(ctx)) {
    *ok = false;
  } else if (value < low || value > high) {
    fb_raise(ctx, ctx->h_ValueError, "%s must be from %lld to %lld, got %lld", what, (long long)low, (long long)high,
             (long long)value);
    *ok = false;
  }
  return value;
}

/* True for equal values with ==, or different values with !=. */
HPy fb_plain_equality(HPyContext *ctx, bool same, HPy_RichCmpOp op) {
  return HPy_Dup(ctx, same == (op == HPy_EQ) ? ctx->h_True : ctx->h_False);
}

bool fb_plain_is_equality(HPyContext *ctx, HPy other, HPy_RichCmpOp op, const FbRef *cell) {
  if (op != HPy_EQ && op != HPy_NE) return false;
  /* Instances of subclasses are included, because the package derives its Device from one of these classes. */
  HPy type = fb_ref_load(ctx, cell);
  bool same_type = HPy_TypeCheck(ctx, other, type);
  HPy_Close(ctx, type);
  return same_type;
}
