/* tensor.h - ffi.Shape and ffi.Tensor, and conversion from and to DLPack. */
#pragma once

#include "core/object/any.h"

/* 40 bytes, then the dimensions. */
typedef struct {
  TVMFFIObject header;
  TVMFFIShapeCell cell;
  int64_t dims[]; /* not part of the ABI's 40 bytes */
} fh_shape_object;

/* Makes a Shape with n dimensions copied from dims (NULL: the caller fills them in). NULL with an error pending. */
fh_shape_object *fh_shape_new(const int64_t *dims, size_t n);

/* 0, or -1 with a ValueError pending if no memory can match the description (dltensor.h). */
int fh_tensor_check(const DLTensor *tensor);
