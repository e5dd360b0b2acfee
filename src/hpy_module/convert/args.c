/* The arguments of a native call: their values, their temporaries, and the scope that they bring. */
#include "args.h"

#include <stdio.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"

/* --- numbers of exchange APIs ------------------------------------------------------------------------------------- */

/* A table's number is its index in a list. Lookup searches the list from its beginning; a process has few array
 * libraries, so the search is short. */

const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* Returns the number of a table, and assigns one if the table has none. Returns 0 if all numbers are in use. Slots are
 * filled in order and never emptied. A thread that loses the race for a slot checks whether the winner stored the same
 * table. */
static uint8_t number_of(const DLPackExchangeAPI *exchange) {
  for (int number = 1; number <= UINT8_MAX; ++number) {
    const DLPackExchangeAPI *there = NULL;
    if (fh_atomic_cas_relaxed(&fb_exchange_number_tables[number], &there, exchange) || there == exchange)
      return (uint8_t)number;
  }
  return 0;
}

void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange) {
  fh_atomic_store_relaxed(&cell->table, number_of(exchange));
}

/* --- the scope of a call ------------------------------------------------------------------------------------------ */

/* The stream and the allocator that the arguments of a call select.
 *
 * Native code gets its stream and its allocator from the thread (c_env_api.h). Both are set for the duration of the
 * call, so that native code runs in order with the library of the arguments, and its results use that library's memory.
 * Streams are per device, and only one device of a call counts: the device of the first tensor outside of host memory
 * whose library reports its stream. */

/* Records the first device with streams, and the stream on which the table's library works. A table that does not
 * report its stream is skipped: on a guessed stream, native code would not run in order with the library. */
static int add_device(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, DLDevice device) {
  TVMFFIStreamHandle stream = NULL;
  if (FH_LIKELY(device.device_type == kDLCPU) || scope->device.device_type != 0) return 0;
  if (exchange->current_work_stream == NULL) return 0;
  if (exchange->current_work_stream(device.device_type, device.device_id, &stream) != 0) {
    if (!HPyErr_Occurred(ctx))
      fb_raise(ctx, ctx->h_RuntimeError, "current_work_stream of an exchange table failed without setting an error");
    return -1;
  }
  scope->device = device;
  scope->stream = stream;
  return 0;
}

/* In an ffi.Tensor, here and below, the DLTensor follows the header. */
int fb_scope_add_tensor(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange,
                        const TVMFFIObject *tensor) {
  scope->exchange = exchange;
  return add_device(ctx, scope, exchange, ((const DLTensor *)(tensor + 1))->device);
}

int fb_scope_add_container(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange,
                           TVMFFIObject *container) {
  static const char name[] = "ffi.ContainerFindFirstNonCPUDevice";
  if (scope->exchange == NULL) scope->exchange = exchange;
  if (scope->device.device_type != 0 || exchange->current_work_stream == NULL) return 0;
  /* The core searches the container and all nested containers for the first device. */
  TVMFFIByteArray text = {name, sizeof(name) - 1};
  TVMFFIObjectHandle find = NULL;
  TVMFFIAny view = {.type_index = container->type_index, .v_obj = container}, found = {0};
  if (TVMFFIFunctionGetGlobal(&text, &find) == 0 && find == NULL) return 0; /* this core cannot search containers */
  int rc = find == NULL ? -1 : TVMFFIFunctionCall(find, &view, 1, &found);
  if (rc != 0) fb_error_raise_pending(ctx, name);
  fb_drop_object(find, rc);
  return rc == 0 && found.type_index == kTVMFFIDevice ? add_device(ctx, scope, exchange, found.v_device) : rc;
}

