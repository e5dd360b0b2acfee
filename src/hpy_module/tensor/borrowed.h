/* Borrowed tensors: arguments over the memory of Python objects.
 *
 * An ffi.Tensor whose memory stays with a Python object, which it keeps alive for as long as native code has it. Shape
 * and strides are copies, because the object's library may change its own. Only where handles are object pointers. */
#ifndef FFI_HPY_TENSOR_BORROWED_H_
#define FFI_HPY_TENSOR_BORROWED_H_

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Begins as every ffi.Tensor of the ABI does: header, DLTensor. */
typedef struct FbBorrowed {
  TVMFFIObject header;
  DLTensor tensor;
  const DLPackExchangeAPI *exchange; /* through which the object described itself */
  HPy owner;         /* owned, but while the tensor is lent */
  int64_t extents[]; /* the shape, then the strides */
} FbBorrowed;

/* A Tensor over what `seen` describes, the memory of `owner`. Owned; NULL with an exception raised. */
TVMFFIObject *fb_borrowed_new(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen);

/* As fb_borrowed_new, for an argument: takes no reference to the owner, which the caller of the call keeps. Ends with
 * fb_borrowed_release or fb_borrowed_keep, not by giving up its reference. */
TVMFFIObject *fb_borrowed_lend(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen);
/* At the end of the call, on the thread that made the tensor: gives up the call's reference, and if native code has
 * another one, has the tensor keep its owner. Accepts tensors that are not borrowed, too. */
void fb_borrowed_release(TVMFFIObject *tensor);
/* Ends a tensor that fb_borrowed_new made if the caller has the only reference, and tells whether it did. On an
 * attached thread, so that the work of the deleter, which may be called anywhere, is spared. */
bool fb_borrowed_end_only(TVMFFIObject *tensor);
/* Makes the tensor as if fb_borrowed_new had made it. Accepts others, too. */
void fb_borrowed_keep(TVMFFIObject *tensor);

/* The struct of a borrowed tensor; NULL for others. */
const FbBorrowed *fb_borrowed_find(const TVMFFIObject *tensor);

#endif /* FFI_HPY_TENSOR_BORROWED_H_ */
