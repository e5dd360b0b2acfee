/* Export of a Tensor by DLPack: __dlpack__ with the arguments of the array API, and short forms of it. A capsule owns a
 * managed tensor, whose deleter releases a reference to the native tensor, so the memory may outlive the Python
 * object. */
#include "parts.h"

#include <assert.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"
#include "managed.h"

/* Makes a capsule of a managed tensor and steals it, also on failure. */
static HPy versioned_capsule(HPyContext *ctx, DLManagedTensorVersioned *managed) {
  HPy capsule = fb_capsule_new_dltensor_versioned(ctx, managed);
  if (HPy_IsNull(capsule)) fb_drop_versioned(managed);
  return capsule;
}

/* Makes a capsule with the older struct. Raises BufferError for read-only memory, which that struct cannot describe. */
static HPy legacy_capsule(HPyContext *ctx, TVMFFIObject *handle) {
  DLManagedTensor *managed = NULL;
  bool is_read_only;
  if (fb_managed_is_read_only(ctx, handle, &is_read_only) != 0) return HPy_NULL;
  if (is_read_only) {
    return fb_raise(ctx, ctx->h_BufferError,
                    "this tensor is read-only, which DLPack can say from version 1 on: ask with max_version=(1, 0)");
  }
  if (TVMFFITensorToDLPack(handle, &managed) != 0) return fb_error_raise_pending(ctx, "__dlpack__");
  HPy capsule = fb_capsule_new_dltensor(ctx, managed);
  if (HPy_IsNull(capsule)) fb_drop_managed(managed);
  return capsule;
}

/* Copies the elements to host memory, owned; NULL with BufferError or MemoryError raised. */
static DLManagedTensorVersioned *host_copy(HPyContext *ctx, const DLTensor *from) {
  const char *kind = "BufferError", *message = "the host cannot read this tensor's memory, so it cannot be copied";
  DLManagedTensorVersioned *copy = NULL;
  if (fb_tensor_memory_is_host(from->device)) copy = fb_tensor_memory_copy(from, &kind, &message);
  if (copy == NULL)
    fb_raise(ctx, strcmp(kind, "MemoryError") == 0 ? ctx->h_MemoryError : ctx->h_BufferError, "%s", message);
  return copy;
}

/* --- __dlpack__ --------------------------------------------------------------------------------------------------- */

/* The request of a consumer. */
typedef struct Request {
  bool is_versioned; /* the consumer reads DLPack 1 */
  bool wants_device; /* the consumer names a device */
  DLDevice wanted_device;
  int copy; /* 1: always, 0: never, -1: if necessary */
} Request;

/* Interned, because most consumers write these names in their source, and the pointers are then equal. */
static const char *const names[] = {"stream", "max_version", "dl_device", "copy"};
static FbRef interned[4];
static const FbKeywords keywords = {"__dlpack__", names, 4, interned};

static FbRef cpu; /* (kDLCPU, 0), the usual result of __dlpack_device__; written once during the import */

int fb_dlpack_out_init(HPyContext *ctx) {
  HPy tuple = fb_tuple_of_ints(ctx, (int64_t[]){kDLCPU, 0}, 2);
  if (HPy_IsNull(tuple)) return -1;
  fb_context_keep(tuple);
  fb_ref_store(ctx, &cpu, tuple);
  HPy_Close(ctx, tuple);
  return fb_keywords_intern(ctx, &keywords);
}

/* Reads the i'th item of a sequence, an int. Returns false with an exception raised if it is not an int, or not an
 * int32. */
static bool int_at(HPyContext *ctx, HPy sequence, int i, int32_t *out) {
  HPy item = HPy_GetItem_i(ctx, sequence, i);
  if (HPy_IsNull(item)) return false;
  *out = fb_int32_read(ctx, item);
  HPy_Close(ctx, item);
  return *out != -1 || !HPyErr_Occurred(ctx);
}

/* Like int_at, for the first item. A tuple with a small int, which nearly every consumer passes, is read without a
 * reference to the item. */
static bool first_int(HPyContext *ctx, HPy sequence, int32_t *out) {
  TVMFFIAny number;
  if (FH_LIKELY(fb_context_tuple_items != 0) && fb_immediate_type(sequence) == ctx->h_TupleType._i &&
      HPy_Length(ctx, sequence) > 0 && fb_immediate_int(fb_tuple_item(sequence, 0), &number) &&
      number.v_int64 == (int32_t)number.v_int64) {
    *out = (int32_t)number.v_int64;
    return true;
  }
  return int_at(ctx, sequence, 0, out);
}

/* Reads one keyword argument; None is the default of each. Returns false with an exception raised on failure. */
static bool read_one(HPyContext *ctx, int keyword, HPy value, Request *request) {
  enum { STREAM, MAX_VERSION, DL_DEVICE, COPY };
  int32_t number, index;
  if (keyword == STREAM || fb_context_is_same(ctx, value, ctx->h_None)) return true;
  switch (keyword) {
  case MAX_VERSION:
    if (!first_int(ctx, value, &number)) return false;
    request->is_versioned = number >= DLPACK_MAJOR_VERSION;
    return true;
  case DL_DEVICE:
    if (!int_at(ctx, value, 0, &number) || !int_at(ctx, value, 1, &index)) return false;
    request->wants_device = true;
    request->wanted_device = (DLDevice){(DLDeviceType)number, index};
    return true;
  default:
    assert(keyword == COPY);
    request->copy = HPy_IsTrue(ctx, value);
    return request->copy >= 0;
  }
}

