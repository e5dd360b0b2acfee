/* Exchange tables of other libraries. */
#include "exchange.h"

#include <stdlib.h>

#include "capsule.h"
#include "convert.h"
#include "dlpack.h"
#include "error.h"
#include "pyobject.h"

bool fb_exchange_is_usable(void) { return fb_contexts_are_lasting && !fb_is_pypy; }

/* Makes sure that an exception is raised after `what` of a table failed. Always returns -1. */
static FB_NOINLINE int table_failed(HPyContext *ctx, const char *what, HPy value) {
  char given[128];
  if (!HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_RuntimeError, "%s of the exchange table of %s failed without saying why", what,
             fb_type_name(ctx, value, given, sizeof(given)));
  }
  return -1;
}

static const uint64_t only_one_reference = UINT64_C(1) << 32 | 1; /* a strong one, and the weak one that belongs to it */

/* --- a tensor that a Python object lends ---------------------------------------------------------------------------- */

/* An ffi.Tensor whose memory stays with a Python object, which it keeps alive. Shape and strides are its own: the library
 * may move the object's. Only where handles are object pointers. */
typedef struct Lent {
  TVMFFIObject header;
  DLTensor tensor;
  const DLPackExchangeAPI *exchange;
  HPy owner;
  int64_t extents[];
} Lent;

/* Blocks for the next arguments, of SPARE_AXES axes or less; the GIL guards them. Without one there are none. */
enum { SPARE_AXES = 6, MOST_SPARE = 16 };
static Lent *spare[MOST_SPARE];
static int n_spare;

static Lent *block_new(size_t n_axes) {
  if (FB_LIKELY(n_axes <= SPARE_AXES)) {
    if (FB_LIKELY(n_spare > 0)) return spare[--n_spare];
    n_axes = SPARE_AXES;
  }
  return malloc(sizeof(Lent) + 2 * n_axes * sizeof(int64_t));
}

/* On an attached thread. */
static void block_end(Lent *lent) {
  if (FB_LIKELY(!fb_free_threaded && lent->tensor.ndim <= SPARE_AXES && n_spare < MOST_SPARE)) {
    spare[n_spare++] = lent;
  } else {
    free(lent);
  }
}

static void lent_delete(void *self, int flags) {
  Lent *lent = self;
  FbAttach attach;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0 && !fb_is_finalizing() && fb_attach(&attach) == 0) {
    TVMFFIObjectHandle error = fb_error_set_aside(); /* what ends here may run Python code, which may use the slot */
    HPy_Close(attach.ctx, lent->owner);
    fb_error_put_back(error);
    fb_detach(&attach);
  }
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) free(lent);
}

void fb_exchange_release(TVMFFIObject *tensor) {
  Lent *lent = (Lent *)tensor;
  /* Acquire: pairs with the release of who gave up another reference. */
  bool is_last =
      atomic_load_explicit((_Atomic(uint64_t) *)&tensor->combined_ref_count, memory_order_acquire) == only_one_reference;
  if (FB_LIKELY(is_last && tensor->deleter == lent_delete)) {
    HPy_Close(fb_ctx, lent->owner); /* what it takes the deleter to know is known here: this thread is attached */
    block_end(lent);
  } else {
    TVMFFIObjectDecRef(tensor);
  }
}

static Lent *lent_new(HPyContext *ctx, const DLTensor *seen) {
  Lent *lent = NULL;
  if (FB_UNLIKELY(seen->ndim < 0)) {
    fb_raise(ctx, ctx->h_ValueError, "expected a tensor of 0 or more dimensions, got ndim %d", (int)seen->ndim);
    return NULL;
  }
  size_t n = (size_t)seen->ndim;
  lent = block_new(n);
  if (FB_UNLIKELY(lent == NULL)) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  lent->header = (TVMFFIObject){
      .combined_ref_count = only_one_reference, .type_index = kTVMFFITensor, .deleter = lent_delete};
  lent->tensor = *seen;
  lent->tensor.shape = lent->extents;
  lent->tensor.strides = lent->extents + n;
  uint64_t stride = 1;
  for (size_t i = n; i-- > 0;) {
    lent->extents[i] = seen->shape[i];
    lent->extents[n + i] = seen->strides != NULL ? seen->strides[i] : (int64_t)stride;
    stride *= (uint64_t)seen->shape[i]; /* wraps around for absurd shapes instead of overflowing */
  }
  return lent;
}

