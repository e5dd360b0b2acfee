/* Native tensors over DLPack's structs, wherever these come from. */
#ifndef FFI_HPY_TENSOR_MANAGED_H_
#define FFI_HPY_TENSOR_MANAGED_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* An ffi.Tensor over a managed tensor, under the demands of TVMFFITensorFromDLPack. *out is owned; it owns the managed
 * tensor, which stays the caller's if this fails. Returns 0, or -1 with an exception raised. */
int fb_managed_import(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                      TVMFFIObject **out);
/* As fb_managed_import, but the managed tensor is taken, on failure too. */
int fb_managed_take(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                    TVMFFIObject **out);
/* A Tensor over memory of somebody else, valid for as long as its owner says: for DLTensor* arguments of callbacks.
 * Owned; NULL with an exception raised. */
TVMFFIObject *fb_managed_borrow(HPyContext *ctx, const DLTensor *tensor);

#endif /* FFI_HPY_TENSOR_MANAGED_H_ */
