/* Native tensors over DLPack's managed tensors. */
#ifndef FFI_HPY_TENSOR_MANAGED_H_
#define FFI_HPY_TENSOR_MANAGED_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Makes an ffi.Tensor over a managed tensor, with the requirements of TVMFFITensorFromDLPack. *out is owned and owns
 * the managed tensor; after a failure the caller still owns the managed tensor. Returns 0, or -1 with an exception
 * raised. */
int fb_managed_import(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                      TVMFFIObject **out);
/* Like fb_managed_import, but steals the managed tensor, also on failure. */
int fb_managed_take(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                    TVMFFIObject **out);
/* Makes a Tensor over memory that another party owns and keeps valid: for DLTensor* arguments of callbacks. Owned; NULL
 * with an exception raised. */
TVMFFIObject *fb_managed_borrow(HPyContext *ctx, const DLTensor *tensor);

#endif /* FFI_HPY_TENSOR_MANAGED_H_ */
