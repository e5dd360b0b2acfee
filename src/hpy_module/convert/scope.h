/* The scope of a call: the stream and the allocator that the libraries of the arguments use. */
#ifndef FFI_HPY_CONVERT_SCOPE_H_
#define FFI_HPY_CONVERT_SCOPE_H_

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "hpy_module/context/context.h"

/* All zero: the scope is empty. */
typedef struct FbScope {
  /* table of the last tensor with a table, else of the first container with a table */
  const DLPackExchangeAPI *exchange;
  DLDevice device;                   /* device of the first tensor outside of host memory; type 0: there is none */
  TVMFFIStreamHandle stream;         /* the stream on which the library of that tensor works */
} FbScope;

/* The previous stream and allocator, which fb_scope_leave restores. */
typedef struct FbScopeBefore {
  TVMFFIStreamHandle stream;
  DLPackManagedTensorAllocator allocator;
} FbScopeBefore;

FH_INLINE bool fb_scope_is_set(const FbScope *scope) {
  return ((uintptr_t)scope->exchange | (uintptr_t)scope->device.device_type) != 0;
}

/* Sets the calling thread's stream and allocator to those of the scope. Returns 0, or -1 with an exception raised and
 * nothing changed. */
int fb_scope_enter(HPyContext *ctx, const FbScope *scope, FbScopeBefore *before);
/* Restores the previous stream and allocator. Keeps the thread's native error. */
void fb_scope_leave(const FbScope *scope, const FbScopeBefore *before);

/* Each of the three functions below records an argument. Returns 0, or -1 with an exception raised.
 * A tensor that was imported through an exchange table: */
int fb_scope_add_tensor(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, const TVMFFIObject *tensor);
/* A container that was returned under a table, and so may contain tensors: */
int fb_scope_add_container(HPyContext *ctx, FbScope *scope, const DLPackExchangeAPI *exchange, TVMFFIObject *container);
/* A tensor whose owner reports its stream by __tvm_ffi_env_stream__: */
int fb_scope_add_producer(HPyContext *ctx, FbScope *scope, HPy producer, const TVMFFIObject *tensor);

#endif /* FFI_HPY_CONVERT_SCOPE_H_ */
