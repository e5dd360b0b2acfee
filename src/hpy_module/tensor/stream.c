/* The streams that native code uses, per thread and device. Their handles are pointers, and ints in Python. */
#include "stream.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"

/* Reads device type and index. Returns 0, or -1 with an exception raised. */
static int device_args(HPyContext *ctx, const HPy *args, int32_t *type, int32_t *index) {
  *type = HPyLong_AsInt32_t(ctx, args[0]);
  if (*type == -1 && HPyErr_Occurred(ctx)) return -1;
  *index = HPyLong_AsInt32_t(ctx, args[1]);
  return *index == -1 && HPyErr_Occurred(ctx) ? -1 : 0;
}

HPyDef_METH(fb_stream_get, "stream_get", HPyFunc_VARARGS, .doc = "This thread's stream of a device, 0 if none was set.")
static HPy fb_stream_get_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  int32_t type, index;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "stream_get() takes device_type, device_id");
  if (device_args(ctx, args, &type, &index) != 0) return HPy_NULL;
  /* A stream is a pointer, which fits into a size_t. */
  return HPyLong_FromSize_t(ctx, (size_t)TVMFFIEnvGetStream(type, index));
}

HPyDef_METH(fb_stream_set, "stream_set", HPyFunc_VARARGS,
            .doc = "Set this thread's stream of a device; gives the old one.")
static HPy fb_stream_set_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  int32_t type, index;
  TVMFFIStreamHandle previous = NULL;
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "stream_set() takes device_type, device_id, stream");
  if (device_args(ctx, args, &type, &index) != 0) return HPy_NULL;
  void *stream = HPyLong_AsVoidPtr(ctx, args[2]);
  if (stream == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  if (TVMFFIEnvSetStream(type, index, stream, &previous) != 0) return fb_error_raise_pending(ctx, "stream_set");
  return HPyLong_FromSize_t(ctx, (size_t)previous);
}