/* Reads all keyword arguments. Returns 0, or -1 with an exception raised. */
static int read_request(HPyContext *ctx, const HPy *values, size_t nargs, HPy kwnames, Request *request) {
  if (nargs != 0) {
    fb_raise(ctx, ctx->h_TypeError, "__dlpack__() takes keyword arguments only");
    return -1;
  }
  HPy_ssize_t n = HPy_IsNull(kwnames) ? 0 : HPy_Length(ctx, kwnames);
  for (HPy_ssize_t i = 0; i < n; ++i) {
    int keyword = fb_keywords_find(ctx, &keywords, kwnames, i);
    if (keyword < 0 || !read_one(ctx, keyword, values[i], request)) return -1;
  }
  return 0;
}

/* For copy=True, or if the data must move. Only host memory, device (kDLCPU, 0), can be the target of a copy. */
static HPy copy_capsule(HPyContext *ctx, const DLTensor *tensor, const Request *request) {
  DLDevice here = tensor->device, there = request->wants_device ? request->wanted_device : here;
  bool moves = there.device_type != here.device_type || there.device_id != here.device_id;
  if (moves && request->copy == 0) {
    return fb_raise(ctx, ctx->h_BufferError, "cannot export a tensor from device (%d, %d) to (%d, %d) without a copy",
                    (int)here.device_type, (int)here.device_id, (int)there.device_type, (int)there.device_id);
  }
  if (there.device_type != kDLCPU || there.device_id != 0) {
    return fb_raise(ctx, ctx->h_BufferError, "cannot copy a tensor to device (%d, %d): copies go to the CPU, (1, 0)",
                    (int)there.device_type, (int)there.device_id);
  }
  DLManagedTensorVersioned *copy = host_copy(ctx, tensor);
  if (copy == NULL) return HPy_NULL;
  if (request->is_versioned) return versioned_capsule(ctx, copy);
  /* The copy is a versioned struct. The older struct is made from a native tensor over the copy. */
  TVMFFIObject *handle;
  if (fb_managed_take(ctx, copy, (FbDemands){0}, &handle) != 0) return HPy_NULL;
  HPy capsule = legacy_capsule(ctx, handle);
  fb_drop_object(handle, HPy_IsNull(capsule));
  return capsule;
}

/* Makes the capsule for a request. The memory is shared unless the request asks for a copy or for another device. */
static HPy capsule_for(HPyContext *ctx, TVMFFIObject *handle, const Request *request) {
  const DLTensor *tensor = (const DLTensor *)(handle + 1);
  DLManagedTensorVersioned *managed = NULL;
  bool is_here = !request->wants_device || (request->wanted_device.device_type == tensor->device.device_type &&
                                            request->wanted_device.device_id == tensor->device.device_id);
  if (request->copy == 1 || !is_here) return copy_capsule(ctx, tensor, request);
  if (!request->is_versioned) return legacy_capsule(ctx, handle);
  if (TVMFFITensorToDLPackVersioned(handle, &managed) != 0) return fb_error_raise_pending(ctx, "__dlpack__");
  return versioned_capsule(ctx, managed);
}

/* The use prevents a move of the tensor away from self while its capsule is made. */
static HPy export(HPyContext *ctx, HPy self, const Request *request) {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell == NULL) return HPy_NULL;
  HPy capsule = capsule_for(ctx, cell->handle, request);
  fb_handle_cell_unuse(cell);
  return capsule;
}

FB_METHOD_KEYWORDS(
    fb_dlpack_out_method, "__dlpack__",
    "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "A DLPack capsule that keeps the memory alive until its consumer is done.\n\n"
    "The capsule is \"dltensor_versioned\" for a consumer that reads major version 1 or later, else the older "
    "\"dltensor\", which cannot say that memory is read-only. `stream` is ignored: a tensor does not "
    "know which stream its data is written on. `dl_device` is where the consumer wants the data, by "
    "default where it is. The memory is shared, unless `copy` is true or the data must move: then the "
    "capsule has a compact copy in host memory. BufferError for impossible requests: read-only memory "
    "in the older form, another device than the CPU for a copy, a copy of memory that the host cannot "
    "read, moving data with copy=False.") {
  /* The values of keyword arguments follow the positional arguments, which are not allowed. */
  Request request = {.copy = -1};
  if (read_request(ctx, args + nargs, nargs, kwnames, &request) != 0) return HPy_NULL;
  return export(ctx, self, &request);
}

FB_METHOD_NOARGS(fb_dlpack_out_legacy, "_to_dlpack", "Capsule \"dltensor\".") {
  return export(ctx, self, &(Request){.copy = -1});
}

FB_METHOD_NOARGS(fb_dlpack_out_versioned, "_to_dlpack_versioned", "Capsule \"dltensor_versioned\".") {
  return export(ctx, self, &(Request){.is_versioned = true, .copy = -1});
}

FB_METHOD_NOARGS(fb_dlpack_out_device, "__dlpack_device__",
                 "__dlpack_device__($self)\n--\n\nDLPack device type and index, two ints.") {
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell == NULL) return HPy_NULL;
  DLDevice device = ((const DLTensor *)(cell->handle + 1))->device;
  fb_handle_cell_unuse(cell);
  /* The usual result, without a new tuple. */
  if (device.device_type == kDLCPU && device.device_id == 0) return fb_ref_load(ctx, &cpu);
  return fb_tuple_of_ints(ctx, (int64_t[]){device.device_type, device.device_id}, 2);
}

FB_METHOD(fb_dlpack_out_of, "tensor_capsule",
          "The capsule of a native tensor, which the caller keeps: its address, whether it is versioned.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "tensor_capsule() takes an address and a bool");
  TVMFFIObject *handle = HPyLong_AsVoidPtr(ctx, args[0]);
  Request request = {.is_versioned = fb_context_is_same(ctx, args[1], ctx->h_True), .copy = -1};
  return handle == NULL ? HPy_NULL : capsule_for(ctx, handle, &request);
}
