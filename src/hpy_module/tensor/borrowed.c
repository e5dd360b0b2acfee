/* Tensors over the memory of Python objects: for array arguments of a library with an exchange table, and for NumPy
 * arrays, also in from_dlpack().
 *
 * Every call makes and frees such tensors, so both are short. Blocks of few axes are kept for the next argument, and a
 * tensor that no code keeps beyond the call is freed directly, without its deleter. The array's own reference count is
 * not changed until native code keeps the tensor, so that threads that pass one array do not contend for the count. */
#include "borrowed.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/tensor/dltensor.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"

/* A stack of blocks for the next arguments, each with room for SPARE_AXES axes. The GIL guards it; without a GIL it
 * stays empty. */
enum { SPARE_AXES = 6, MOST_SPARE = 16 };
static FbBorrowed *spare[MOST_SPARE];
static int n_spare;

/* Returns an uninitialised block for n_axes axes; NULL without an exception if memory is exhausted. */
static FbBorrowed *block_new(size_t n_axes) {
  if (FH_LIKELY(n_axes <= SPARE_AXES)) {
    if (FH_LIKELY(n_spare > 0)) return spare[--n_spare];
    n_axes = SPARE_AXES;
  }
  return malloc(sizeof(FbBorrowed) + 2 * n_axes * sizeof(int64_t));
}

/* Keeps a block or frees it. The thread is attached; its GIL guards the stack. */
static void block_end(FbBorrowed *borrowed) {
  if (FH_LIKELY(!fb_context_free_threaded && borrowed->tensor.ndim <= SPARE_AXES && n_spare < MOST_SPARE)) {
    spare[n_spare++] = borrowed;
  } else {
    free(borrowed);
  }
}

/* The deleter, for a tensor that native code kept. The deleter may run on any thread, and leaks the owner once the
 * interpreter is finalizing. Unless weak references are left, the block is released while the thread is attached; if
 * the thread cannot attach, the block is freed. */
static void borrowed_delete(void *self, int flags) {
  FbBorrowed *borrowed = self;
  bool is_block_left = (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0;
  FbThread attach;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0 && !fb_thread_is_finalizing() &&
      fb_thread_attach(&attach) == 0) {
    /* Closing the owner may run Python code, which may use the slot and raise. */
    FbPendingError error = fb_error_slot_take(attach.ctx);
    fb_drop_handle(attach.ctx, borrowed->owner);
    fb_error_slot_put(error);
    if (is_block_left) block_end(borrowed);
    is_block_left = false;
    fb_thread_detach(&attach);
  }
  if (is_block_left) free(borrowed);
}

void fb_borrowed_keep(TVMFFIObject *tensor) {
  /* The new handle is equal to the old one, because handles are object pointers. */
  if (tensor->deleter == borrowed_delete) HPy_Dup(fb_ctx, ((FbBorrowed *)tensor)->owner);
}

/* Whether this is a borrowed tensor and the caller has its only reference; the caller may then free it without a
 * decref. Acquire: pairs with the release of a thread that dropped another reference. */
FH_INLINE bool is_only(TVMFFIObject *tensor) {
  return tensor->deleter == borrowed_delete && fh_atomic_load_acquire(&tensor->combined_ref_count) == FB_ONLY_REFERENCE;
}

bool fb_borrowed_end_only(TVMFFIObject *tensor) {
  if (!is_only(tensor) || fb_thread_is_finalizing()) return false;
  /* The block is released first and not read afterwards: closing the owner may run code that makes tensors. */
  HPy owner = ((FbBorrowed *)tensor)->owner;
  block_end((FbBorrowed *)tensor);
  HPy_Close(fb_ctx, owner);
  return true;
}

void fb_borrowed_release(TVMFFIObject *tensor) {
  if (FH_LIKELY(is_only(tensor))) {
    block_end((FbBorrowed *)tensor);
    return;
  }
  /* Another owner of a reference may drop it at any time. The deleter, which closes the owner, runs after the call's
   * own reference is released, and so after this line. */
  fb_borrowed_keep(tensor);
  fb_drop_object(tensor, FB_DROP_UNKNOWN);
}

/* The full check of a description, with a message: false with ValueError raised if no memory can have this
 * description. */
static FH_NOINLINE bool is_possible(HPyContext *ctx, const DLTensor *seen) {
  char reason[FH_DLTENSOR_REASON];
  if (!fh_dltensor_refuse(seen, reason)) return true;
  fb_raise(ctx, ctx->h_ValueError, "%s", reason);
  return false;
}

/* Copies shape and strides. Returns whether the tensor passes the quick check of dltensor.h, which makes the full check
 * unnecessary. Goes from the last axis to the first, because then n, the product of the extents so far, is the stride
 * of a compact tensor. */
FH_INLINE bool copy_extents(int64_t *extents, const DLTensor *seen, size_t n_dims) {
  const int64_t *shape = seen->shape, *strides = seen->strides;
  uint64_t n = 1, bits = 0; /* the inputs of fh_dltensor_is_usual_with */
  for (size_t i = n_dims; i-- > 0;) {
    uint64_t size = (uint64_t)shape[i], stride = strides != NULL ? (uint64_t)strides[i] : n;
    extents[i] = (int64_t)size;
    extents[n_dims + i] = (int64_t)stride;
    n *= size; /* unsigned, so an absurd shape wraps around */
    bits |= size | stride | n;
  }
  return fh_dltensor_is_usual_with(seen, n, bits);
}

/* Makes the tensor without a reference to its owner. */
FH_INLINE TVMFFIObject *lend(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen) {
  /* A negative number of axes becomes far too large. This check comes before the shape is read. */
  size_t n = (size_t)seen->ndim;
  bool has_shape = seen->shape != NULL || n == 0;
  if (FH_UNLIKELY(n > FH_DLTENSOR_MAX_DIMS || !has_shape) && !is_possible(ctx, seen)) return NULL;
  FbBorrowed *borrowed = block_new(n);
  if (FH_UNLIKELY(borrowed == NULL)) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  borrowed->header =
      (TVMFFIObject){.combined_ref_count = FB_ONLY_REFERENCE, .type_index = kTVMFFITensor, .deleter = borrowed_delete};
  borrowed->tensor = *seen;
  borrowed->tensor.shape = borrowed->extents;
  borrowed->tensor.strides = borrowed->extents + n;
  if (FH_UNLIKELY(!copy_extents(borrowed->extents, seen, n)) && !is_possible(ctx, seen)) {
    block_end(borrowed);
    return NULL;
  }
  fh_dltensor_fold_offset(&borrowed->tensor);
  borrowed->exchange = exchange;
  borrowed->owner = owner;
  return &borrowed->header;
}

TVMFFIObject *fb_borrowed_lend(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen) {
  return lend(ctx, owner, exchange, seen);
}

TVMFFIObject *fb_borrowed_new(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen) {
  TVMFFIObject *tensor = lend(ctx, owner, exchange, seen);
  if (FH_LIKELY(tensor != NULL)) HPy_Dup(ctx, owner); /* as in fb_borrowed_keep */
  return tensor;
}

const FbBorrowed *fb_borrowed_find(const TVMFFIObject *tensor) {
  return tensor->deleter == borrowed_delete ? (const FbBorrowed *)tensor : NULL;
}
