/* Host memory for tensors. One block each: the struct, shape and strides, then the data on its alignment. */
#include "tensor_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct Block {
  DLManagedTensorVersioned managed;
  int64_t extents[];
} Block;

static void block_drop(DLManagedTensorVersioned *self) { free(self); }

/* Bytes of all elements; false if they are not a number of bytes that memory could have. */
static bool data_size(const DLTensor *tensor, uint64_t *n_bytes) {
  const uint64_t most = PTRDIFF_MAX / 2;
  if ((int16_t)tensor->dtype.lanes < 0) return false; /* a scalable vector: nobody knows its size yet */
  uint64_t n_bits = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes;
  bool is_empty = false;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] < 0) return false;
    is_empty = is_empty || tensor->shape[i] == 0;
  }
  for (int32_t i = 0; !is_empty && i < tensor->ndim; i++) {
    if (n_bits != 0 && (uint64_t)tensor->shape[i] > most / n_bits) return false;
    n_bits *= (uint64_t)tensor->shape[i];
  }
  *n_bytes = is_empty ? 0 : (n_bits + 7) / 8;
  return true;
}

static void fill_compact_strides(DLTensor *tensor) {
  uint64_t stride = 1; /* wraps around where there are no elements anyway */
  for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
    tensor->strides[i] = (int64_t)stride;
    stride *= (uint64_t)tensor->shape[i];
  }
}

static DLManagedTensorVersioned *refuse(const char **kind, const char **message, const char *as, const char *why) {
  *kind = as;
  *message = why;
  return NULL;
}

DLManagedTensorVersioned *fb_tensor_memory_new(const DLTensor *prototype, const char **kind, const char **message) {
  uint64_t n_bytes;
  if (prototype->device.device_type != kDLCPU)
    return refuse(kind, message, "RuntimeError", "expected a tensor for the CPU: ffi_hpy allocates host memory only");
  if (prototype->ndim < 0 || (prototype->ndim > 0 && prototype->shape == NULL) || !data_size(prototype, &n_bytes))
    return refuse(kind, message, "ValueError", "expected a shape and an element type that memory has room for");
  size_t n = (size_t)prototype->ndim, before = sizeof(Block) + 2 * n * sizeof(int64_t);
  Block *block = malloc(before + ALIGNMENT + (size_t)n_bytes);
  if (block == NULL) return refuse(kind, message, "MemoryError", "no memory for a tensor");
  DLTensor *tensor = &block->managed.dl_tensor;
  *tensor = (DLTensor){.data = (void *)(((uintptr_t)block + before + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1)),
                       .device = prototype->device,
                       .ndim = prototype->ndim,
                       .dtype = prototype->dtype,
                       .shape = block->extents,
                       .strides = block->extents + n};
  if (n != 0) memcpy(tensor->shape, prototype->shape, n * sizeof(int64_t));
  fill_compact_strides(tensor);
  block->managed.version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  block->managed.manager_ctx = NULL;
  block->managed.deleter = block_drop;
  block->managed.flags = 0;
  return &block->managed;
}

int fb_tensor_memory_is_host(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost || device.device_type == kDLROCMHost;
}

static bool is_compact(const DLTensor *tensor) {
  uint64_t expected = 1;
  for (int32_t i = tensor->ndim - 1; tensor->strides != NULL && i >= 0; i--) {
    if (tensor->shape[i] != 1 && (uint64_t)tensor->strides[i] != expected) return false;
    expected *= (uint64_t)tensor->shape[i];
  }
  return true;
}

/* Copies the elements in row-major order; `at` is room for a position per axis. Nothing of the source is empty. */
static void copy_strided(const DLTensor *from, char *to, size_t item, int64_t *at) {
  const char *read = (const char *)from->data + from->byte_offset;
  int32_t axis;
  memset(at, 0, (size_t)from->ndim * sizeof(*at));
  do {
    memcpy(to, read, item);
    to += item;
    for (axis = from->ndim - 1; axis >= 0; axis--) {
      read += from->strides[axis] * (int64_t)item;
      if (++at[axis] < from->shape[axis]) break;
      read -= from->strides[axis] * from->shape[axis] * (int64_t)item;
      at[axis] = 0;
    }
  } while (axis >= 0);
}

DLManagedTensorVersioned *fb_tensor_memory_copy(const DLTensor *from, const char **kind, const char **message) {
  DLTensor prototype = *from;
  prototype.device = (DLDevice){kDLCPU, 0};
  bool compact = is_compact(from);
  unsigned n_bits = (unsigned)from->dtype.bits * from->dtype.lanes;
  if (!compact && n_bits % 8 != 0)
    return refuse(kind, message, "BufferError", "elements of less than a byte are copied only where they lie compact");
  DLManagedTensorVersioned *copy = fb_tensor_memory_new(&prototype, kind, message);
  uint64_t n_bytes;
  if (copy == NULL) return NULL;
  copy->flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  data_size(from, &n_bytes); /* it was one that memory has room for */
  if (n_bytes == 0) return copy;
  if (compact) {
    memcpy(copy->dl_tensor.data, (const char *)from->data + from->byte_offset, (size_t)n_bytes);
    return copy;
  }
  copy_strided(from, copy->dl_tensor.data, n_bits / 8, copy->dl_tensor.strides);
  fill_compact_strides(&copy->dl_tensor); /* they were the positions until now */
  return copy;
}
