/* dltensor.h - arithmetic on a DLTensor, a description of foreign memory.
 *
 * This file depends on no other file of the core: the core and the binding are both built with it. No function here
 * raises or allocates. */
#pragma once

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  FH_DLTENSOR_MAX_DIMS = 1024,
  FH_DLTENSOR_REASON = 160,
};

/* 1 with a sentence if no memory can match the description: elements but no data, a NULL shape, sizes whose product
 * exceeds int64, elements beyond the address space. 0 otherwise. */
bool fh_dltensor_refuse(const DLTensor *tensor, char reason[FH_DLTENSOR_REASON]);

/* As fh_dltensor_refuse, for the shape alone: NULL, more than FH_DLTENSOR_MAX_DIMS axes, or a negative size. */
bool fh_dltensor_refuse_shape(const DLTensor *tensor, char reason[FH_DLTENSOR_REASON]);

/* The functions below require a shape that is not refused. */

/* The number of elements: 1, or 0 if it exceeds int64. */
bool fh_dltensor_count(const DLTensor *tensor, int64_t *n);
/* The number of bytes of all elements without gaps: 1, or 0 if it exceeds the address space. */
bool fh_dltensor_size(const DLTensor *tensor, size_t *n_bytes);
/* Whether the elements are in row-major order without gaps; missing strides mean that. */
bool fh_dltensor_is_compact(const DLTensor *tensor);
/* Strides of a compact tensor, in elements. The strides wrap around for shapes that are too large for any memory. */
void fh_dltensor_fill_strides(const DLTensor *tensor, int64_t *strides);
/* Whether `data` is an address and not a handle of the device's driver. */
bool fh_dltensor_has_address(DLDevice device);

/* Adds byte_offset to `data` where that is an address, so that a kernel that reads only `data` is right. */
static inline void fh_dltensor_fold_offset(DLTensor *tensor) {
  if (tensor->byte_offset == 0 || !fh_dltensor_has_address(tensor->device)) return;
  tensor->data = (void *)((uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset);
  tensor->byte_offset = 0;
}

/* Whether elements of that type have a size. */
static inline bool fh_dltensor_has_size(DLDataType dtype) { return dtype.bits != 0 && (int16_t)dtype.lanes > 0; }

/* ---- A quick check that nearly all tensors pass ---- */

/* For callers that have read all sizes and strides: whether fh_dltensor_refuse is sure to return 0. `bits` is the
 * bitwise or of all sizes, strides and products of the first sizes; n is the product of all sizes. If all are below
 * 2**28, each element is at most 2**56 elements after the first, and with elements of at most 2**6 bytes no sum of
 * bytes and addresses overflows. Negative numbers have upper bits. */
static inline bool fh_dltensor_is_usual_with(const DLTensor *tensor, uint64_t n, uint64_t bits) {
  uint32_t element_bits = (uint32_t)tensor->dtype.bits * tensor->dtype.lanes;
  return n != 0 && bits >> 28 == 0 && element_bits - 1 < 512 && (intptr_t)tensor->data > 0 &&
         tensor->byte_offset >> 61 == 0;
}

/* 1 if fh_dltensor_refuse is sure to return 0; 0 if the caller must call it. */
static inline bool fh_dltensor_is_usual(const DLTensor *tensor) {
  const int64_t *shape = tensor->shape, *strides = tensor->strides;
  uint32_t n_dims = (uint32_t)tensor->ndim;
  uint64_t n = 1, bits = 0;
  if (n_dims > FH_DLTENSOR_MAX_DIMS || (shape == NULL && n_dims != 0)) return false;
  for (uint32_t i = 0; i < n_dims; ++i) {
    n *= (uint64_t)shape[i];
    bits |= (uint64_t)shape[i] | n;
    if (strides != NULL) bits |= (uint64_t)strides[i];
  }
  return fh_dltensor_is_usual_with(tensor, n, bits);
}
