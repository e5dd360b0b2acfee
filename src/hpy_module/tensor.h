/* The class Tensor. */
#ifndef FFI_HPY_MODULE_TENSOR_H_
#define FFI_HPY_MODULE_TENSOR_H_

#include "object.h"

/* A tuple of ints. */
HPy fb_int_tuple(HPyContext *ctx, const int64_t *values, int32_t n);

HPy fb_tensor_type_new(HPyContext *ctx, HPy base);

#endif /* FFI_HPY_MODULE_TENSOR_H_ */
