/* DLPack's Python protocol: tensors out of capsules and into capsules. */
#ifndef FFI_HPY_MODULE_DLPACK_H_
#define FFI_HPY_MODULE_DLPACK_H_

#include "convert.h"

/* An ffi.Tensor over the memory of an object with __dlpack__, under the demands of TVMFFITensorFromDLPack. *out is owned.
 * Returns 0, or -1 with an exception. */
int fb_dlpack_from_producer(HPyContext *ctx, HPy producer, int32_t alignment, bool contiguous, TVMFFIObject **out);
/* The same over a managed tensor, which is taken, on failure too. */
int fb_dlpack_take(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                   TVMFFIObject **out);
/* A Tensor over borrowed memory, valid for as long as its lender says: for DLTensor* arguments of callbacks.
 * Owned; NULL with an exception raised. */
TVMFFIObject *fb_dlpack_borrow(HPyContext *ctx, const DLTensor *tensor);

int fb_dlpack_init(HPyContext *ctx);
int fb_dlpack_out_init(HPyContext *ctx); /* called by it */

extern HPyDef fb_dlpack_from; /* from_dlpack() */
/* Methods of Tensor, in dlpack_out.c. */
extern HPyDef fb_dlpack_method, fb_dlpack_device, fb_dlpack_legacy, fb_dlpack_versioned;

#endif /* FFI_HPY_MODULE_DLPACK_H_ */
