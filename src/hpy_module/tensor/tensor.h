/* The class Tensor. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

HPy fb_tensor_type_new(HPyContext *ctx, HPy base);

/* --- import by __dlpack__ ---------------------------------------------------------------------------------------- */

/* Import of tensors by DLPack's Python protocol. */

/* Returns 0, or -1 with an exception raised. */
int fb_dlpack_init(HPyContext *ctx);

extern HPyDef fb_dlpack_from; /* from_dlpack() */
extern HPyDef fb_dlpack_handle_from, fb_dlpack_handle_to_read; /* its forms for ffi_hpy/_pypy */

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* Conversion of the core's ffi.Shape to the package's Shape, a tuple. */

/* Registers the conversion (convert/result.h). */
void fb_shape_init(void);

/* --- streams ----------------------------------------------------------------------------------------------------- */

/* The streams that native code uses, per thread and device. */

extern HPyDef fb_stream_get, fb_stream_set;
