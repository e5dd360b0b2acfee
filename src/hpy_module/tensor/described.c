/* Tensors over memory that Python code describes by numbers: a DLPack capsule over the memory of any Python object, and
 * a view of a part of a Tensor. The package checks indices and bounds; the core checks that the numbers can describe
 * memory. */
#include "parts.h"

#include <stdlib.h>

#include "core/tensor/dltensor.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/wrap.h"

/* The length of a tuple, at most `most`; -1 with an exception raised for another value. A subclass may raise in
 * `__len__`, so the length is read once. */
static HPy_ssize_t length_of_tuple(HPyContext *ctx, HPy value, HPy_ssize_t most) {
  HPy_ssize_t n = HPyTuple_Check(ctx, value) ? HPy_Length(ctx, value) : most + 1;
  if (n > most) fb_raise(ctx, ctx->h_TypeError, "expected a tuple of at most %d ints", (int)most);
  return n > most ? -1 : n;
}

/* Reads n ints of a tuple. Returns 0, or -1 with an exception raised. */
static int read_ints(HPyContext *ctx, HPy tuple, int64_t *out, HPy_ssize_t n) {
  HPy_ssize_t length = length_of_tuple(ctx, tuple, n);
  if (length < 0) return -1;
  if (length != n) {
    fb_raise(ctx, ctx->h_TypeError, "expected a tuple of %d ints, got %d", (int)n, (int)length);
    return -1;
  }
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy item = HPy_GetItem_i(ctx, tuple, i);
    if (HPy_IsNull(item)) return -1;
    out[i] = HPyLong_AsInt64_t(ctx, item);
    HPy_Close(ctx, item);
    if (out[i] == -1 && HPyErr_Occurred(ctx)) return -1;
  }
  return 0;
}

/* Returns the shape and then the strides, which the caller frees; NULL with an exception raised. */
static int64_t *new_extents(HPyContext *ctx, HPy shape, HPy strides, HPy_ssize_t n) {
  int64_t *extents = malloc((2 * (size_t)n + 1) * sizeof(*extents));
  if (extents == NULL) {
    HPyErr_NoMemory(ctx);
  } else if (read_ints(ctx, shape, extents, n) != 0 || read_ints(ctx, strides, extents + n, n) != 0) {
    free(extents);
    extents = NULL;
  }
  return extents;
}

/* --- capsules ----------------------------------------------------------------------------------------------------- */

/* A managed tensor that keeps a Python object alive (manager_ctx, an FbPyOwner). */
static void end_described(DLManagedTensorVersioned *self) {
  fb_py_owner_drop(self->manager_ctx);
  free(self->dl_tensor.shape);
  free(self);
}

/* Fills in the numbers of a tensor, except for its shape and strides. Returns 0, or -1 with an exception raised. */
static int read_numbers(HPyContext *ctx, const HPy *args, DLManagedTensorVersioned *managed) {
  int64_t type[3], device[2];
  DLTensor *tensor = &managed->dl_tensor;
  tensor->data = HPyLong_AsVoidPtr(ctx, args[1]);
  if (tensor->data == NULL && HPyErr_Occurred(ctx)) return -1;
  if (read_ints(ctx, args[4], type, 3) != 0 || read_ints(ctx, args[5], device, 2) != 0) return -1;
  int is_read_only = HPy_IsTrue(ctx, args[6]);
  if (is_read_only < 0) return -1;
  tensor->dtype = (DLDataType){(uint8_t)type[0], (uint8_t)type[1], (uint16_t)type[2]};
  tensor->device = (DLDevice){(DLDeviceType)device[0], (int32_t)device[1]};
  if (is_read_only) managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  return 0;
}

FB_METHOD(fb_described_capsule, "memory_capsule",
          "A DLPack capsule over memory: owner, address, shape, strides, type, device, is_read_only.") {
  if (nargs != 7) return fb_raise(ctx, ctx->h_TypeError, "memory_capsule() takes 7 arguments, got %zu", nargs);
  HPy_ssize_t n = length_of_tuple(ctx, args[2], FH_DLTENSOR_MAX_DIMS);
  if (n < 0) return HPy_NULL;
  DLManagedTensorVersioned *managed = calloc(1, sizeof(*managed));
  if (managed == NULL) return HPyErr_NoMemory(ctx);
  managed->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->deleter = end_described;
  managed->dl_tensor.ndim = (int32_t)n;
  HPy capsule = HPy_NULL;
  int64_t *extents = new_extents(ctx, args[2], args[3], n);
  managed->dl_tensor.shape = extents;
  managed->dl_tensor.strides = extents == NULL ? NULL : extents + n;
  if (extents != NULL && read_numbers(ctx, args, managed) == 0) managed->manager_ctx = fb_py_owner_new(ctx, args[0]);
  if (managed->manager_ctx != NULL) capsule = fb_capsule_new_dltensor_versioned(ctx, managed);
  if (!HPy_IsNull(capsule)) return capsule;
  if (managed->manager_ctx != NULL) {
    fb_drop_versioned(managed);
  } else {
    free(extents);
    free(managed);
  }
  return HPy_NULL;
}

/* --- views -------------------------------------------------------------------------------------------------------- */

/* Makes the view: owned. NULL with an exception raised. */
static TVMFFIObject *new_view(HPyContext *ctx, TVMFFIObject *source, int64_t *extents, int32_t n, int64_t n_bytes) {
  TVMFFIObjectHandle made = NULL;
  DLTensor view = *(const DLTensor *)(source + 1);
  view.ndim = n;
  view.shape = extents;
  view.strides = extents + n;
  if (fh_dltensor_has_address(view.device)) {
    view.data = (char *)view.data + view.byte_offset + n_bytes;
    view.byte_offset = 0;
  } else {
    view.byte_offset += (uint64_t)n_bytes;
  }
  if (TVMFFITensorCreateUnsafeView(source, &view, &made) != 0) fb_error_raise_pending(ctx, "_view");
  return made;
}

FB_METHOD(fb_described_view, "_view",
          "A Tensor over a part of the memory: shape, strides, bytes from the first element.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "_view() takes 3 arguments, got %zu", nargs);
  HPy_ssize_t n = length_of_tuple(ctx, args[0], FH_DLTENSOR_MAX_DIMS);
  if (n < 0) return HPy_NULL;
  int64_t n_bytes = HPyLong_AsInt64_t(ctx, args[2]);
  if (n_bytes == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  int64_t *extents = new_extents(ctx, args[0], args[1], n);
  if (extents == NULL) return HPy_NULL;
  TVMFFIObject *view = NULL;
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell != NULL) {
    view = new_view(ctx, cell->handle, extents, (int32_t)n, n_bytes);
    fb_handle_cell_unuse(cell);
  }
  free(extents);
  return view == NULL ? HPy_NULL : fb_wrap_object(ctx, view);
}
