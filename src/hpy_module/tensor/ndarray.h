/* NumPy arrays as tensors, read from their struct. */
#pragma once

#include "hpy_module/context/context.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/object/type_tag.h"

extern HPyDef fb_ndarray_reads, fb_ndarray_use;

extern FB_HIDDEN intptr_t fb_ndarray_type; /* the type word of numpy.ndarray (extension.h); 0: its struct is not read */

/* Whether a value is exactly a numpy.ndarray, which the functions below require. */
FH_INLINE bool fb_ndarray_check(HPy value) {
  /* relaxed: only the word is compared, and each value that it ever had is correct */
  intptr_t type = fh_atomic_load_relaxed(&fb_ndarray_type);
  return type != 0 && fb_type_tag_type(value) == type;
}

/* Makes a Tensor over the memory of an array: *out is owned. Returns 0; 1 if the array must be imported by its
 * __dlpack__; -1 with an exception raised. */
int fb_ndarray_tensor(HPyContext *ctx, HPy value, bool reads, TVMFFIObject **out);
/* fb_ndarray_tensor as an FbConversion; also returns 1. */
int fb_ndarray_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

/* Makes *out a NumPy array over the memory of a Tensor, or a copy: a new handle, or HPy_NULL with an exception raised.
 * Returns false if the package has to make the array, before the first array was read. */
bool fb_ndarray_export(HPyContext *ctx, HPy tensor, bool reads, bool copies, HPy *out);

/* --- arrays in native objects ------------------------------------------------------------------------------------- */

/* Tensors of arrays that native code holds as Python objects. */

extern HPyDef fb_held_reader; /* array_reader() */
