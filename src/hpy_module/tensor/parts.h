/* The parts of Tensor's interface that have a file each. */
#pragma once

#include "hpy_module/context/context.h"

/* --- the buffer protocol ------------------------------------------------------------------------------------------ */

/* The buffer protocol of Tensor (memoryview(tensor), numpy.asarray(tensor)). */

extern HPyDef fb_buffer_get; /* a slot of Tensor */
/* Returns the slot of Tensor that releases buffers; NULL if the interpreter can do without. Called first. */
HPyDef *fb_buffer_init(void);

/* --- described tensors -------------------------------------------------------------------------------------------- */

/* Tensors over memory that Python code describes by numbers. */

extern HPyDef fb_described_capsule; /* a function of _core */
extern HPyDef fb_described_view; /* a method of Tensor */

/* --- export ------------------------------------------------------------------------------------------------------- */

/* Export of a Tensor by DLPack's Python protocol. */

/* Returns 0, or -1 with an exception raised. */
int fb_dlpack_out_init(HPyContext *ctx);

/* Makes a capsule of a native tensor, for ffi_hpy/_pypy. */
extern HPyDef fb_dlpack_out_of;
/* Methods of Tensor. */
extern HPyDef fb_dlpack_out_method, fb_dlpack_out_device, fb_dlpack_out_legacy, fb_dlpack_out_versioned;

/* --- lazy views --------------------------------------------------------------------------------------------------- */

/* Lazy views: a tensor of PyTorch may have a bit that says that its values are the conjugates, or the negatives, of the
 * values in its memory. DLPack cannot describe such a view. */

extern HPyDef fb_lazy_bits_learn;

/* Checks an instance of a class with FB_PROTOCOL_LAZY_BITS: returns 0 if its memory has its values, or -1 with
 * BufferError raised. */
int fb_lazy_bits_check(HPyContext *ctx, HPy value);
