/* The buffer protocol of Tensor (memoryview(tensor), numpy.asarray(tensor)). */
#ifndef FFI_HPY_TENSOR_BUFFER_H_
#define FFI_HPY_TENSOR_BUFFER_H_

#include "hpy_module/context/context.h"

extern HPyDef fb_buffer_get; /* a slot of Tensor */
/* Returns the slot of Tensor that releases buffers; NULL if the interpreter can do without. Called first. */
HPyDef *fb_buffer_init(void);

#endif /* FFI_HPY_TENSOR_BUFFER_H_ */
