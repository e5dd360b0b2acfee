/* Conversion of Python containers to native containers. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_tag.h"

/* Reads a plain int of 64 bits. Returns false without an exception for all other values. */
FH_INLINE bool fb_container_int(HPyContext *ctx, HPy value, int64_t *out) {
  if (FH_LIKELY(fb_ext != NULL)) {
    if (fb_type_tag_type(value) != ctx->h_LongType._i) return false; /* the type word of an int is the handle of int */
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

/* Gives a wrapper without an object a container of the given type (kTVMFFIArray, List, Map, Dict), made of a list or
 * tuple, or of any object with items(). Steals `value`. Returns 0, or -1 with an exception raised. */
int fb_container_fill(HPyContext *ctx, HPy self, int32_t type_index, HPy value, const char *callee);
/* Returns the single optional argument of a container's class, `name`, given by position or keyword: a new handle;
 * HPy_NULL if it is not given, or with TypeError raised. `callee` is for messages. */
HPy fb_container_argument(HPyContext *ctx, const char *callee, const char *name, const HPy *args, HPy_ssize_t nargs,
                          HPy kw);
/* Returns a list of a mapping's current items(). */
HPy fb_container_pairs(HPyContext *ctx, HPy value);
/* Returns the items of a list as a tuple, or the entries of a dict as a dict, all of one moment: without a GIL another
 * thread may change the value while it is read. HPY_NULL without an exception for values of other types. */
HPy fb_container_snapshot(HPyContext *ctx, HPy value);

/* --- calls of the package ---------------------------------------------------------------------------------------- */

/* Calls of methods of the package's classes, which implement the rare operations (ffi_hpy/_containers). */

/* Calls self.method(key, value) without the arguments that are HPy_NULL. Returns a new handle, or HPy_NULL with an
 * exception raised. */
HPy fb_rare_call(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value);
/* Like fb_rare_call, without the result: returns 0, or -1 with an exception raised. */
int fb_rare_run(HPyContext *ctx, HPy self, const char *method, HPy key, HPy value);

/* --- uses of the native object ----------------------------------------------------------------------------------- */

/* Uses of the native object of a container's wrapper.
 *
 * The object must be of one of two types, an immutable and a mutable one. Each use checks the type, because a class may
 * be given the handle of any object. */

/* Ends a use, and raises TypeError because the object is of another type. Returns NULL. */
FbHandleCell *fb_use_refuse(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Begins a use of the native object. Returns NULL with ValueError or TypeError raised. */
FH_INLINE FbHandleCell *fb_use_begin(HPyContext *ctx, HPy self, int32_t fixed, int32_t changing) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFIObject, 0);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  int32_t type_index = cell->handle->type_index;
  if (FH_LIKELY(type_index == fixed || type_index == changing)) return cell;
  return fb_use_refuse(ctx, self, cell);
}

/* Returns the native object, owned: a reference in place of a use, so that Python code may still move the handle during
 * the operation. Fails like fb_use_begin. */
FH_INLINE TVMFFIObject *fb_use_take(HPyContext *ctx, HPy self, int32_t fixed, int32_t changing) {
  FbHandleCell *cell = fb_use_begin(ctx, self, fixed, changing);
  if (FH_UNLIKELY(cell == NULL)) return NULL;
  TVMFFIObject *handle = cell->handle;
  TVMFFIObjectIncRef(handle);
  fb_handle_cell_unuse(cell);
  return handle;
}

/* --- Array and List ---------------------------------------------------------------------------------------------- */

/* CSequence and CList, the base classes of the package's Array and List. */

/* Make the types. Return new handles. Instances have an ffi.Array or an ffi.List. */
HPy fb_sequence_type_new(HPyContext *ctx, HPy base);
HPy fb_sequence_list_type_new(HPyContext *ctx, HPy sequence);

/* --- Map and Dict ------------------------------------------------------------------------------------------------ */

/* CMapping and CDict, the base classes of the package's Map and Dict. */

/* Make the types. Return new handles. Instances have an ffi.Map or an ffi.Dict. */
HPy fb_mapping_type_new(HPyContext *ctx, HPy base);
HPy fb_mapping_dict_type_new(HPyContext *ctx, HPy mapping);
