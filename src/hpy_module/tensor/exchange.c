/* Exchange tables of other libraries: conversion of their arrays and of native tensors, and the lookup of a table.
 *
 * The functions of a table use the interpreter's object pointers and report failure like C API functions, by a raised
 * exception. If a function fails without an exception, this file raises one. */
#include "exchange.h"

#include "borrowed.h"
#include "core/platform/atomic.h"
#include "exchange_table.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object_type.h"
#include "managed.h"
#include "parts.h"

/* PyPy 7.3 has no object pointers. hpy's debug mode has no context that outlives a call, and the functions of tables
 * like ours get none. */
bool fb_exchange_is_usable(void) { return fb_context_is_lasting && !fb_context_is_pypy; }

/* Ensures that an exception is raised after the table's function `what` failed. Always returns -1. */
static FH_NOINLINE int table_failed(HPyContext *ctx, const char *what, HPy value) {
  char given[128];
  if (!HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_RuntimeError, "%s of the exchange table of %s failed without setting an error", what,
             fb_attr_type_name(ctx, value, given, sizeof(given)));
  }
  return -1;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* The library makes a managed tensor. */
static int from_managed(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, FbDemands demands,
                        TVMFFIObject **out) {
  DLManagedTensorVersioned *managed = NULL;
  void *object = fb_pyobject_begin(ctx, value);
  int rc = exchange->managed_tensor_from_py_object_no_sync(object, &managed);
  fb_pyobject_end(object);
  if (rc != 0 || managed == NULL) return table_failed(ctx, "managed_tensor_from_py_object_no_sync", value);
  return fb_managed_take(ctx, managed, demands, out);
}

/* The library describes the array. *seen may point into the object. */
static int describe(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, DLTensor *seen) {
  if (FH_LIKELY(exchange->dltensor_from_py_object_no_sync((void *)value._i, seen) == 0)) return 0;
  return table_failed(ctx, "dltensor_from_py_object_no_sync", value);
}

/* The function is optional in a table, and only the extension makes the handle an object pointer. */
FH_INLINE bool can_describe(const DLPackExchangeAPI *exchange) {
  return FH_LIKELY(fb_ext != NULL && exchange->dltensor_from_py_object_no_sync != NULL);
}

/* The table of the library whose memory is never read-only, which a description could not express; NULL: no such
 * library is known. Relaxed: the pointer is only compared and not dereferenced. */
static const DLPackExchangeAPI *writable;

int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, FbDemands demands,
                       TVMFFIObject **out) {
  DLTensor seen;
  bool is_plain = demands.alignment == 0 && !demands.contiguous && exchange == fh_atomic_load_relaxed(&writable);
  if (!is_plain || !can_describe(exchange)) return from_managed(ctx, value, exchange, demands, out);
  if (FH_UNLIKELY(describe(ctx, value, exchange, &seen) != 0)) return -1;
  /* Not `exchange`: the tensor is ours, and is exported as a new array, not as `value`. */
  *out = fb_borrowed_new(ctx, value, NULL, &seen);
  return *out == NULL ? -1 : 0;
}

FB_METHOD_O(fb_exchange_writable, "exchange_writable", address,
            "From now on the arrays of the table at this address count as writable, all of them.") {
  const DLPackExchangeAPI *exchange = HPyLong_AsVoidPtr(ctx, address);
  if (exchange == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  fh_atomic_store_relaxed(&writable, exchange);
  return HPy_Dup(ctx, ctx->h_None);
}

/* Makes an ffi.Tensor over the memory of `value` for the duration of a call; fb_borrowed_release ends it. Returns 0, or
 * -1 with an exception raised. */
static int tensor_of(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, bool reads, TVMFFIObject **out) {
  DLTensor seen;
  if (FH_UNLIKELY(!can_describe(exchange))) return from_managed(ctx, value, exchange, (FbDemands){.reads = reads}, out);
  if (FH_UNLIKELY(describe(ctx, value, exchange, &seen) != 0)) return -1;
  *out = fb_borrowed_lend(ctx, value, exchange, &seen);
  return *out == NULL ? -1 : 0;
}

/* An FbConversion. Records the table and the stream in the scope of the call, if there is one. */
static int exchange_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  unsigned protocols;
  const DLPackExchangeAPI *exchange = fb_type_tag_exchange(ctx, value, &protocols);
  TVMFFIObject *made;
  if (FH_UNLIKELY(exchange == NULL)) return -1;
  if ((protocols & FB_PROTOCOL_LAZY_BITS) != 0 && FH_UNLIKELY(fb_lazy_bits_check(ctx, value) != 0)) return -1;
  if (FH_UNLIKELY(tensor_of(ctx, value, exchange, args->reads, &made) != 0)) return -1;
  if (args->scope != NULL && FH_UNLIKELY(fb_scope_add_tensor(ctx, args->scope, exchange, made) != 0)) {
    fb_borrowed_release(made);
    return -1;
  }
  fb_args_view(args, made, out);
  /* fb_borrowed_release accepts both kinds of tensors. */
  args->temps[args->n_temps - 1].tagged += FB_TEMP_BORROWED;
  return 0;
}

