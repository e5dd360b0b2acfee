/* Exchange APIs that the binding makes: its own, and one of Python functions. */
#include "exchange_table.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"
#include "managed.h"

/* --- our table ---------------------------------------------------------------------------------------------------- */

/* Our own exchange table: C code of other libraries calls it to read the memory of a Tensor, or to make a Tensor. The
 * table's functions get no context and may run on any thread, attached or not. Functions for Python objects fail like C
 * API functions, with an exception raised, unless the interpreter no longer exists. */

/* Allocates host memory, without the interpreter: the error is passed to the caller's function. */
static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                    void (*set_error)(void *error_ctx, const char *kind, const char *message)) {
  const char *kind, *message;
  *out = fb_tensor_memory_new(prototype, &kind, &message);
  if (*out != NULL) return 0;
  if (set_error != NULL) set_error(error_ctx, kind, message);
  return -1;
}

/* Returns a new handle of h, or of its converted form if the class of h is written in Python (ffi_hpy/_pypy). HPy_NULL
 * without an exception if h is neither. */
static HPy own_object(HPyContext *ctx, HPy h) {
  HPy converter = HPy_NULL, converted = HPy_NULL;
  if (FH_LIKELY(fb_object_check(ctx, h))) return HPy_Dup(ctx, h);
  if (!fb_thread_has_cffi_backend || fb_type_tag_of(ctx, h, &converter) != FB_TYPE_KIND_CONVERTER) return HPy_NULL;
  converted = fb_call_one(ctx, converter, h);
  HPy_Close(ctx, converter);
  return converted;
}

/* Like own_object, for h.tensor; HPy_NULL with an exception raised. */
static HPy own_object_inside(HPyContext *ctx, HPy h) {
  char given[128];
  HPy tensor = HPy_GetAttr_s(ctx, h, "tensor");
  if (HPy_IsNull(tensor)) return HPy_NULL;
  HPy own = own_object(ctx, tensor);
  if (HPy_IsNull(own) && !HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_TypeError, "expected a Tensor, got %s", fb_attr_type_name(ctx, tensor, given, sizeof(given)));
  }
  HPy_Close(ctx, tensor);
  return own;
}

/* Returns a new reference to the native object of a Tensor, or of an object whose attribute `tensor` is a Tensor. NULL
 * with an exception raised. */
static TVMFFIObject *tensor_of(HPyContext *ctx, HPy h) {
  TVMFFIObject *handle = NULL;
  char given[128];
  HPy tensor = own_object(ctx, h);
  if (HPy_IsNull(tensor) && !HPyErr_Occurred(ctx)) tensor = own_object_inside(ctx, h);
  if (HPy_IsNull(tensor)) return NULL;
  if (fb_object_check(ctx, tensor)) {
    FbHandleCell *cell = fb_object_begin(ctx, tensor, kTVMFFITensor, 1);
    if (cell != NULL) {
      handle = cell->handle;
      TVMFFIObjectIncRef(handle);
      fb_handle_cell_unuse(cell);
    }
  } else {
    fb_raise(ctx, ctx->h_TypeError, "expected a Tensor, got %s", fb_attr_type_name(ctx, tensor, given, sizeof(given)));
  }
  HPy_Close(ctx, tensor);
  return handle;
}

/* Like tensor_of, for an object pointer. Attaches the thread; the caller detaches it, unless the result
 * is NULL. */
static TVMFFIObject *tensor_at(void *py_object, FbThread *attach) {
  if (fb_thread_attach(attach) != 0) return NULL;
  HPy h = fb_pyobject_borrow(attach->ctx, py_object);
  TVMFFIObject *handle = HPy_IsNull(h) ? NULL : tensor_of(attach->ctx, h);
  if (!HPy_IsNull(h)) HPy_Close(attach->ctx, h);
  if (handle == NULL) fb_thread_detach(attach);
  return handle;
}

static int managed_from_object(void *py_object, DLManagedTensorVersioned **out) {
  FbThread attach;
  TVMFFIObject *handle = tensor_at(py_object, &attach);
  *out = NULL;
  if (handle == NULL) return -1;
  int rc = TVMFFITensorToDLPackVersioned(handle, out);
  if (rc != 0) fb_error_raise_pending(attach.ctx, "managed_tensor_from_py_object_no_sync");
  fb_drop_object(handle, rc);
  fb_thread_detach(&attach);
  return rc;
}

static int describe_object(void *py_object, DLTensor *out) {
  FbThread attach;
  TVMFFIObject *handle = tensor_at(py_object, &attach);
  if (handle == NULL) return -1;
  *out = *(const DLTensor *)(handle + 1); /* borrowed: valid while the Python object keeps the tensor */
  TVMFFIObjectDecRef(handle);
  fb_thread_detach(&attach);
  return 0;
}

/* A deleter without effect. */
static void keep(DLManagedTensorVersioned *self) { (void)self; }

/* Makes a Tensor over a managed tensor, which is stolen only on success. HPy_NULL with an exception raised. */
static HPy wrap(HPyContext *ctx, DLManagedTensorVersioned *managed) {
  /* If making the wrapper fails, the native tensor is freed and calls the managed tensor's deleter. The managed tensor
   * must then survive, because the caller still owns it. So its own deleter is restored last. */
  void (*deleter)(DLManagedTensorVersioned *) = managed->deleter;
  TVMFFIObjectHandle handle = NULL;
  HPy h = HPy_NULL;
  managed->deleter = keep;
  if (TVMFFITensorFromDLPackVersioned(managed, 0, 0, &handle) == 0) {
    h = fb_wrap_object(ctx, handle);
  } else {
    fb_error_raise_pending(ctx, "managed_tensor_to_py_object_no_sync");
  }
  managed->deleter = deleter;
  return h;
}

