/* Export of a Tensor by DLPack's Python protocol. */
#ifndef FFI_HPY_TENSOR_DLPACK_OUT_H_
#define FFI_HPY_TENSOR_DLPACK_OUT_H_

#include "hpy_module/context/context.h"

/* Returns 0, or -1 with an exception raised. */
int fb_dlpack_out_init(HPyContext *ctx);

/* Makes a capsule of a native tensor, for ffi_hpy/_pypy. */
extern HPyDef fb_dlpack_out_of;
/* Methods of Tensor. */
extern HPyDef fb_dlpack_out_method, fb_dlpack_out_device, fb_dlpack_out_legacy, fb_dlpack_out_versioned;

#endif /* FFI_HPY_TENSOR_DLPACK_OUT_H_ */
