/* DLPack C exchange API tables (DLPackExchangeAPI): functions that array libraries offer to C callers, used for
 * arguments and for results.
 *
 * A table lives as long as the process and does not change. Functions of a table for Python objects require an attached
 * thread. Tables are used where handles are, or translate to, the interpreter's object pointers: not on PyPy 7.3, where
 * arrays are imported by __dlpack__. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"
#include "managed.h"

/* Whether this context can use exchange tables. */
bool fb_exchange_is_usable(void);

/* Registers the conversion of instances of classes with a table (convert/argument.h). */
void fb_exchange_init(void);

/* Makes an ffi.Tensor over the memory of `value`, an instance of the class with the table. The library's managed tensor
 * keeps the memory alive. If there are no requirements, and all memory of the library is writable (exchange_writable),
 * `value` itself keeps the memory alive, which takes half the time. *out is owned. Returns 0, or -1 with an exception
 * raised. */
int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, FbDemands demands,
                       TVMFFIObject **out);

/* Like fb_result_make, for the caller of a call with a scope: a tensor becomes a tensor of the table's library, and a
 * container will return its tensors in this way. A tensor that the library refuses stays a Tensor; with `is_required`
 * the library's exception is raised instead. */
HPy fb_exchange_result(HPyContext *ctx, TVMFFIAny *value, const DLPackExchangeAPI *exchange, bool is_required);

/* Converts a view; tensors become arrays of the table's library. Fails if the library refuses one. */
HPy fb_exchange_view(HPyContext *ctx, const TVMFFIAny *view, const DLPackExchangeAPI *exchange);

/* Returns the table in a capsule named dlpack_exchange_api, or at an address. NULL with an exception raised if there is
 * none; NULL without an exception if none of the linked tables is of DLPack 1. */
const DLPackExchangeAPI *fb_exchange_read(HPyContext *ctx, HPy capsule);

extern HPyDef fb_exchange_address, fb_exchange_writable;
