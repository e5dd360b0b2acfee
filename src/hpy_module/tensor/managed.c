/* Tensors over DLPack's managed tensors. The core checks and imports them; this file adds the ownership after a
 * failure, and refuses read-only memory. */
#include "managed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/tensor/dltensor.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/error/error.h"

int fb_managed_import(HPyContext *ctx, DLManagedTensorVersioned *managed, FbDemands demands, TVMFFIObject **out) {
  TVMFFIObjectHandle made = NULL;
  /* Native code reads the DLTensor, which cannot express read-only memory, and would write to it. The struct of another
   * major version may have its flags at another offset; the core refuses it with its own message. */
  if (!demands.reads && managed->version.major == DLPACK_MAJOR_VERSION &&
      (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    fb_raise(ctx, ctx->h_BufferError, "the array is read-only, and native code could not know: pass a copy");
    return -1;
  }
  if (TVMFFITensorFromDLPackVersioned(managed, demands.alignment, demands.contiguous, &made) != 0) {
    fb_error_raise_pending(ctx, "from_dlpack");
    return -1;
  }
  *out = made;
  return 0;
}

int fb_managed_take(HPyContext *ctx, DLManagedTensorVersioned *managed, FbDemands demands, TVMFFIObject **out) {
  if (fb_managed_import(ctx, managed, demands, out) == 0) return 0;
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

int fb_managed_is_read_only(HPyContext *ctx, TVMFFIObject *handle, bool *out) {
  DLManagedTensorVersioned *managed = NULL;
  /* The ABI's struct of a tensor has no flags, so an exported struct is made to read them. */
  if (TVMFFITensorToDLPackVersioned(handle, &managed) != 0) {
    fb_error_raise_pending(ctx, "__dlpack__");
    return -1;
  }
  *out = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  managed->deleter(managed);
  return 0;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* Host memory for tensors. One block has the struct, shape and strides, and then the aligned data, so the deleter is
 * free(). */

/* In bytes: a cache line, and the widest vector registers. */
enum { ALIGNMENT = 64 };

typedef struct Block {
  DLManagedTensorVersioned managed;
  int64_t extents[]; /* the shape, then the strides; the data follows them */
} Block;

static void block_drop(DLManagedTensorVersioned *self) { free(self); }

/* Sets the kind and the message of an error, for callers that raise it in different ways. Returns NULL. */
static DLManagedTensorVersioned *refuse(const char **kind, const char **message, const char *as, const char *why) {
  *kind = as;
  *message = why;
  return NULL;
}

DLManagedTensorVersioned *fb_tensor_memory_new(const DLTensor *prototype, const char **kind, const char **message) {
  size_t n_bytes;
  char reason[FH_DLTENSOR_REASON];
  if (prototype->device.device_type != kDLCPU)
    return refuse(kind, message, "RuntimeError", "expected a tensor for the CPU: ffi_hpy allocates host memory only");
  /* A description from other code. A quarter of the address space exceeds any memory, and keeps the sum below from
   * overflowing. */
  if (fh_dltensor_refuse_shape(prototype, reason) || !fh_dltensor_size(prototype, &n_bytes) ||
      n_bytes > PTRDIFF_MAX / 2)
    return refuse(kind, message, "ValueError", "expected a shape and an element type that memory has room for");
  size_t n = (size_t)prototype->ndim, before = sizeof(Block) + 2 * n * sizeof(int64_t);
  Block *block = malloc(before + ALIGNMENT + n_bytes);
  if (block == NULL) return refuse(kind, message, "MemoryError", "no memory for a tensor");
  DLTensor *tensor = &block->managed.dl_tensor;
  *tensor = (DLTensor){.data = (void *)(((uintptr_t)block + before + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1)),
                       .device = prototype->device,
                       .ndim = prototype->ndim,
                       .dtype = prototype->dtype,
                       .shape = block->extents,
                       .strides = block->extents + n};
  if (n != 0) memcpy(tensor->shape, prototype->shape, n * sizeof(int64_t));
  fh_dltensor_fill_strides(tensor, tensor->strides);
  block->managed.version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  block->managed.manager_ctx = NULL;
  block->managed.deleter = block_drop;
  block->managed.flags = 0;
  return &block->managed;
}

bool fb_tensor_memory_is_host(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost || device.device_type == kDLROCMHost;
}

/* Copies the elements one by one in row-major order, like an odometer: the last axis advances; an axis that reaches its
 * end returns to 0 and advances the axis before it. Strides may be 0 or negative, but no extent is 0. `at` has room for
 * a position per axis. */
static void copy_strided(const DLTensor *from, char *to, size_t item, int64_t *at) {
  const char *read = (const char *)from->data + from->byte_offset;
  int32_t axis;
  memset(at, 0, (size_t)from->ndim * sizeof(*at));
  do {
    memcpy(to, read, item);
    to += item;
    for (axis = from->ndim - 1; axis >= 0; --axis) {
      read += from->strides[axis] * (int64_t)item;
      if (++at[axis] < from->shape[axis]) break;
      read -= from->strides[axis] * from->shape[axis] * (int64_t)item;
      at[axis] = 0;
    }
  } while (axis >= 0);
}

DLManagedTensorVersioned *fb_tensor_memory_copy(const DLTensor *from, const char **kind, const char **message) {
  DLTensor prototype = *from;
  char reason[FH_DLTENSOR_REASON];
  if (fh_dltensor_refuse(from, reason))
    return refuse(kind, message, "BufferError", "the tensor describes memory that cannot be");
  /* Memory that the host can read may belong to another device (kDLCUDAHost); the copy is on the CPU. */
  prototype.device = (DLDevice){kDLCPU, 0};
  bool compact = fh_dltensor_is_compact(from);
  unsigned n_bits = (unsigned)from->dtype.bits * from->dtype.lanes;
  if (!compact && n_bits % 8 != 0)
    return refuse(kind, message, "BufferError", "elements of less than a byte are copied only if they are contiguous");
  DLManagedTensorVersioned *copy = fb_tensor_memory_new(&prototype, kind, message);
  size_t n_bytes = 0;
  if (copy == NULL) return NULL;
  copy->flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  (void)fh_dltensor_size(from, &n_bytes); /* the allocation above has checked the size */
  if (n_bytes == 0) return copy;
  if (compact) {
    memcpy(copy->dl_tensor.data, (const char *)from->data + from->byte_offset, n_bytes);
    return copy;
  }
  /* The strides of the copy serve as room for the positions, and are written again afterwards. */
  copy_strided(from, copy->dl_tensor.data, n_bits / 8, copy->dl_tensor.strides);
  fh_dltensor_fill_strides(&copy->dl_tensor, copy->dl_tensor.strides);
  return copy;
}
