/* Tensors that Python objects lend. */
#include "lent.h"

#include <stdlib.h>

#include "error.h"
#include "object.h"

static const uint64_t only_one_reference =
    UINT64_C(1) << 32 | 1; /* a strong one, and the weak one that belongs to it */

/* Blocks for the next arguments, of SPARE_AXES axes or less; the GIL guards them. Without one there are none. */
enum { SPARE_AXES = 6, MOST_SPARE = 16 };
static FbLent *spare[MOST_SPARE];
static int n_spare;

static FbLent *block_new(size_t n_axes) {
  if (FB_LIKELY(n_axes <= SPARE_AXES)) {
    if (FB_LIKELY(n_spare > 0)) return spare[--n_spare];
    n_axes = SPARE_AXES;
  }
  return malloc(sizeof(FbLent) + 2 * n_axes * sizeof(int64_t));
}

/* On an attached thread. */
static void block_end(FbLent *lent) {
  if (FB_LIKELY(!fb_free_threaded && lent->tensor.ndim <= SPARE_AXES && n_spare < MOST_SPARE)) {
    spare[n_spare++] = lent;
  } else {
    free(lent);
  }
}

static void lent_delete(void *self, int flags) {
  FbLent *lent = self;
  FbAttach attach;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0 && !fb_is_finalizing() && fb_attach(&attach) == 0) {
    TVMFFIObjectHandle error = fb_error_set_aside(); /* what ends here may run Python code, which may use the slot */
    HPy_Close(attach.ctx, lent->owner);
    fb_error_put_back(error);
    fb_detach(&attach);
  }
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) free(lent);
}

void fb_lent_release(TVMFFIObject *tensor) {
  FbLent *lent = (FbLent *)tensor;
  /* Acquire: pairs with the release of who gave up another reference. */
  bool is_last = atomic_load_explicit((_Atomic(uint64_t) *)&tensor->combined_ref_count, memory_order_acquire) ==
                 only_one_reference;
  if (FB_LIKELY(is_last && tensor->deleter == lent_delete)) {
    HPy_Close(fb_ctx, lent->owner); /* what it takes the deleter to know is known here: this thread is attached */
    block_end(lent);
  } else {
    TVMFFIObjectDecRef(tensor);
  }
}

TVMFFIObject *fb_lent_new(HPyContext *ctx, HPy owner, const DLPackExchangeAPI *exchange, const DLTensor *seen) {
  if (FB_UNLIKELY(seen->ndim < 0)) {
    fb_raise(ctx, ctx->h_ValueError, "expected a tensor of 0 or more dimensions, got ndim %d", (int)seen->ndim);
    return NULL;
  }
  size_t n = (size_t)seen->ndim;
  FbLent *lent = block_new(n);
  if (FB_UNLIKELY(lent == NULL)) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  lent->header =
      (TVMFFIObject){.combined_ref_count = only_one_reference, .type_index = kTVMFFITensor, .deleter = lent_delete};
  lent->tensor = *seen;
  lent->tensor.shape = lent->extents;
  lent->tensor.strides = lent->extents + n;
  uint64_t stride = 1;
  for (size_t i = n; i-- > 0;) {
    lent->extents[i] = seen->shape[i];
    lent->extents[n + i] = seen->strides != NULL ? seen->strides[i] : (int64_t)stride;
    stride *= (uint64_t)seen->shape[i]; /* wraps around for absurd shapes instead of overflowing */
  }
  lent->exchange = exchange;
  lent->owner = HPy_Dup(ctx, owner);
  return &lent->header;
}

const FbLent *fb_lent_find(const TVMFFIObject *tensor) {
  return tensor->deleter == lent_delete ? (const FbLent *)tensor : NULL;
}
