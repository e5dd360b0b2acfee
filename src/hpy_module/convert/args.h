/* The arguments of a native call: their values, their temporaries, and the scope that they bring. */
#pragma once

#include <dlpack/dlpack.h>
#include <stdint.h>
#include <string.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "hpy_module/context/context.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/object/handle_cell.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"

/* --- numbers of exchange APIs ------------------------------------------------------------------------------------- */

/* Numbers for the exchange API tables under which containers were returned. A number fits into a handle cell.
 *
 * A table is constant and lives as long as the process. Each number belongs to one table for good. */

/* Numbers begin at 1. Relaxed loads are enough, because a table is constant. */
extern const DLPackExchangeAPI *fb_exchange_number_tables[UINT8_MAX + 1];

/* Returns the exchange table under which a container was returned, or NULL. */
FH_INLINE const DLPackExchangeAPI *fb_exchange_number_find(const FbHandleCell *cell) {
  uint8_t number = fh_atomic_load_relaxed(&cell->table);
  if (FH_LIKELY(number == 0)) return NULL;
  return fh_atomic_load_relaxed(&fb_exchange_number_tables[number]);
}

/* Records that a container was returned under `exchange`. Does nothing once all numbers are in use. */
void fb_exchange_number_set(FbHandleCell *cell, const DLPackExchangeAPI *exchange);

/* --- the scope of a call ------------------------------------------------------------------------------------------ */

/* The scope of a call: the stream and the allocator that the libraries of the arguments use. */

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

/* Sets the calling thread's stream and allocator to the scope's. Returns 0, or -1 with an exception raised and
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

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* Writes native values that own nothing: plain values and views of objects. */

/* Makes *out the value with one store of 16 bytes. A C++ callee copies the value with one load of 16 bytes. An x86-64
 * processor forwards one 16-byte store to such a load; after two stores of 8 bytes, the load waits until both have
 * reached the cache. */
FH_INLINE void fb_put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
#if defined(__x86_64__) && defined(__GNUC__)
  typedef int64_t Words __attribute__((vector_size(16), aligned(8), may_alias));
  *(Words *)out = (Words){type_index, payload}; /* zero_padding is the upper half of the first word */
#else
  out->type_index = type_index;
  out->zero_padding = 0;
  out->v_int64 = payload;
#endif
}

FH_INLINE void fb_put_float(TVMFFIAny *out, double number) {
  int64_t payload;
  memcpy(&payload, &number, sizeof(payload));
  fb_put(out, kTVMFFIFloat, payload);
}

FH_INLINE void fb_put_object(TVMFFIAny *out, TVMFFIObject *object) {
  fb_put(out, object->type_index, (int64_t)(intptr_t)object);
}

/* --- temporaries ------------------------------------------------------------------------------------------------- */

/* The arguments of one native call during their conversion, and the temporaries that the call releases at its end. */

/* A temporary: an object made for the call, or a use of an object that a wrapper owns. */
typedef union FbTemp {
  TVMFFIObject *object; /* owned */
  /* An FbHandleCell pointer plus FB_TEMP_USE or FB_TEMP_MOVE, an FbPreserved pointer plus FB_TEMP_MOVE_KEPT, or an
   * owned object pointer plus FB_TEMP_BORROWED or FB_TEMP_OPAQUE. All of them are multiples of 8. */
  uintptr_t tagged;
} FbTemp;

enum {
  FB_TEMP_USE = 1, /* a use of the cell */
  FB_TEMP_MOVE = 2, /* an offer of the cell's handle */
  /* an object over a Python object that the caller keeps alive; fb_args_release_borrowed destroys the object */
  FB_TEMP_BORROWED = 3,
  FB_TEMP_MOVE_KEPT = 4, /* an offer of the handle of a wrapper with state */
  FB_TEMP_OPAQUE = 5, /* an object that owns a Python object, which the caller keeps alive; requires the extension */
  FB_TEMP_TAGS = 7,
};

