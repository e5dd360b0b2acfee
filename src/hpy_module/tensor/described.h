/* Tensors over memory that Python code describes by numbers. */
#ifndef FFI_HPY_TENSOR_DESCRIBED_H_
#define FFI_HPY_TENSOR_DESCRIBED_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_described_capsule; /* a function of _core */
extern HPyDef fb_described_view; /* a method of Tensor */

#endif /* FFI_HPY_TENSOR_DESCRIBED_H_ */
