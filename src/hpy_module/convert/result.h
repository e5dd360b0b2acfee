/* Conversion of native values to Python values: results, items, fields, arguments of callbacks.
 *
 * This file converts None, int, bool, float, str, bytes, large ints, Python objects, and objects with a class. Values
 * of other built-in types are converted by the folder of that type, which registers its conversion during the
 * import. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/object/wrap.h"

/* The deleter of strings that become a str itself, not an instance of the package's class. NULL, or set once. */
extern FB_HIDDEN void (*fb_result_str_deleter)(void *self, int flags);
#include "immediate.h"

/* Converts an owned native value of one type. Steals the value, also on failure. Returns a new handle, or HPy_NULL with
 * an exception raised. */
typedef HPy (*FbResult)(HPyContext *ctx, const TVMFFIAny *value);

/* Registers the conversion of a built-in type (below kTVMFFIDynObjectBegin). Only during the import. */
void fb_result_set(int32_t type_index, FbResult result);

/* The rarer cases of fb_result_make: values that are neither objects nor one of the most common plain values. */
HPy fb_result_make_rare(HPyContext *ctx, const TVMFFIAny *value);
/* Converts an object and steals the handle. Strings, bytes, large ints and Python objects are unwrapped. */
HPy fb_result_of_object(HPyContext *ctx, TVMFFIObject *handle);

/* The FbResult that dispatches on the type index. */
FH_INLINE HPy fb_result_make(HPyContext *ctx, const TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIDynObjectBegin) return fb_wrap_object(ctx, value->v_obj);
  switch (value->type_index) {
  case kTVMFFINone: return fb_immediate_constant(ctx, ctx->h_None);
  case kTVMFFIInt: return fb_immediate_int_new(ctx, value->v_int64);
  case kTVMFFIBool: return fb_immediate_constant(ctx, value->v_int64 ? ctx->h_True : ctx->h_False);
  case kTVMFFIFloat: return HPyFloat_FromDouble(ctx, value->v_float64);
  default: break;
  }
  if (value->type_index >= kTVMFFIStaticObjectBegin) return fb_result_of_object(ctx, value->v_obj);
  return fb_result_make_rare(ctx, value);
}

/* Makes an owned value of a view. Returns 0, or -1 with an exception raised. */
int fb_result_retain(HPyContext *ctx, const TVMFFIAny *view, TVMFFIAny *out);
/* Converts a view to a Python value. Returns a new handle, or HPy_NULL with an exception raised. */
HPy fb_result_of_view(HPyContext *ctx, const TVMFFIAny *view);
