/* Exchange tables (DLPackExchangeAPI): what array libraries offer to C callers, used for arguments and for results.
 *
 * A table lives as long as the process and does not change. Its functions that take or give a Python object want the
 * calling thread attached. Tables are used where handles are, or translate to, the interpreter's object pointers:
 * not on PyPy 7.3, where arrays take the way of __dlpack__. */
#ifndef FFI_HPY_MODULE_EXCHANGE_H_
#define FFI_HPY_MODULE_EXCHANGE_H_

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "object.h"

/* What the arguments of a call say about its surroundings. All zero: nothing. */
typedef struct FbScope {
  const DLPackExchangeAPI *exchange; /* of the last tensor with one, else of the first container with one */
  DLDevice device;                   /* of the first tensor outside of the host's memory; type 0: there is none */
  TVMFFIStreamHandle stream;         /* on which its library works */
} FbScope;

/* What a call must put back. */
typedef struct FbScopeBefore {
  TVMFFIStreamHandle stream;
  DLPackManagedTensorAllocator allocator;
} FbScopeBefore;

FB_INLINE bool fb_scope_is_set(const FbScope *scope) {
  return ((uintptr_t)scope->exchange | (uintptr_t)scope->device.device_type) != 0;
}

/* Makes the calling thread's stream and allocator those of the scope. Returns 0, or -1 with an exception raised and
 * nothing changed. */
int fb_scope_enter(HPyContext *ctx, const FbScope *scope, FbScopeBefore *before);
/* Puts them back. Keeps the thread's native error. */
void fb_scope_leave(const FbScope *scope, const FbScopeBefore *before);

/* Whether this context can use tables. */
bool fb_exchange_is_usable(void);

/* The tables that containers were returned under, by their numbers, which begin at 1. Written once each; a table is
 * constant, so that nothing is ordered by these words. */
extern _Atomic(const DLPackExchangeAPI *) fb_exchange_numbered[UINT8_MAX + 1];

/* The table that a container was returned under; NULL: none. */
FB_INLINE const DLPackExchangeAPI *fb_exchange_of(const FbPlace *place) {
  uint8_t number = atomic_load_explicit(&place->table, memory_order_relaxed);
  if (FB_LIKELY(number == 0)) return NULL;
  return atomic_load_explicit(&fb_exchange_numbered[number], memory_order_relaxed);
}

/* An ffi.Tensor over the memory of `value`, an instance of the class that has the table. *out is owned.
 * Returns 0, or -1 with an exception raised. */
int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, TVMFFIObject **out);
/* Gives such a tensor back at the end of a call, on the thread that made it. */
void fb_exchange_release(TVMFFIObject *tensor);
/* The same with the demands of TVMFFITensorFromDLPack, and the library's own hold on the memory instead of `value`. */
int fb_exchange_managed(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, int32_t alignment,
                        bool contiguous, TVMFFIObject **out);

/* Notes in a scope that a tensor which came through a table is among the arguments. */
void fb_scope_add_tensor(FbScope *scope, const DLPackExchangeAPI *exchange, const TVMFFIObject *tensor);
/* The same for a container that was returned under a table, and so may hold tensors. 0, or -1 with an exception. */
int fb_scope_add_container(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, TVMFFIObject *container);
/* The same for a tensor whose owner tells its stream by __tvm_ffi_env_stream__. 0, or -1 with an exception raised. */
int fb_scope_add_producer(HPyContext *ctx, FbScope *scope, HPy producer, const TVMFFIObject *tensor);

/* As fb_convert_result, for the caller of a call in a scope: a tensor becomes one of the table's library, and a container
 * will give out its tensors as such. A tensor that the library refuses stays a Tensor; with `is_required` that is the
 * library's exception. */
HPy fb_exchange_result(HPyContext *ctx, TVMFFIAny *value, const DLPackExchangeAPI *exchange, bool is_required);

/* The table behind a capsule named dlpack_exchange_api, or at an address. NULL with an exception raised if there is
 * none, without one if there is none of DLPack 1. */
const DLPackExchangeAPI *fb_exchange_read(HPyContext *ctx, HPy capsule);

extern HPyDef fb_exchange_address;

#endif /* FFI_HPY_MODULE_EXCHANGE_H_ */
