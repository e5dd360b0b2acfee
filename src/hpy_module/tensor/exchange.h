/* Exchange tables (DLPackExchangeAPI): what array libraries offer to C callers, used for arguments and for results.
 *
 * A table lives as long as the process and does not change. Its functions that take or give a Python object want the
 * calling thread attached. Tables are used where handles are, or translate to, the interpreter's object pointers:
 * not on PyPy 7.3, where arrays take the way of __dlpack__. */
#ifndef FFI_HPY_TENSOR_EXCHANGE_H_
#define FFI_HPY_TENSOR_EXCHANGE_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Whether this context can use tables. */
bool fb_exchange_is_usable(void);

/* Enters how the instances of classes with a table become arguments (convert/argument.h). */
void fb_exchange_init(void);

/* An ffi.Tensor over the memory of `value`, an instance of the class that has the table, under the demands of
 * TVMFFITensorFromDLPack. The library's own hold keeps the memory; where there are no demands, and all memory of the
 * library may be written to (exchange_writable), `value` does, which takes half the time. *out is owned. Returns 0, or
 * -1 with an exception raised. */
int fb_exchange_tensor(HPyContext *ctx, HPy value, const DLPackExchangeAPI *exchange, int32_t alignment,
                       bool contiguous, TVMFFIObject **out);

/* As fb_result_make, for the caller of a call in a scope: a tensor becomes one of the table's library, and a container
 * will give out its tensors as such. A tensor that the library refuses stays a Tensor; with `is_required` that is the
 * library's exception. */
HPy fb_exchange_result(HPyContext *ctx, TVMFFIAny *value, const DLPackExchangeAPI *exchange, bool is_required);

/* The Python value of a view; tensors become arrays of the table's library, or it fails. */
HPy fb_exchange_view(HPyContext *ctx, const TVMFFIAny *view, const DLPackExchangeAPI *exchange);

/* The table behind a capsule named dlpack_exchange_api, or at an address. NULL with an exception raised if there is
 * none, without one if there is none of DLPack 1. */
const DLPackExchangeAPI *fb_exchange_read(HPyContext *ctx, HPy capsule);

extern HPyDef fb_exchange_address, fb_exchange_writable;

#endif /* FFI_HPY_TENSOR_EXCHANGE_H_ */
