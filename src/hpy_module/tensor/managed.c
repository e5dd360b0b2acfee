/* Tensors over DLPack's managed tensors. The core checks and imports them; this file adds the ownership after a
 * failure, and refuses read-only memory. */
#include "managed.h"

#include <stdlib.h>

#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"

int fb_managed_import(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                      TVMFFIObject **out) {
  TVMFFIObjectHandle made = NULL;
  /* Native code reads the DLTensor, which cannot express read-only memory, and would write to it. The struct of another
   * major version may have its flags at another offset; the core refuses it with its own message. */
  if (managed->version.major == DLPACK_MAJOR_VERSION && (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    fb_raise(ctx, ctx->h_BufferError, "the array is read-only, and native code could not know: pass a copy");
    return -1;
  }
  if (TVMFFITensorFromDLPackVersioned(managed, alignment, contiguous, &made) != 0) {
    fb_error_raise_pending(ctx, "from_dlpack");
    return -1;
  }
  *out = made;
  return 0;
}

int fb_managed_take(HPyContext *ctx, DLManagedTensorVersioned *managed, int32_t alignment, bool contiguous,
                    TVMFFIObject **out) {
  if (fb_managed_import(ctx, managed, alignment, contiguous, out) == 0) return 0;
  fb_drop_versioned(managed);
  return -1;
}

/* Frees the struct; the memory belongs to another owner. */
static void borrowed_drop(DLManagedTensor *self) { free(self); }

TVMFFIObject *fb_managed_borrow(HPyContext *ctx, const DLTensor *tensor) {
  DLManagedTensor *managed = calloc(1, sizeof(*managed));
  TVMFFIObjectHandle made = NULL;
  if (managed == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  managed->dl_tensor = *tensor;
  managed->deleter = borrowed_drop;
  if (TVMFFITensorFromDLPack(managed, 0, 0, &made) == 0) return made;
  free(managed);
  fb_error_raise_pending(ctx, "callback");
  return NULL;
}
