/* The class Tensor. */
#ifndef FFI_HPY_TENSOR_TENSOR_H_
#define FFI_HPY_TENSOR_TENSOR_H_

#include "hpy_module/context/context.h"

HPy fb_tensor_type_new(HPyContext *ctx, HPy base);

#endif /* FFI_HPY_TENSOR_TENSOR_H_ */
