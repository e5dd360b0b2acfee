/* Host memory for tensors: made on demand, and filled from another tensor. Needs no interpreter. */
#ifndef FFI_HPY_TENSOR_TENSOR_MEMORY_H_
#define FFI_HPY_TENSOR_TENSOR_MEMORY_H_

#include <dlpack/dlpack.h>

/* A compact row-major tensor of the prototype's shape and element type in host memory, aligned to 64 bytes, contents
 * undefined. The prototype's device must be kDLCPU. Safe on any thread.
 * Returns NULL with *kind and *message set, to constants, if the prototype is not one that memory can be had for. */
DLManagedTensorVersioned *fb_tensor_memory_new(const DLTensor *prototype, const char **kind, const char **message);

/* Whether the host may read such a device's memory by its address. */
int fb_tensor_memory_is_host(DLDevice device);

/* A compact copy in host memory of a tensor that the host can read, marked as copied. NULL as above. */
DLManagedTensorVersioned *fb_tensor_memory_copy(const DLTensor *from, const char **kind, const char **message);

#endif /* FFI_HPY_TENSOR_TENSOR_MEMORY_H_ */
