/* Exchange tables of other libraries. */
#include "exchange.h"

#include "capsule.h"
#include "convert.h"
#include "dlpack.h"
#include "error.h"
#include "exchange_python.h"
#include "lent.h"
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

static int lend(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, TVMFFIObject **out) {
  DLTensor seen;
  if (FB_UNLIKELY(exchange->dltensor_from_py_object_no_sync((void *)value._i, &seen) != 0))
    return table_failed(ctx, "dltensor_from_py_object_no_sync", value);
  *out = fb_lent_new(ctx, value, exchange, &seen);
  return *out == NULL ? -1 : 0;
}

int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, TVMFFIObject **out) {
  if (FB_LIKELY(fb_ext != NULL && exchange->dltensor_from_py_object_no_sync != NULL))
    return lend(ctx, value, exchange, out);
  return fb_exchange_managed(ctx, value, exchange, 0, false, out);
}

/* --- out -------------------------------------------------------------------------------------------------------------- */

/* A new object of the table's library; takes the handle if it succeeds. HPy_NULL with an exception raised. */
static HPy tensor_out(HPyContext *ctx, TVMFFIObject *handle, const DLPackExchangeAPI *exchange) {
  const FbLent *lent = fb_lent_find(handle);
  if (lent != NULL && lent->exchange == exchange) { /* it comes back as what it was */
    HPy owner = HPy_Dup(ctx, lent->owner);
    TVMFFIObjectDecRef(handle);
    return owner;
  }
  if (exchange == &fb_exchange_python_table) return fb_exchange_python_array(ctx, handle);
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
  if (exchange->managed_tensor_to_py_object_no_sync == NULL && exchange != &fb_exchange_python_table)
    return fb_object_wrap(ctx, handle);
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