static int object_from_managed(DLManagedTensorVersioned *managed, void **out_py_object) {
  FbThread attach;
  *out_py_object = NULL;
  if (fb_thread_attach(&attach) != 0) return -1;
  HPy h = wrap(attach.ctx, managed);
  if (!HPy_IsNull(h)) *out_py_object = fb_pyobject_give(attach.ctx, h);
  fb_thread_detach(&attach);
  return *out_py_object == NULL ? -1 : 0;
}

/* The core stores the streams of each thread, so the interpreter is not needed. */
static int current_stream(DLDeviceType device_type, int32_t device_id, void **out_current_stream) {
  *out_current_stream = TVMFFIEnvGetStream(device_type, device_id);
  return 0;
}

/* prev_api: NULL, because a table of an older version does not exist. */
static DLPackExchangeAPI table = {
    .header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, .prev_api = NULL},
    .managed_tensor_allocator = allocate,
    .managed_tensor_from_py_object_no_sync = managed_from_object,
    .managed_tensor_to_py_object_no_sync = object_from_managed,
    .dltensor_from_py_object_no_sync = describe_object,
    .current_work_stream = current_stream,
};

/* The package sets the capsule as Tensor.__dlpack_c_exchange_api__; the name is DLPack's. */
FB_METHOD_NOARGS(fb_exchange_table_get, "exchange_table", "A capsule with the exchange table of Tensor.") {
  return fb_capsule_new_lasting(ctx, &table, "dlpack_exchange_api");
}

/* --- a table of Python functions ---------------------------------------------------------------------------------- */

/* An exchange table made of Python functions, which the package sets as hooks (ffi_hpy/_optional_torch_c_dlpack.py).
 * This exchange API is slower than a library's own, but in contrast to __dlpack__ alone it makes arrays of that library
 * as results, and reports their streams. `classify` returns the pointer of this table for such a library's classes. */

/* The hook makes a Tensor from the array, and the Tensor is exported. */
static int managed_from_array(HPyContext *ctx, HPy array, DLManagedTensorVersioned **out) {
  HPy tensor = fb_hook_call(ctx, FB_HOOK_ARRAY_TO_TENSOR, &array, 1);
  if (HPy_IsNull(tensor)) return -1;
  TVMFFIObject *handle = tensor_of(ctx, tensor);
  HPy_Close(ctx, tensor);
  if (handle == NULL) return -1;
  int rc = TVMFFITensorToDLPackVersioned(handle, out);
  if (rc != 0) fb_error_raise_pending(ctx, "__dlpack__");
  fb_drop_object(handle, rc);
  return rc;
}

/* The entry of the table. Fails with an exception raised, unless the interpreter is finalizing. */
static int from_object(void *py_object, DLManagedTensorVersioned **out) {
  FbThread attach;
  *out = NULL;
  if (fb_thread_attach(&attach) != 0) return -1;
  HPy array = fb_pyobject_borrow(attach.ctx, py_object);
  int rc = HPy_IsNull(array) ? -1 : managed_from_array(attach.ctx, array, out);
  if (!HPy_IsNull(array)) HPy_Close(attach.ctx, array);
  fb_thread_detach(&attach);
  return rc;
}

HPy fb_exchange_python_array(HPyContext *ctx, TVMFFIObject *tensor) {
  /* fb_wrap_object steals a reference, also on failure. The caller's reference is released at the end, after
   * success. */
  TVMFFIObjectIncRef(tensor);
  HPy wrapper = fb_wrap_object(ctx, tensor);
  if (HPy_IsNull(wrapper)) return wrapper;
  HPy array = fb_hook_call(ctx, FB_HOOK_TENSOR_TO_ARRAY, &wrapper, 1);
  HPy_Close(ctx, wrapper);
  if (!HPy_IsNull(array)) TVMFFIObjectDecRef(tensor);
  return array;
}

/* The entry of the table: passes a device type and index to the hook, which returns a pointer. */
static int stream_by_hook(DLDeviceType device_type, int32_t device_id, void **out) {
  FbThread attach;
  *out = NULL;
  if (fb_thread_attach(&attach) != 0) return -1;
  HPyContext *ctx = attach.ctx;
  HPy device[2] = {HPyLong_FromInt32_t(ctx, device_type), HPyLong_FromInt32_t(ctx, device_id)};
  HPy answer =
      HPy_IsNull(device[0]) || HPy_IsNull(device[1]) ? HPy_NULL : fb_hook_call(ctx, FB_HOOK_ARRAY_STREAM, device, 2);
  for (int i = 0; i < 2; ++i) {
    if (!HPy_IsNull(device[i])) HPy_Close(ctx, device[i]);
  }
  if (!HPy_IsNull(answer)) {
    *out = HPyLong_AsVoidPtr(ctx, answer);
    HPy_Close(ctx, answer);
  }
  int rc = HPyErr_Occurred(ctx) ? -1 : 0;
  fb_thread_detach(&attach);
  return rc;
}

const DLPackExchangeAPI fb_exchange_python_table = {
    .header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, .prev_api = NULL},
    .managed_tensor_from_py_object_no_sync = from_object,
    .current_work_stream = stream_by_hook,
};

FB_METHOD_NOARGS(fb_exchange_python_address, "exchange_from_python",
                 "Address of the exchange table that calls hooks.") {
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)&fb_exchange_python_table);
}
