/* Borrowed tensors: arguments over the memory of Python objects.
 *
 * A borrowed tensor is an ffi.Tensor whose memory belongs to a Python object; the tensor keeps the object alive as long
 * as native code has the tensor. Shape and strides are copies, because the object's library may change its own. Only
 * where handles are object pointers. */
#pragma once

#include <tvm/ffi/c_api.h>

#include "hpy_module/context/context.h"

/* Begins like every ffi.Tensor of the ABI: header, DLTensor. */
typedef struct FbBorrowed {
  TVMFFIObject header;
  DLTensor tensor;
  const DLPackExchangeAPI *exchange; /* the table by which the object described itself */
  HPy owner;         /* owned, except while the tensor is lent */
  int64_t extents[]; /* the shape, then the strides */
} FbBorrowed;

/* Makes a Tensor over the memory of `owner`, which `seen` describes. Owned; NULL with an exception raised. */
TVMFFIObject *fb_borrowed_new(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen);

/* Like fb_borrowed_new, for an argument: takes no reference to the owner, which the caller keeps alive during the call.
 * fb_borrowed_release or fb_borrowed_keep ends the loan; releasing the reference does not. */
TVMFFIObject *fb_borrowed_lend(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen);
/* Releases the call's reference at the end of the call, on the thread that made the tensor. If native code has another
 * reference, the tensor first takes a reference to its owner. Accepts tensors that are not borrowed, too. */
void fb_borrowed_release(TVMFFIObject *tensor);
/* Frees a tensor of fb_borrowed_new if the caller has the only reference, and returns whether it did. Called on an
 * attached thread, which saves the work of the deleter, which may run on any thread. */
bool fb_borrowed_end_only(TVMFFIObject *tensor);
/* Turns a lent tensor into one of fb_borrowed_new. Accepts other tensors, too. */
void fb_borrowed_keep(TVMFFIObject *tensor);

/* Returns the struct of a borrowed tensor; NULL for other tensors. */
const FbBorrowed *fb_borrowed_find(const TVMFFIObject *tensor);
