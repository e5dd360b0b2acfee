/* Tensor, and the exchange of arrays through DLPack. */
#ifndef FFI_HPY_MODULE_TENSOR_H_
#define FFI_HPY_MODULE_TENSOR_H_

#include "convert.h"

/* An ffi.Tensor over the memory of an object with __dlpack__. *out is owned. Returns 0, or -1 with an exception. */
int fb_tensor_from_producer(HPyContext *ctx, HPy producer, TVMFFIObject **out);
/* A Tensor over borrowed memory, valid for as long as its lender says: for DLTensor* arguments of callbacks. */
HPy fb_tensor_from_borrowed(HPyContext *ctx, const DLTensor *tensor);

/* A tuple of ints. */
HPy fb_int_tuple(HPyContext *ctx, const int64_t *values, int32_t n);

int fb_tensor_init(HPyContext *ctx);
HPy fb_tensor_type_new(HPyContext *ctx, HPy base);

extern HPyDef fb_tensor_from_dlpack;

#endif /* FFI_HPY_MODULE_TENSOR_H_ */
