/* Arrays of NumPy as arguments, read from their struct. */
#ifndef FFI_HPY_TENSOR_NDARRAY_H_
#define FFI_HPY_TENSOR_NDARRAY_H_

#include "hpy_module/convert/argument.h"

extern HPyDef fb_ndarray_reads, fb_ndarray_use;

extern FB_HIDDEN intptr_t fb_ndarray_type; /* the word of numpy.ndarray (extension.h); 0: its struct is not read */

/* As an FbConversion of an array of exactly that class. 1 if the array has to be asked, by its __dlpack__. */
int fb_ndarray_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args);

#endif /* FFI_HPY_TENSOR_NDARRAY_H_ */