int fb_scope_add_producer(HPyContext *ctx, FbScope *scope, HPy producer, const TVMFFIObject *tensor) {
  DLDevice device = ((const DLTensor *)(tensor + 1))->device;
  if (FH_LIKELY(device.device_type == kDLCPU) || scope->device.device_type != 0) return 0;
  /* A class without an exchange table may report its stream by a method that returns the stream's pointer. */
  HPy ask = fb_attr_find(ctx, producer, "__tvm_ffi_env_stream__");
  if (HPy_IsNull(ask)) return HPyErr_Occurred(ctx) ? -1 : 0;
  HPy answer = fb_call(ctx, ask, NULL, 0, HPy_NULL);
  HPy_Close(ctx, ask);
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
  /* on failure nothing may stay changed: restore the stream */
  fb_error_raise_pending(ctx, "TVMFFIEnvSetDLPackManagedTensorAllocator");
  if (device.device_type != 0) TVMFFIEnvSetStream(device.device_type, device.device_id, before->stream, NULL);
  return -1;
}

void fb_scope_leave(const FbScope *scope, const FbScopeBefore *before) {
  /* Neither call can fail: fb_scope_enter has created the entry for the device's stream. */
  if (scope->exchange != NULL && scope->exchange->managed_tensor_allocator != NULL)
    TVMFFIEnvSetDLPackManagedTensorAllocator(before->allocator, 0, NULL);
  if (scope->device.device_type != 0)
    TVMFFIEnvSetStream(scope->device.device_type, scope->device.device_id, before->stream, NULL);
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* Arguments of a native call: ownership of their temporaries, and their names in messages. */

TVMFFISafeCallType fb_args_bound_callee;
void (*fb_args_release_borrowed)(TVMFFIObject *object);
void (*fb_args_keep_borrowed)(TVMFFIObject *object);

void fb_args_end_kept(FbPreserved *offer, int rc) {
  TVMFFIObject *left = fb_identity_end_offer(offer);
  if (left != NULL) fb_drop_object(left, rc);
}

void fb_args_end_raised(FbArgs *args) {
  for (int i = 0; i < args->n_temps; ++i) fb_args_end_temp(args->temps[i], FB_DROP_UNKNOWN);
}

const char *fb_args_where(const FbArgs *args, char *buffer, size_t size) {
  int n;
  if (args->position < 0) {
    n = snprintf(buffer, size, "%s", args->callee);
  } else if (*args->callee) {
    n = snprintf(buffer, size, "%s() argument %d", args->callee, args->position + 1);
  } else {
    n = snprintf(buffer, size, FB_MESSAGE_ARGUMENT, args->position + 1);
  }
  fb_cut_end(buffer, size, n);
  return buffer;
}

void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out) {
  if (args->n_temps == n_temps) return;
  /* There is a temporary, either an object made for the value, which is owned already, or a cell. Of a cell, the
   * temporary takes over the object before the use or the offer of the cell ends. */
  uintptr_t tag = args->temps[n_temps].tagged & FB_TEMP_TAGS;
  if (tag == 0 || tag == FB_TEMP_BORROWED || tag == FB_TEMP_OPAQUE) {
    args->temps[n_temps].tagged -= tag;
    if (tag == FB_TEMP_BORROWED) fb_args_keep_borrowed(args->temps[n_temps].object);
    return;
  }
  if (tag == FB_TEMP_MOVE_KEPT) {
    FbPreserved *offer = (FbPreserved *)(args->temps[n_temps].tagged - tag);
    TVMFFIObject *offered = offer->offered;
    offer->offered = NULL; /* like a callee that consumes the handle */
    (void)fb_identity_end_offer(offer);
    args->temps[n_temps].object = offered;
    fb_put_object(out, offered);
    return;
  }
  FbHandleCell *cell = (FbHandleCell *)(args->temps[n_temps].tagged - tag);
  TVMFFIObject *handle = cell->handle;
  if (tag == FB_TEMP_MOVE) {
    /* like a callee that consumes the handle */
    cell->handle = NULL;
    fb_handle_cell_release(cell);
  } else {
    TVMFFIObjectIncRef(handle);
    fb_handle_cell_unuse(cell);
  }
  args->temps[n_temps].object = handle;
  /* *out was already a view of this object, or an rvalue reference to the cell's handle. */
  fb_put_object(out, handle);
}
