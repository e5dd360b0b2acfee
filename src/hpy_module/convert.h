/* The two switches: a Python value as an argument for native code, and a native value as a Python value. */
#ifndef FFI_HPY_MODULE_CONVERT_H_
#define FFI_HPY_MODULE_CONVERT_H_

#include <tvm/ffi/c_api.h>

#include "exchange.h"
#include "kind.h"
#include "lent.h"
#include "object.h"
#include "scope.h"

/* What a native call must give back when it is over: an object made for it, or the use of one that a wrapper owns. */
typedef union FbTemp {
  TVMFFIObject *object; /* owned */
  uintptr_t tagged;     /* the address of an FbPlace plus one of the tags, or of an owned object plus FB_TEMP_LENT */
} FbTemp;

enum { FB_TEMP_USE = 1, FB_TEMP_MOVE = 2, FB_TEMP_LENT = 3, FB_TEMP_TAGS = 3 };

/* The arguments of one native call while they are being converted. */
typedef struct FbArgs {
  FbTemp *temps; /* room for one per argument */
  int n_temps;
  int depth;          /* nesting of containers, converters */
  int position;       /* 0-based, of the argument being converted, for messages; -1: a return value or a field */
  const char *callee; /* for messages, "" if unknown */
  FbScope *scope;     /* of the call; NULL: what is converted is for no call */
} FbArgs;

FB_INLINE void fb_temp_end(FbTemp temp) {
  FbPlace *place = (FbPlace *)(temp.tagged & ~(uintptr_t)FB_TEMP_TAGS);
  switch (temp.tagged & FB_TEMP_TAGS) {
  case FB_TEMP_USE: fb_place_unuse(place); break;
  case FB_TEMP_MOVE: fb_place_release(place); break;
  case FB_TEMP_LENT: fb_lent_release((TVMFFIObject *)place); break;
  default: TVMFFIObjectDecRef(temp.object); break;
  }
}

/* Gives back the temporaries. */
FB_INLINE void fb_args_end(FbArgs *args) {
  for (int i = 0; i < args->n_temps; i++) fb_temp_end(args->temps[i]);
}

/* Makes what was converted last, adding a temporary at index n_temps or none, independent of the Python value. */
void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out);

/* Makes *out a view of `value`: valid while `value` lives and until fb_args_end. Adds at most one temporary.
 * Returns 0, or -1 with an exception raised. */
int fb_convert_arg(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* The same for a value that is to be kept: *out is owned by the caller. */
int fb_convert_owned(HPyContext *ctx, HPy value, TVMFFIAny *out, const char *callee);

/* The rest of fb_convert_result: values that are no objects and not the commonest. */
HPy fb_convert_rare(HPyContext *ctx, const TVMFFIAny *value);
/* The Python value of an object handle, which is taken; strings, bytes, large ints and Python objects are unwrapped. */
HPy fb_object_result(HPyContext *ctx, TVMFFIObject *handle);

/* The Python value of an owned native value, which is taken, on failure too (HPy_NULL, exception raised). */
FB_INLINE HPy fb_convert_result(HPyContext *ctx, TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIDynObjectBegin) return fb_object_wrap(ctx, value->v_obj);
  switch (value->type_index) {
  case kTVMFFINone: return HPy_Dup(ctx, ctx->h_None);
  case kTVMFFIInt: return HPyLong_FromInt64_t(ctx, value->v_int64);
  case kTVMFFIBool: return HPy_Dup(ctx, value->v_int64 ? ctx->h_True : ctx->h_False);
  case kTVMFFIFloat: return HPyFloat_FromDouble(ctx, value->v_float64);
  default: break;
  }
  if (value->type_index >= kTVMFFIStaticObjectBegin) return fb_object_result(ctx, value->v_obj);
  return fb_convert_rare(ctx, value);
}
/* The same for a view. */
HPy fb_convert_view(HPyContext *ctx, const TVMFFIAny *view);
/* The same, but tensors become arrays of the table's library, or it fails. */
HPy fb_convert_view_for(HPyContext *ctx, const TVMFFIAny *view, const DLPackExchangeAPI *exchange);

extern HPyDef fb_convert;

#endif /* FFI_HPY_MODULE_CONVERT_H_ */
