/* The class Tensor: attributes that read the DLTensor after the header of the native object. The description does not
 * change while the object lives; the use of the cell keeps the object alive during a read. DLPack's methods are in
 * dlpack_out.c. */
#include "tensor.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "core/tensor/dltensor.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object_type.h"
#include "hpy_module/value/value.h"
#include "parts.h"

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* Returns read(description of self); HPy_NULL with an exception raised. ffi.Tensor is one level below ffi.Object. */
static HPy read_tensor(HPyContext *ctx, HPy self, HPy (*read)(HPyContext *, const DLTensor *)) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell == NULL) return HPy_NULL;
  HPy result = read(ctx, (const DLTensor *)(cell->handle + 1));
  fb_handle_cell_unuse(cell);
  return result;
}

static HPy read_shape(HPyContext *ctx, const DLTensor *tensor) {
  return fb_tuple_of_ints(ctx, tensor->shape, tensor->ndim);
}
/* The core fills in strides that an exporter has omitted, so they exist if there are axes. */
static HPy read_strides(HPyContext *ctx, const DLTensor *tensor) {
  return fb_tuple_of_ints(ctx, tensor->strides, tensor->ndim);
}
static HPy read_dtype(HPyContext *ctx, const DLTensor *tensor) { return fb_data_type_result(ctx, tensor->dtype); }
static HPy read_device(HPyContext *ctx, const DLTensor *tensor) { return fb_plain_of_device(ctx, tensor->device); }
static HPy read_ndim(HPyContext *ctx, const DLTensor *tensor) { return HPyLong_FromInt32_t(ctx, tensor->ndim); }
static HPy read_byte_offset(HPyContext *ctx, const DLTensor *tensor) {
  return HPyLong_FromUInt64_t(ctx, tensor->byte_offset);
}
/* If byte_offset is not 0, `data` is the beginning of a larger block. */
static HPy read_data_ptr(HPyContext *ctx, const DLTensor *tensor) {
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset);
}
static HPy read_numel(HPyContext *ctx, const DLTensor *tensor) {
  int64_t n;
  if (fh_dltensor_count(tensor, &n)) return HPyLong_FromInt64_t(ctx, n);
  return fb_raise(ctx, ctx->h_OverflowError, "the tensor has more than 2**63 - 1 elements");
}
static HPy read_is_contiguous(HPyContext *ctx, const DLTensor *tensor) {
  return HPy_Dup(ctx, fh_dltensor_is_compact(tensor) ? ctx->h_True : ctx->h_False);
}

FB_GETTER(tensor_shape, "shape", read_tensor(ctx, self, read_shape), "Extent of each axis.")
FB_GETTER(tensor_strides, "strides", read_tensor(ctx, self, read_strides), "Stride of each axis, in elements.")
FB_GETTER(tensor_dtype, "dtype", read_tensor(ctx, self, read_dtype), "Element type.")
FB_GETTER(tensor_device, "device", read_tensor(ctx, self, read_device), "Where the memory is.")
FB_GETTER(tensor_ndim, "ndim", read_tensor(ctx, self, read_ndim), "Number of axes.")
FB_GETTER(tensor_byte_offset, "byte_offset", read_tensor(ctx, self, read_byte_offset),
          "Bytes from the beginning of the memory to the first element.")

FB_METHOD_NOARGS(tensor_data_ptr, "data_ptr", "Address of the first element, on the tensor's device.") {
  return read_tensor(ctx, self, read_data_ptr);
}

FB_METHOD_NOARGS(tensor_numel, "numel", "Number of elements. OverflowError beyond 2**63 - 1.") {
  return read_tensor(ctx, self, read_numel);
}

/* Returns one extent, for an axis that may count from the end; IndexError if the axis does not exist. */
static HPy extent_of(HPyContext *ctx, const DLTensor *tensor, int64_t axis) {
  if (axis < -tensor->ndim || axis >= tensor->ndim) {
    return fb_raise(ctx, ctx->h_IndexError, "axis %lld is out of range for a tensor of %d axes", (long long)axis,
                    (int)tensor->ndim);
  }
  return HPyLong_FromInt64_t(ctx, tensor->shape[axis < 0 ? axis + tensor->ndim : axis]);
}

