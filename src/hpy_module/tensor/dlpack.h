/* DLPack's Python protocol: tensors out of capsules and into capsules. */
#ifndef FFI_HPY_TENSOR_DLPACK_H_
#define FFI_HPY_TENSOR_DLPACK_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* An ffi.Tensor over the memory of an object with __dlpack__, under the demands of TVMFFITensorFromDLPack. *out is
 * owned. Returns 0, or -1 with an exception. */
int fb_dlpack_from_producer(HPyContext *ctx, HPy producer, int32_t alignment, bool contiguous, TVMFFIObject **out);
int fb_dlpack_init(HPyContext *ctx);

extern HPyDef fb_dlpack_from; /* from_dlpack() */

#endif /* FFI_HPY_TENSOR_DLPACK_H_ */
