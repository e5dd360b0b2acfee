/* What the arguments of a call say about its surroundings: the stream and the allocator of their library. */
#ifndef FFI_HPY_CONVERT_SCOPE_H_
#define FFI_HPY_CONVERT_SCOPE_H_

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "hpy_module/context/context.h"

/* All zero: nothing. */
typedef struct FbScope {
  const DLPackExchangeAPI *exchange; /* of the last tensor with a table, else of the first container with one */
  DLDevice device;                   /* of the first tensor outside of the host's memory; type 0: there is none */
  TVMFFIStreamHandle stream;         /* on which its library works */
} FbScope;

/* What a call must put back. */
typedef struct FbScopeBefore {
  TVMFFIStreamHandle stream;
  DLPackManagedTensorAllocator allocator;
} FbScopeBefore;

FH_INLINE bool fb_scope_is_set(const FbScope *scope) {
  return ((uintptr_t)scope->exchange | (uintptr_t)scope->device.device_type) != 0;
}

/* Makes the calling thread's stream and allocator those of the scope. Returns 0, or -1 with an exception raised and
 * nothing changed. */
int fb_scope_enter(HPyContext *ctx, const FbScope *scope, FbScopeBefore *before);
/* Puts them back. Keeps the thread's native error. */
void fb_scope_leave(const FbScope *scope, const FbScopeBefore *before);

/* Each notes something that is among the arguments. They return 0, or -1 with an exception raised.
 * A tensor that came through a table: */
int fb_scope_add_tensor(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, const TVMFFIObject *tensor);
/* A container that was returned under a table, and so may hold tensors: */
int fb_scope_add_container(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, TVMFFIObject *container);
/* A tensor whose owner tells its stream by __tvm_ffi_env_stream__: */
int fb_scope_add_producer(HPyContext *ctx, FbScope *scope, HPy producer, const TVMFFIObject *tensor);

#endif /* FFI_HPY_CONVERT_SCOPE_H_ */