typedef struct FbArgs {
  FbTemp *temps; /* room for one per argument */
  int n_temps;
  int depth; /* nesting of containers, converters */
  int position; /* 0-based index of the argument being converted, for messages; -1: a return value or a field */
  bool reads; /* the callee only reads the array being converted, which may then be read-only */
  const char *callee; /* for messages, "" if unknown */
  FbScope *scope; /* of the call; NULL: the value is not converted for a call */
  const TVMFFIObject *function; /* the Function that is called; NULL as for `scope` */
} FbArgs;

/* The function behind each Function of a bound library; NULL until the first library is imported. */
extern FB_HIDDEN TVMFFISafeCallType fb_args_bound_callee;
/* Whether the arguments are for such a Function. */
FH_INLINE bool fb_args_are_for_library(const FbArgs *args) {
  if (args->function == NULL) return false;
  TVMFFISafeCallType callee = ((const TVMFFIFunctionCell *)(args->function + 1))->safe_call;
  return callee == fh_atomic_load_relaxed(&fb_args_bound_callee);
}

/* fb_args_release_borrowed ends an FB_TEMP_BORROWED object on the thread that made the object. After
 * fb_args_keep_borrowed the object owns its Python object and is an ordinary owned object. The tensor folder sets both
 * once, during the import. */
extern void (*fb_args_release_borrowed)(TVMFFIObject *object);
extern void (*fb_args_keep_borrowed)(TVMFFIObject *object);

/* Ends an offer of a wrapper with state. */
void fb_args_end_kept(FbPreserved *offer, int rc);

FH_INLINE void fb_args_end_temp(FbTemp temp, int rc) {
  FbHandleCell *cell = (FbHandleCell *)(temp.tagged & ~(uintptr_t)FB_TEMP_TAGS);
  switch (temp.tagged & FB_TEMP_TAGS) {
  case FB_TEMP_USE: fb_handle_cell_unuse(cell); break;
  case FB_TEMP_MOVE: fb_handle_cell_release(cell); break;
  case FB_TEMP_MOVE_KEPT: fb_args_end_kept((FbPreserved *)cell, rc); break;
  case FB_TEMP_BORROWED: fb_args_release_borrowed((TVMFFIObject *)cell); break;
  case FB_TEMP_OPAQUE: fb_opaque_end(fb_ctx, (TVMFFIObject *)cell, rc); break;
  default: fb_drop_object(temp.object, rc); break;
  }
}

void fb_args_end_raised(FbArgs *args);
/* Releases the temporaries. `rc` is the caller's return code: if it is 0, no exception is raised. */
FH_INLINE void fb_args_end(FbArgs *args, int rc) {
  if (FH_UNLIKELY(rc != 0)) {
    fb_args_end_raised(args);
    return;
  }
  for (int i = 0; i < args->n_temps; ++i) fb_args_end_temp(args->temps[i], 0);
}

/* Steals `handle` as a temporary and makes *out a view of it. Returns 0. */
FH_INLINE int fb_args_view(FbArgs *args, TVMFFIObject *handle, TVMFFIAny *out) {
  args->temps[args->n_temps++].object = handle;
  *out = (TVMFFIAny){.type_index = handle->type_index, .v_obj = handle};
  return 0;
}
/* Like fb_args_view, for an owned value that may also be a plain value. Returns 0. */
FH_INLINE int fb_args_view_any(FbArgs *args, const TVMFFIAny *owned, TVMFFIAny *out) {
  if (owned->type_index >= kTVMFFIStaticObjectBegin) return fb_args_view(args, owned->v_obj, out);
  *out = *owned;
  return 0;
}

/* Makes the last converted value independent of its Python value. The conversion of the value added a temporary at
 * index n_temps, or none. */
void fb_args_own_last(FbArgs *args, int n_temps, TVMFFIAny *out);

/* Writes "f() argument 2" (or "the return value ...") into `buffer`, for a message. Positions count from 1, like
 * Python's own. Returns `buffer`. */
const char *fb_args_where(const FbArgs *args, char *buffer, size_t size);
