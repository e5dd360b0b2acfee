/* Conversion of Python containers to native containers. */
#ifndef FFI_HPY_CONTAINER_CONTAINER_H_
#define FFI_HPY_CONTAINER_CONTAINER_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/object/type_kind.h"

/* Reads a plain int of 64 bits. Returns false without an exception for all other values. */
FH_INLINE bool fb_container_int(HPyContext *ctx, HPy value, int64_t *out) {
  if (FH_LIKELY(fb_ext != NULL)) {
    if (fb_type_kind_type(value) != ctx->h_LongType._i) return false; /* the type word of an int is the handle of int */
  } else {
    HPy type = HPy_Type(ctx, value);
    bool is_int = HPy_Is(ctx, type, ctx->h_LongType);
    HPy_Close(ctx, type);
    if (!is_int) return false;
  }
  *out = HPyLong_AsInt64_t(ctx, value);
  if (FH_LIKELY(*out != -1) || !HPyErr_Occurred(ctx)) return true;
  HPyErr_Clear(ctx); /* too large */
  return false;
}

/* Registers the conversions of list, tuple and mapping arguments to ffi.Array and ffi.Map (convert/argument.h). */
void fb_container_init(void);

/* Makes a container of the given type (kTVMFFIArray, List, Map, Dict) from a list or tuple, or from any object with
 * items(). */
int fb_container_make(HPyContext *ctx, int32_t type_index, HPy value, const char *callee, TVMFFIObject **out);
/* Returns the single optional argument of a container's class, `name`, given by position or keyword: a new handle;
 * HPy_NULL if it is not given, or with TypeError raised. `callee` is for messages. */
HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw);
/* Returns a list of a mapping's current items(). */
HPy fb_container_pairs(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_CONTAINER_CONTAINER_H_ */
