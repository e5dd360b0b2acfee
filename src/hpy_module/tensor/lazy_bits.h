/* Lazy views: a tensor of PyTorch may have a bit that says that its values are the conjugates, or the negatives, of the
 * values in its memory. DLPack cannot describe such a view. */
#ifndef FFI_HPY_TENSOR_LAZY_BITS_H_
#define FFI_HPY_TENSOR_LAZY_BITS_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_lazy_bits_learn;

/* Checks an instance of a class with FB_PROTOCOL_LAZY_BITS: returns 0 if its memory has its values, or -1 with
 * BufferError raised. */
int fb_lazy_bits_check(HPyContext *ctx, HPy value);

#endif /* FFI_HPY_TENSOR_LAZY_BITS_H_ */
