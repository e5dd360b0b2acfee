/* Import of tensors by DLPack's Python protocol. */
#ifndef FFI_HPY_TENSOR_DLPACK_H_
#define FFI_HPY_TENSOR_DLPACK_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Returns 0, or -1 with an exception raised. */
int fb_dlpack_init(HPyContext *ctx);

extern HPyDef fb_dlpack_from, fb_dlpack_handle_from; /* from_dlpack(), and its form for ffi_hpy/_pypy */

#endif /* FFI_HPY_TENSOR_DLPACK_H_ */
