/* The two switches: a Python value as an argument for native code, and a native value as a Python value. */
#ifndef FFI_HPY_MODULE_CONVERT_H_
#define FFI_HPY_MODULE_CONVERT_H_

#include <tvm/ffi/c_api.h>

#include "kind.h"
#include "object.h"

/* The arguments of one native call while they are being converted. */
typedef struct FbArgs {
  TVMFFIObject **temps; /* objects made for this call, owned; room for one per argument */
  int n_temps;
  int depth;          /* nesting of containers, converters */
  int position;       /* 0-based, of the argument being converted, for messages; -1: a return value or a field */
  const char *callee; /* for messages, "" if unknown */
} FbArgs;

/* Drops the temporaries. */
FB_INLINE void fb_args_end(FbArgs *args) {
  for (int i = 0; i < args->n_temps; i++) TVMFFIObjectDecRef(args->temps[i]);
}

/* Makes *out a view of `value`: valid while `value` lives and until fb_args_end. Adds at most one temporary.
 * Returns 0, or -1 with an exception raised. */
int fb_convert_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* The same for a value that is to be kept: *out is owned by the caller. */
int fb_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);

/* The Python value of an owned native value, which is taken, on failure too (HPy_NULL, exception raised). */
HPy fb_convert_result(HPyContext *ctx, TVMFFIAny *value);
/* The same for a view. */
HPy fb_convert_view(HPyContext *ctx, const TVMFFIAny *view);

/* The same for an object handle, which is taken; strings, bytes, and Python objects are unwrapped. */
HPy fb_object_result(HPyContext *ctx, TVMFFIObject *handle);

/* A str from UTF-8 of known length, which may contain NUL and, replaced by U+FFFD, malformed bytes. */
HPy fb_str_from_bytes(HPyContext *ctx, const char *data, size_t byte_len);

extern HPyDef fb_convert;

#endif /* FFI_HPY_MODULE_CONVERT_H_ */
