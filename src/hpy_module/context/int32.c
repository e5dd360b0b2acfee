#include "int32.h"

#include "raise.h"

int32_t fb_int32_read(HPyContext *ctx, HPy value) {
  int64_t number = HPyLong_AsInt64_t(ctx, value);
  if (number == (int32_t)number) return (int32_t)number;
  fb_raise(ctx, ctx->h_OverflowError, "expected an int of 32 bits, got %lld", (long long)number);
  return -1;
}
