/* Native tensors over DLPack's managed tensors. */
#pragma once

#include <dlpack/dlpack.h>
#include <tvm/ffi/c_api.h>

#include <stdbool.h>

#include "hpy_module/context/context.h"

/* The requirements of TVMFFITensorFromDLPack, and whether native code only reads the tensor: otherwise read-only memory
 * is refused. */
typedef struct FbDemands {
  int32_t alignment;
  bool contiguous, reads;
} FbDemands;

/* Makes an ffi.Tensor over a managed tensor. *out is owned and owns the managed tensor; after a failure the caller
 * still owns the managed tensor. Returns 0, or -1 with an exception raised. */
int fb_managed_import(HPyContext *ctx, DLManagedTensorVersioned *managed, FbDemands demands, TVMFFIObject **out);
/* Like fb_managed_import, but steals the managed tensor, also on failure. */
int fb_managed_take(HPyContext *ctx, DLManagedTensorVersioned *managed, FbDemands demands, TVMFFIObject **out);
/* Makes a Tensor over memory that another party owns and keeps valid: for DLTensor* arguments of callbacks. Owned; NULL
 * with an exception raised. */
TVMFFIObject *fb_managed_borrow(HPyContext *ctx, const DLTensor *tensor);

/* Whether the maker of a native tensor declared its memory read-only. Returns 0, or -1 with an exception raised. */
int fb_managed_is_read_only(HPyContext *ctx, TVMFFIObject *handle, bool *out);

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* Host memory for tensors: allocated on demand, and filled from another tensor. Needs no interpreter. */

/* Allocates a compact row-major tensor of the prototype's shape and element type in host memory, aligned to 64 bytes,
 * with undefined contents. The prototype's device must be kDLCPU. Safe on any thread. Returns NULL, and sets *kind and
 * *message to constants, if the prototype is invalid or memory is exhausted. */
DLManagedTensorVersioned *fb_tensor_memory_new(const DLTensor *prototype, const char **kind, const char **message);

/* Whether the host can read the memory of such a device through its pointer. */
bool fb_tensor_memory_is_host(DLDevice device);

/* Makes a compact copy in host memory of a tensor that the host can read, marked as copied. NULL like
 * fb_tensor_memory_new. */
DLManagedTensorVersioned *fb_tensor_memory_copy(const DLTensor *from, const char **kind, const char **message);
