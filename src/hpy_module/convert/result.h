/* Native values on their way to Python: results, items, fields, arguments of callbacks.
 *
 * Values that are converted here: None, int, bool, float, text, bytes, large ints, Python objects, objects with a
 * class. How a value of another built-in type is made belongs to the folder that knows it, which enters it during the
 * import. */
#ifndef FFI_HPY_CONVERT_RESULT_H_
#define FFI_HPY_CONVERT_RESULT_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/object/wrap.h"
#include "immediate.h"

/* Makes the Python value of an owned native value of one type, which is taken, on failure too: new handle, or HPy_NULL
 * with an exception raised. */
typedef HPy (*FbResult)(HPyContext *ctx, const TVMFFIAny *value);

/* Enters the result of a built-in type (below kTVMFFIDynObjectBegin). During the import only. */
void fb_result_set(int32_t type_index, FbResult result);

/* The rest of fb_result_make: values that are no objects and not the commonest. */
HPy fb_result_make_rare(HPyContext *ctx, const TVMFFIAny *value);
/* The Python value of an object handle, which is taken; strings, bytes, large ints and Python objects are unwrapped. */
HPy fb_result_of_object(HPyContext *ctx, TVMFFIObject *handle);

/* The FbResult of all types. */
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

/* The owned value of a view. Returns 0, or -1 with an exception raised. */
int fb_result_retain(HPyContext *ctx, const TVMFFIAny *view, TVMFFIAny *out);
/* The Python value of a view: new handle, or HPy_NULL with an exception raised. */
HPy fb_result_of_view(HPyContext *ctx, const TVMFFIAny *view);

#endif /* FFI_HPY_CONVERT_RESULT_H_ */
