/* Host memory for tensors: allocated on demand, and filled from another tensor. Needs no interpreter. */
#ifndef FFI_HPY_TENSOR_TENSOR_MEMORY_H_
#define FFI_HPY_TENSOR_TENSOR_MEMORY_H_

#include <dlpack/dlpack.h>

/* Allocates a compact row-major tensor of the prototype's shape and element type in host memory, aligned to 64 bytes,
 * with undefined contents. The prototype's device must be kDLCPU. Safe on any thread. Returns NULL, and sets *kind and
 * *message to constants, if the prototype is invalid or memory is exhausted. */
DLManagedTensorVersioned *fb_tensor_memory_new(const DLTensor *prototype, const char **kind, const char **message);

/* Whether the host can read the memory of such a device through its pointer. */
int fb_tensor_memory_is_host(DLDevice device);

/* Makes a compact copy in host memory of a tensor that the host can read, marked as copied. NULL like
 * fb_tensor_memory_new. */
DLManagedTensorVersioned *fb_tensor_memory_copy(const DLTensor *from, const char **kind, const char **message);

#endif /* FFI_HPY_TENSOR_TENSOR_MEMORY_H_ */