static int lend(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, TVMFFIObject **out) {
  DLTensor seen;
  if (FB_UNLIKELY(exchange->dltensor_from_py_object_no_sync((void *)value._i, &seen) != 0))
    return table_failed(ctx, "dltensor_from_py_object_no_sync", value);
  Lent *lent = lent_new(ctx, &seen);
  if (FB_UNLIKELY(lent == NULL)) return -1;
  lent->exchange = exchange;
  lent->owner = HPy_Dup(ctx, value);
  *out = &lent->header;
  return 0;
}

/* --- in --------------------------------------------------------------------------------------------------------------- */

int fb_exchange_managed(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, int32_t alignment,
                        bool contiguous, TVMFFIObject **out) {
  DLManagedTensorVersioned *managed = NULL;
  void *object = fb_pyobject_begin(ctx, value);
  int rc = exchange->managed_tensor_from_py_object_no_sync(object, &managed);
  fb_pyobject_end(object);
  if (rc != 0 || managed == NULL) return table_failed(ctx, "managed_tensor_from_py_object_no_sync", value);
  return fb_dlpack_take(ctx, managed, alignment, contiguous, out);
}

int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, TVMFFIObject **out) {
  if (FB_LIKELY(fb_ext != NULL && exchange->dltensor_from_py_object_no_sync != NULL))
    return lend(ctx, value, exchange, out);
  return fb_exchange_managed(ctx, value, exchange, 0, false, out);
}

/* --- the surroundings of a call ----------------------------------------------------------------------------------------- */

/* Notes the first device that has streams, with the one that the table's library works on. */
static void add_device(FbScope *scope, const DLPackExchangeAPI *exchange, DLDevice device) {
  TVMFFIStreamHandle stream = NULL;
  if (device.device_type == kDLCPU || scope->device.device_type != 0 || exchange->current_work_stream == NULL) return;
  if (exchange->current_work_stream(device.device_type, device.device_id, &stream) != 0) return;
  scope->device = device;
  scope->stream = stream;
}

void fb_scope_add_tensor(FbScope *scope, const DLPackExchangeAPI *exchange, const TVMFFIObject *tensor) {
  scope->exchange = exchange;
  add_device(scope, exchange, ((const DLTensor *)(tensor + 1))->device);
}

int fb_scope_add_container(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange,
                           TVMFFIObject *container) {
  static const char name[] = "ffi.ContainerFindFirstNonCPUDevice";
  if (scope->exchange == NULL) scope->exchange = exchange;
  if (scope->device.device_type != 0 || exchange->current_work_stream == NULL) return 0;
  TVMFFIByteArray text = {name, sizeof(name) - 1};
  TVMFFIObjectHandle find = NULL;
  TVMFFIAny view = {.type_index = container->type_index, .v_obj = container}, found = {0};
  if (TVMFFIFunctionGetGlobal(&text, &find) == 0 && find == NULL) return 0; /* this core cannot look into containers */
  int rc = find == NULL ? -1 : TVMFFIFunctionCall(find, &view, 1, &found);
  if (rc != 0) fb_error_raise_pending(ctx, name);
  if (find != NULL) TVMFFIObjectDecRef(find);
  if (rc == 0 && found.type_index == kTVMFFIDevice) add_device(scope, exchange, found.v_device);
  return rc;
}

