/* dltensor.c - arithmetic on a DLTensor: the number and the place of its elements and bytes, and whether memory can
 * match the description.
 *
 * Shapes, strides and addresses come from other libraries and may be arbitrary. So all arithmetic is unsigned, where an
 * overflow is defined. Products and sums are checked or known to fit, except for the strides of compact tensors, which
 * may wrap around. Strides and distances are in elements, sizes in bytes. */
#include "dltensor.h"

#include <stdarg.h>
#include <stdio.h>

/* Host memory, CUDA's and ROCm's. For other devices `data` may be a handle, which has no alignment and no end. */
bool fh_dltensor_has_address(DLDevice device) {
  switch (device.device_type) {
  case kDLCPU:
  case kDLCUDA:
  case kDLCUDAHost:
  case kDLCUDAManaged:
  case kDLROCM:
  case kDLROCMHost: return true;
  default: return false;
  }
}

/* *product *= factor: 1; or 0 if the result exceeds int64, and then *product is undefined. A negative factor, cast to
 * unsigned, is too large unless the product is 0. */
static bool multiply(uint64_t *product, uint64_t factor) {
#if defined(__GNUC__)
  return !__builtin_mul_overflow(*product, factor, product) && *product <= INT64_MAX;
#else
  int fits = factor == 0 || *product <= INT64_MAX / factor;
  *product *= factor;
  return fits;
#endif
}

/* Checked before sizes are multiplied: a size of 0 makes a tensor empty, however large the product of the others is. */
static bool is_empty(const DLTensor *tensor) {
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] == 0) return true;
  }
  return false;
}

bool fh_dltensor_count(const DLTensor *tensor, int64_t *n) {
  uint64_t product = 1;
  if (is_empty(tensor)) product = 0;
  for (int32_t i = 0; product != 0 && i < tensor->ndim; ++i) {
    if (!multiply(&product, (uint64_t)tensor->shape[i])) return false;
  }
  *n = (int64_t)product;
  return true;
}

/* The number of bits of one element, with all its lanes. Not for scalable lanes, which fh_dltensor_has_size
 * excludes. */
static uint64_t bits_of(DLDataType dtype) { return (uint64_t)dtype.bits * dtype.lanes; }

/* *n_bytes becomes the number of bytes of n elements without gaps: 1, or 0 if it exceeds int64. Elements may be smaller
 * than a byte. Eight elements have as many bytes as one has bits, so groups of eight are counted without rounding, and
 * the rest is rounded up. */
static bool size_of(uint64_t n, DLDataType dtype, uint64_t *n_bytes) {
  uint64_t bits = bits_of(dtype), in_eights = n / 8;
  if (!multiply(&in_eights, bits)) return false;
  *n_bytes = in_eights + (n % 8 * bits + 7) / 8;
  return *n_bytes <= INT64_MAX;
}

bool fh_dltensor_size(const DLTensor *tensor, size_t *n_bytes) {
  int64_t n;
  uint64_t size;
  if (!fh_dltensor_count(tensor, &n)) return false;
  if (n != 0 && !fh_dltensor_has_size(tensor->dtype)) return false;
  if (!size_of((uint64_t)n, tensor->dtype, &size)) return false;
  *n_bytes = (size_t)size;
  return true;
}

bool fh_dltensor_is_compact(const DLTensor *tensor) {
  uint64_t expected = 1; /* wraps around as in fh_dltensor_fill_strides */
  if (tensor->strides == NULL || is_empty(tensor)) return true; /* without elements there are no gaps */
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->shape[i] == 1) continue; /* its stride is never used */
    if ((uint64_t)tensor->strides[i] != expected) return false;
    expected *= (uint64_t)tensor->shape[i];
  }
  return true;
}

/* Row-major: the last dimension is the innermost. */
void fh_dltensor_fill_strides(const DLTensor *tensor, int64_t *strides) {
  uint64_t stride = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    strides[i] = (int64_t)stride;
    stride *= (uint64_t)tensor->shape[i];
  }
}

/* ---- Whether memory can match the description ---- */

/* Writes the reason. Always 1. */
static int refuse_because(char *reason, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(reason, FH_DLTENSOR_REASON, format, args);
  va_end(args);
  return 1;
}

