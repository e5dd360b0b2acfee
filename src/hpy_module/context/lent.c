#include "lent.h"

#include <stdint.h>

#include "raise.h"
#include "thread.h"

void *fb_lent_arg(HPyContext *ctx, HPy h, const char *method) {
  if (!fb_thread_is_covered) {
    fb_raise(ctx, ctx->h_TypeError, "%s is for the package's own Python code on PyPy", method);
    return NULL;
  }
  void *address = HPyLong_AsVoidPtr(ctx, h);
  if (address == NULL && !HPyErr_Occurred(ctx)) fb_raise(ctx, ctx->h_TypeError, "%s expected an address", method);
  return address;
}