int fb_scope_add_producer(HPyContext *ctx, FbScope *scope, HPy producer, const TVMFFIObject *tensor) {
  DLDevice device = ((const DLTensor *)(tensor + 1))->device;
  if (FB_LIKELY(device.device_type == kDLCPU) || scope->device.device_type != 0) return 0;
  if (!HPy_HasAttr_s(ctx, producer, "__tvm_ffi_env_stream__")) return 0;
  HPy ask = HPy_GetAttr_s(ctx, producer, "__tvm_ffi_env_stream__");
  HPy answer = HPy_IsNull(ask) ? HPy_NULL : fb_call(ctx, ask, NULL, 0, HPy_NULL);
  if (!HPy_IsNull(ask)) HPy_Close(ctx, ask);
  if (HPy_IsNull(answer)) return -1;
  void *stream = HPyLong_AsVoidPtr(ctx, answer);
  HPy_Close(ctx, answer);
  if (stream == NULL && HPyErr_Occurred(ctx)) return -1;
  scope->device = device;
  scope->stream = stream;
  return 0;
}

int fb_scope_enter(HPyContext *ctx, const FbScope *scope, FbScopeBefore *before) {
  DLDevice device = scope->device;
  if (device.device_type != 0 &&
      TVMFFIEnvSetStream(device.device_type, device.device_id, scope->stream, &before->stream) != 0) {
    fb_error_raise_pending(ctx, "TVMFFIEnvSetStream");
    return -1;
  }
  if (scope->exchange == NULL || scope->exchange->managed_tensor_allocator == NULL) return 0;
  if (TVMFFIEnvSetDLPackManagedTensorAllocator(scope->exchange->managed_tensor_allocator, 0, &before->allocator) == 0)
    return 0;
  fb_error_raise_pending(ctx, "TVMFFIEnvSetDLPackManagedTensorAllocator");
  if (device.device_type != 0) TVMFFIEnvSetStream(device.device_type, device.device_id, before->stream, NULL);
  return -1;
}

void fb_scope_leave(const FbScope *scope, const FbScopeBefore *before) {
  /* Neither can fail: there is a place for the device's stream since fb_scope_enter. */
  if (scope->exchange != NULL && scope->exchange->managed_tensor_allocator != NULL)
    TVMFFIEnvSetDLPackManagedTensorAllocator(before->allocator, 0, NULL);
  if (scope->device.device_type != 0)
    TVMFFIEnvSetStream(scope->device.device_type, scope->device.device_id, before->stream, NULL);
}

/* --- out -------------------------------------------------------------------------------------------------------------- */

/* A new object of the table's library; takes the handle if it succeeds. HPy_NULL with an exception raised. */
static HPy tensor_out(HPyContext *ctx, TVMFFIObject *handle, const DLPackExchangeAPI *exchange) {
  const Lent *lent = (const Lent *)handle;
  if (handle->deleter == lent_delete && lent->exchange == exchange) { /* it comes back as what it was */
    HPy owner = HPy_Dup(ctx, lent->owner);
    TVMFFIObjectDecRef(handle);
    return owner;
  }
  DLManagedTensorVersioned *managed = NULL;
  void *object = NULL;
  if (TVMFFITensorToDLPackVersioned(handle, &managed) != 0) return fb_error_raise_pending(ctx, "__dlpack__");
  if (exchange->managed_tensor_to_py_object_no_sync(managed, &object) == 0 && object != NULL) {
    TVMFFIObjectDecRef(handle);
    return fb_pyobject_take(ctx, object);
  }
  managed->deleter(managed);
  if (!HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_RuntimeError, "managed_tensor_to_py_object_no_sync failed without saying why");
  }
  return HPy_NULL;
}

/* Whether the raised exception means that the library does not take such a tensor. */
static bool is_refusal(HPyContext *ctx) {
  return HPyErr_ExceptionMatches(ctx, ctx->h_Exception) && !HPyErr_ExceptionMatches(ctx, ctx->h_MemoryError);
}