FB_METHOD_KEYWORDS(tensor_size, "size",
                   "size($self, idx)\n--\n\n"
                   "Return the extent of one axis.\n\n"
                   "Args:\n"
                   "    idx: the axis; negative counts from the end.\n\n"
                   "Raises:\n"
                   "    IndexError: if the axis does not exist.") {
  static const char *const names[] = {"idx"};
  static const FbKeywords keywords = {"size", names, 1, NULL};
  HPy arg;
  if (fb_keywords_bind_one(ctx, &keywords, args, nargs, kwnames, &arg) != 0) return HPy_NULL;
  int64_t axis = HPyLong_AsInt64_t(ctx, arg); /* may run Python code, so it comes before the use */
  if (axis == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell == NULL) return HPy_NULL;
  HPy extent = extent_of(ctx, (const DLTensor *)(cell->handle + 1), axis);
  fb_handle_cell_unuse(cell);
  return extent;
}
FB_METHOD_NOARGS(tensor_is_contiguous, "is_contiguous", "Whether the elements are contiguous, row by row.") {
  return read_tensor(ctx, self, read_is_contiguous);
}

FB_OBJECT_CLASS(tensor)

HPy fb_tensor_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {&tensor_new,
                              &tensor_shape,
                              &tensor_strides,
                              &tensor_dtype,
                              &tensor_device,
                              &tensor_ndim,
                              &tensor_byte_offset,
                              &tensor_data_ptr,
                              &tensor_numel,
                              &tensor_size,
                              &tensor_is_contiguous,
                              &fb_dlpack_out_legacy,
                              &fb_dlpack_out_versioned,
                              &fb_dlpack_out_method,
                              &fb_dlpack_out_device,
                              &fb_buffer_get,
                              &fb_described_view,
                              NULL, /* of fb_buffer_init */
                              NULL,
                              NULL};
  defines[sizeof(defines) / sizeof(defines[0]) - 3] = fb_buffer_init();
  return fb_object_type_plain(ctx, "ffi_hpy.Tensor",
                              "An n-dimensional array with shared ownership of its memory, exchanged through DLPack.",
                              defines, base, &tensor_type);
}

/* --- streams ----------------------------------------------------------------------------------------------------- */

/* The core's ffi.Shape becomes the package's Shape, a tuple of ints that also has the native object, so that passing it
 * to native code again needs no new object. */

/* Makes Shape(tuple, native object). Steals the object, also on failure, like every FbResult. */
static HPy shape_result(HPyContext *ctx, const TVMFFIAny *value) {
  const TVMFFIShapeCell *shape = (const TVMFFIShapeCell *)(value->v_obj + 1);
  HPy parts[2] = {fb_tuple_of_ints(ctx, shape->data, (int32_t)shape->size), HPy_NULL};
  if (HPy_IsNull(parts[0])) {
    fb_drop_object(value->v_obj, -1);
    return HPy_NULL;
  }
  parts[1] = fb_wrap_object(ctx, value->v_obj);
  HPy result = HPy_IsNull(parts[1]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_SHAPE_CLASS, parts, 2);
  if (!HPy_IsNull(parts[1])) HPy_Close(ctx, parts[1]);
  HPy_Close(ctx, parts[0]);
  return result;
}

void fb_shape_init(void) { fb_result_set(kTVMFFIShape, shape_result); }

/* --- stream ------------------------------------------------------------------------------------------------------ */

/* The streams that native code uses, per thread and device. The handles of streams are pointers, and ints in Python. */

/* Reads device type and index. Returns 0, or -1 with an exception raised. */
static int device_args(HPyContext *ctx, const HPy *args, int32_t *type, int32_t *index) {
  *type = fb_int32_read(ctx, args[0]);
  if (*type == -1 && HPyErr_Occurred(ctx)) return -1;
  *index = fb_int32_read(ctx, args[1]);
  return *index == -1 && HPyErr_Occurred(ctx) ? -1 : 0;
}

FB_METHOD(fb_stream_get, "stream_get", "This thread's stream of a device, 0 if none was set.") {
  int32_t type, index;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "stream_get() takes device_type, device_id");
  if (device_args(ctx, args, &type, &index) != 0) return HPy_NULL;
  /* A stream is a pointer, which fits into a size_t. */
  return HPyLong_FromSize_t(ctx, (size_t)TVMFFIEnvGetStream(type, index));
}

FB_METHOD(fb_stream_set, "stream_set", "Set this thread's stream of a device; gives the old one.") {
  int32_t type, index;
  TVMFFIStreamHandle previous = NULL;
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "stream_set() takes device_type, device_id, stream");
  if (device_args(ctx, args, &type, &index) != 0) return HPy_NULL;
  void *stream = HPyLong_AsVoidPtr(ctx, args[2]);
  if (stream == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  if (TVMFFIEnvSetStream(type, index, stream, &previous) != 0) return fb_error_raise_pending(ctx, "stream_set");
  return HPyLong_FromSize_t(ctx, (size_t)previous);
}
