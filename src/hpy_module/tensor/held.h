/* Tensors of arrays that native code holds as Python objects. */
#ifndef FFI_HPY_TENSOR_HELD_H_
#define FFI_HPY_TENSOR_HELD_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_held_reader; /* array_reader() */

#endif /* FFI_HPY_TENSOR_HELD_H_ */