static HPy tensor_result(HPyContext *ctx, TVMFFIObject *handle, const DLPackExchangeAPI *exchange, bool is_required) {
  if (exchange->managed_tensor_to_py_object_no_sync == NULL) return fb_object_wrap(ctx, handle);
  HPy result = tensor_out(ctx, handle, exchange);
  if (FB_LIKELY(!HPy_IsNull(result))) return result;
  if (is_required || !is_refusal(ctx)) {
    TVMFFIObjectDecRef(handle);
    return HPy_NULL;
  }
  HPyErr_Clear(ctx);
  return fb_object_wrap(ctx, handle);
}

_Atomic(const DLPackExchangeAPI *) fb_exchange_numbered[UINT8_MAX + 1];

/* The number of a table, given if need be; 0 once there are too many. */
static uint8_t number_of(const DLPackExchangeAPI *exchange) {
  for (int number = 1; number <= UINT8_MAX; number++) {
    const DLPackExchangeAPI *there = NULL;
    if (atomic_compare_exchange_strong_explicit(&fb_exchange_numbered[number], &there, exchange, memory_order_relaxed,
                                                memory_order_relaxed) ||
        there == exchange)
      return (uint8_t)number;
  }
  return 0;
}

static void mark_container(HPyContext *ctx, HPy container, const DLPackExchangeAPI *exchange) {
  FbPlace *place = fb_object_place(ctx, container);
  if (place != NULL) atomic_store_explicit(&place->table, number_of(exchange), memory_order_relaxed);
}

HPy fb_exchange_result(HPyContext *ctx, TVMFFIAny *value, const DLPackExchangeAPI *exchange, bool is_required) {
  HPy result;
  TVMFFIObject *borrowed;
  switch (value->type_index) {
  case kTVMFFITensor: return tensor_result(ctx, value->v_obj, exchange, is_required);
  case kTVMFFIDLTensorPtr:
    borrowed = fb_dlpack_borrow(ctx, value->v_ptr);
    return borrowed == NULL ? HPy_NULL : tensor_result(ctx, borrowed, exchange, is_required);
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap:
  case kTVMFFIDict:
    result = fb_object_wrap(ctx, value->v_obj);
    if (!HPy_IsNull(result)) mark_container(ctx, result, exchange);
    return result;
  default: return fb_convert_result(ctx, value);
  }
}

/* --- finding a table -------------------------------------------------------------------------------------------------- */

static const char capsule_name[] = "dlpack_exchange_api";

const DLPackExchangeAPI *fb_exchange_read(HPyContext *ctx, HPy capsule) {
  const DLPackExchangeAPIHeader *header;
  char given[128];
  if (fb_capsule_is_valid(ctx, capsule, capsule_name)) {
    header = fb_capsule_get(ctx, capsule, capsule_name);
  } else if (HPy_TypeCheck(ctx, capsule, ctx->h_LongType)) {
    header = HPyLong_AsVoidPtr(ctx, capsule);
    if (header == NULL && !HPyErr_Occurred(ctx)) fb_raise(ctx, ctx->h_ValueError, "an exchange table is not at 0");
  } else {
    fb_raise(ctx, ctx->h_TypeError, "__dlpack_c_exchange_api__: expected a capsule named %s, got %s", capsule_name,
             fb_type_name(ctx, capsule, given, sizeof(given)));
    return NULL;
  }
  while (header != NULL && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
  const DLPackExchangeAPI *exchange = (const DLPackExchangeAPI *)header;
  return exchange != NULL && exchange->managed_tensor_from_py_object_no_sync != NULL ? exchange : NULL;
}

HPyDef_METH(fb_exchange_address, "exchange_address", HPyFunc_O,
            .doc = "Address of the exchange table in a capsule; 0 if it is of no version that is understood.")
static HPy fb_exchange_address_impl(HPyContext *ctx, HPy self, HPy capsule) {
  (void)self;
  const DLPackExchangeAPI *exchange = fb_exchange_read(ctx, capsule);
  if (exchange == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)exchange);
}