bool fh_dltensor_refuse_shape(const DLTensor *tensor, char reason[FH_DLTENSOR_REASON]) {
  if (tensor->ndim < 0) {
    return refuse_because(reason, "Expected a tensor with 0 or more dimensions but got ndim %d", (int)tensor->ndim);
  }
  if (tensor->ndim > FH_DLTENSOR_MAX_DIMS) {
    return refuse_because(reason, "Expected a tensor with at most %d dimensions but got ndim %d", FH_DLTENSOR_MAX_DIMS,
                          (int)tensor->ndim);
  }
  if (tensor->ndim > 0 && tensor->shape == NULL) {
    return refuse_because(reason, "Expected a shape of %d dimensions but got NULL", (int)tensor->ndim);
  }
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] >= 0) continue;
    return refuse_because(reason, "Expected a shape of 0 or more everywhere but dimension %d is %lld", (int)i,
                          (long long)tensor->shape[i]);
  }
  return false;
}

/* The distance of the elements from the first one, whose indices are all 0: `behind` to the last one in memory,
 * `before` to the first one in memory, which is another element if strides are negative. */
typedef struct {
  uint64_t behind, before;
} reach;

/* For n elements, not 0: 1, or 0 if a distance does not fit into 63 bits. Each dimension adds its stride, times the
 * number of steps from its first index to its last, to the side of the stride's sign. */
static bool find_reach(const DLTensor *tensor, uint64_t n, reach *out) {
  *out = (reach){n - 1, 0};
  if (tensor->strides == NULL) return true;
  out->behind = 0;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    int64_t stride = tensor->strides[i];
    uint64_t steps = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    uint64_t *side = stride < 0 ? &out->before : &out->behind;
    if (!multiply(&steps, (uint64_t)tensor->shape[i] - 1)) return false;
    *side += steps; /* the sum of two numbers of 63 bits */
    if (*side > INT64_MAX) return false;
  }
  return true;
}

/* 0 if all n elements (n > 0) lie between address 0 and the end of the address space; else 1 with a sentence. If `data`
 * is not an address, the tensor is treated as if it began at 0. */
static bool refuse_extent(const DLTensor *tensor, uint64_t n, char *reason) {
  reach far;
  uint64_t behind, before, address = fh_dltensor_has_address(tensor->device) ? (uint64_t)(uintptr_t)tensor->data : 0;
  /* The bytes from the first element's first byte to the last element's last byte, and the bytes before the first
   * element. */
  if (!find_reach(tensor, n, &far) || !size_of(far.behind + 1, tensor->dtype, &behind) ||
      !size_of(far.before, tensor->dtype, &before)) {
    return refuse_because(reason,
                          "Expected strides that stay within memory but an element would lie 2**63 bytes away or more");
  }
  /* Each sum is compared by a difference, because the sum itself may wrap around. */
  if (tensor->byte_offset > INT64_MAX || address > UINT64_MAX - tensor->byte_offset ||
      behind > UINT64_MAX - address - tensor->byte_offset || before > address + tensor->byte_offset) {
    return refuse_because(
        reason, "Expected elements within memory but got byte_offset %llu for %llu bytes at address 0x%llx",
        (unsigned long long)tensor->byte_offset, (unsigned long long)(behind + before), (unsigned long long)address);
  }
  return false;
}

bool fh_dltensor_refuse(const DLTensor *tensor, char reason[FH_DLTENSOR_REASON]) {
  int64_t n;
  uint64_t n_bytes;
  /* Nearly all tensors return here. The order of the checks below matters: each relies on the earlier ones. */
  if (fh_dltensor_is_usual(tensor)) return false;
  if (fh_dltensor_refuse_shape(tensor, reason)) return true;
  if (!fh_dltensor_count(tensor, &n)) {
    return refuse_because(reason, "Expected a shape that memory has room for but it has more than 2**63 - 1 elements");
  }
  if (n == 0) return false;
  if (!fh_dltensor_has_size(tensor->dtype)) {
    return refuse_because(reason, "Expected elements of a known size but got %d lanes of %d bits",
                          (int)(int16_t)tensor->dtype.lanes, (int)tensor->dtype.bits);
  }
  if (!size_of((uint64_t)n, tensor->dtype, &n_bytes)) {
    return refuse_because(reason, "Expected a shape that memory has room for but got %lld elements of %lld bits",
                          (long long)n, (long long)bits_of(tensor->dtype));
  }
  if (tensor->data == NULL) {
    return refuse_because(reason, "Expected the memory of %lld elements but got NULL as data", (long long)n);
  }
  return refuse_extent(tensor, (uint64_t)n, reason);
}
