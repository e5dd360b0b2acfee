/* An exchange table made of Python functions, which the package sets as hooks (ffi_hpy/_optional_torch_c_dlpack.py). It
 * is slower than a library's own table, but in contrast to __dlpack__ alone it makes arrays of that library as results,
 * and reports their streams. `classify` returns the pointer of this table for such a library's classes. */
#include "exchange_python.h"

#include "exchange_table.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/pyobject.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/wrap.h"

/* The hook makes a Tensor from the array, and the Tensor is exported. */
static int managed_from_array(HPyContext *ctx, HPy array, DLManagedTensorVersioned **out) {
  HPy tensor = fb_hook_call(ctx, FB_HOOK_ARRAY_TO_TENSOR, &array, 1);
  if (HPy_IsNull(tensor)) return -1;
  TVMFFIObject *handle = fb_exchange_table_handle(ctx, tensor);
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
static int current_stream(DLDeviceType device_type, int32_t device_id, void **out) {
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
    .current_work_stream = current_stream,
};

HPyDef_METH(fb_exchange_python_address, "exchange_from_python", HPyFunc_NOARGS,
            .doc = "Address of the exchange table that calls hooks.")
static HPy fb_exchange_python_address_impl(HPyContext *ctx, HPy self) {
  (void)self;
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)&fb_exchange_python_table);
}