void fb_exchange_init(void) {
  fb_args_release_borrowed = fb_borrowed_release;
  fb_args_keep_borrowed = fb_borrowed_keep;
  if (fb_ext != NULL) fb_object_type_end_only = fb_borrowed_end_only;
  fb_argument_set_conversion(FB_TYPE_KIND_EXCHANGE, exchange_argument);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

/* Makes an object of the table's library; steals the handle only on success. HPy_NULL with an exception raised. */
static HPy tensor_out(HPyContext *ctx, TVMFFIObject *handle, const DLPackExchangeAPI *exchange) {
  const FbBorrowed *borrowed = fb_borrowed_find(handle);
  if (borrowed != NULL && borrowed->exchange == exchange) { /* the call returned an argument: return the same array */
    HPy owner = HPy_Dup(ctx, borrowed->owner);
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
  /* A library that fails has not taken the managed tensor. */
  fb_drop_versioned(managed);
  if (!HPyErr_Occurred(ctx)) {
    fb_raise(ctx, ctx->h_RuntimeError, "managed_tensor_to_py_object_no_sync failed without setting an error");
  }
  return HPy_NULL;
}

/* Whether the raised exception means that the library does not accept such a tensor. */
static bool is_refusal(HPyContext *ctx) {
  return HPyErr_ExceptionMatches(ctx, ctx->h_Exception) && !HPyErr_ExceptionMatches(ctx, ctx->h_MemoryError);
}

/* Converts a tensor and steals it, also on failure. The result is a Tensor if the table cannot make arrays, or if the
 * library refuses this tensor and the caller accepts a Tensor. */
static HPy tensor_result(HPyContext *ctx, TVMFFIObject *handle, const DLPackExchangeAPI *exchange, bool is_required) {
  if (exchange->managed_tensor_to_py_object_no_sync == NULL && exchange != &fb_exchange_python_table)
    return fb_wrap_object(ctx, handle);
  HPy result = tensor_out(ctx, handle, exchange);
  if (FH_LIKELY(!HPy_IsNull(result))) return result;
  if (is_required || !is_refusal(ctx)) {
    fb_drop_object(handle, -1);
    return HPy_NULL;
  }
  HPyErr_Clear(ctx);
  return fb_wrap_object(ctx, handle);
}

/* The items of a container are converted when they are read; its wrapper stores the number of the table. */
static void mark_container(HPyContext *ctx, HPy container, const DLPackExchangeAPI *exchange) {
  FbHandleCell *cell = fb_object_cell(ctx, container);
  if (cell != NULL) fb_exchange_number_set(cell, exchange);
}

HPy fb_exchange_result(HPyContext *ctx, TVMFFIAny *value, const DLPackExchangeAPI *exchange, bool is_required) {
  HPy result;
  TVMFFIObject *borrowed;
  switch (value->type_index) {
  case kTVMFFITensor: return tensor_result(ctx, value->v_obj, exchange, is_required);
  case kTVMFFIDLTensorPtr: /* memory without an owner: an argument of a callback */
    borrowed = fb_managed_borrow(ctx, value->v_ptr);
    return borrowed == NULL ? HPy_NULL : tensor_result(ctx, borrowed, exchange, is_required);
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap:
  case kTVMFFIDict:
    result = fb_wrap_object(ctx, value->v_obj);
    if (!HPy_IsNull(result)) mark_container(ctx, result, exchange);
    return result;
  default: return fb_result_make(ctx, value);
  }
}

HPy fb_exchange_view(HPyContext *ctx, const TVMFFIAny *view, const DLPackExchangeAPI *exchange) {
  TVMFFIAny value;
  return fb_result_retain(ctx, view, &value) == 0 ? fb_exchange_result(ctx, &value, exchange, true) : HPy_NULL;
}

/* --- lookup of a table -------------------------------------------------------------------------------------------- */

static const char capsule_name[] = "dlpack_exchange_api";

const DLPackExchangeAPI *fb_exchange_read(HPyContext *ctx, HPy capsule) {
  const DLPackExchangeAPIHeader *header;
  char given[128];
  if (fb_capsule_is_valid(ctx, capsule, capsule_name)) {
    header = fb_capsule_get(ctx, capsule, capsule_name);
  } else if (HPy_TypeCheck(ctx, capsule, ctx->h_LongType)) {
    header = HPyLong_AsVoidPtr(ctx, capsule);
    if (header == NULL && !HPyErr_Occurred(ctx))
      fb_raise(ctx, ctx->h_ValueError, "expected the address of an exchange table, got 0");
  } else {
    fb_raise(ctx, ctx->h_TypeError, "__dlpack_c_exchange_api__: expected a capsule named %s, got %s", capsule_name,
             fb_attr_type_name(ctx, capsule, given, sizeof(given)));
    return NULL;
  }
  /* Tables of other DLPack versions are linked by prev_api. All begin with the header, so it may be read before the
   * version is known. */
  while (header != NULL && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
  const DLPackExchangeAPI *exchange = (const DLPackExchangeAPI *)header;
  /* The only function that this binding always needs. */
  return exchange != NULL && exchange->managed_tensor_from_py_object_no_sync != NULL ? exchange : NULL;
}

FB_METHOD_O(fb_exchange_address, "exchange_address", capsule,
            "Address of the exchange table in a capsule; 0 if it is of no version that is understood.") {
  const DLPackExchangeAPI *exchange = fb_exchange_read(ctx, capsule);
  if (exchange == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)exchange);
}
