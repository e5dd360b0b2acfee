/* The buffer protocol of Tensor: Python reads and writes host memory without a copy.
 *
 * A buffer has its own reference to the native tensor, because the wrapper may lose its handle to a move while the
 * buffer is in use. PyPy does not keep `internal` until it releases a buffer, and copies the extents at once. There the
 * wrapper keeps the tensor: the cffi backend makes a wrapper for each buffer. */
#include "parts.h"

#include <stdlib.h>

#include "core/platform/system.h"
#include "core/tensor/dltensor.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/object/object.h"
#include "managed.h"

static bool is_pypy; /* any version; written once during the import */

/* The flags of a request, whose values are the same on all interpreters (PEP 3118). */
enum { WRITABLE = 0x1, FORMAT = 0x4, ND = 0x8, STRIDES = 0x18, C_CONTIGUOUS = 0x38, F_CONTIGUOUS = 0x58 };

/* HPy_buffer.internal, except on PyPy */
typedef struct Export {
  TVMFFIObject *handle;  /* owned */
  HPy_ssize_t extents[]; /* the shape, then the strides in bytes */
} Export;

/* Returns the format of the struct module for an element type; NULL if there is none. NumPy's int64 is C's long where
 * that has 64 bits. */
static const char *format_of(DLDataType dtype) {
  static const char *const ints[] = {"b", "h", "i", sizeof(long) == 8 ? "l" : "q"};
  static const char *const uints[] = {"B", "H", "I", sizeof(long) == 8 ? "L" : "Q"};
  static const char *const floats[] = {NULL, "e", "f", "d"};
  static const char *const complexes[] = {NULL, NULL, "Zf", "Zd"}; /* by the bits of one part */
  unsigned bits = dtype.code == kDLComplex ? dtype.bits / 2u : dtype.bits;
  int size = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
  if (size < 0 || dtype.lanes != 1 || (dtype.code == kDLComplex && dtype.bits % 2 != 0)) return NULL;
  switch (dtype.code) {
  case kDLInt: return ints[size];
  case kDLUInt: return uints[size];
  case kDLFloat: return floats[size];
  case kDLComplex: return complexes[size];
  case kDLBool: return size == 0 ? "?" : NULL;
  default: return NULL;
  }
}

/* Whether the elements are in column-major order without gaps. */
static bool is_compact_by_columns(const DLTensor *tensor) {
  uint64_t expected = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] == 0) return true;
  }
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] != 1 && (uint64_t)tensor->strides[i] != expected) return false;
    expected *= (uint64_t)tensor->shape[i];
  }
  return true;
}

/* Returns a sentence if the tensor cannot have the buffer that `flags` ask for, NULL if it can. */
static const char *reason_against(const DLTensor *tensor, bool is_read_only, int flags) {
  if (!fb_tensor_memory_is_host(tensor->device)) return "the tensor's memory is on a device: copy it to the CPU first";
  if (format_of(tensor->dtype) == NULL) return "elements of this type have no buffer format: use numpy.asarray(tensor)";
  if ((flags & WRITABLE) != 0 && is_read_only) return "the tensor is read-only";
  if ((flags & C_CONTIGUOUS) == C_CONTIGUOUS || (flags & STRIDES) != STRIDES)
    return fh_dltensor_is_compact(tensor) ? NULL : FB_MESSAGE_NOT_CONTIGUOUS;
  if ((flags & F_CONTIGUOUS) == F_CONTIGUOUS)
    return is_compact_by_columns(tensor) ? NULL : "the tensor is not contiguous by columns";
  return NULL;
}

/* Returns room for the extents of a buffer, which release_buffer frees; NULL with MemoryError raised. */
static Export *new_export(HPyContext *ctx, size_t n) {
  static Export *of_pypy; /* used again for each buffer; the GIL guards it until PyPy has copied the extents */
  if (is_pypy && of_pypy != NULL) return of_pypy;
  size_t n_extents = is_pypy ? 2 * FH_DLTENSOR_MAX_DIMS : 2 * n;
  Export *export = malloc(sizeof(Export) + n_extents * sizeof(HPy_ssize_t));
  if (export == NULL) HPyErr_NoMemory(ctx);
  if (is_pypy) of_pypy = export;
  return export;
}

/* Fills in a buffer, except for its object. Returns 0, or -1 with an exception raised. */
static int fill(HPyContext *ctx, TVMFFIObject *handle, HPy_buffer *view, int flags) {
  const DLTensor *tensor = (const DLTensor *)(handle + 1);
  size_t n = (size_t)tensor->ndim, n_bytes;
  bool is_read_only;
  if (fb_managed_is_read_only(ctx, handle, &is_read_only) != 0) return -1;
  const char *reason = reason_against(tensor, is_read_only, flags);
  if (reason == NULL && !fh_dltensor_size(tensor, &n_bytes)) reason = "the tensor is larger than memory";
  if (reason != NULL) {
    fb_raise(ctx, ctx->h_BufferError, "%s", reason);
    return -1;
  }
  Export *export = new_export(ctx, n);
  if (export == NULL) return -1;
  HPy_ssize_t itemsize = tensor->dtype.bits / 8;
  for (size_t i = 0; i < n; ++i) {
    export->extents[i] = (HPy_ssize_t)tensor->shape[i];
    export->extents[n + i] = (HPy_ssize_t)tensor->strides[i] * itemsize;
  }
  export->handle = handle;
  if (!is_pypy) TVMFFIObjectIncRef(handle);
  *view = (HPy_buffer){
      .buf = (char *)tensor->data + tensor->byte_offset,
      .len = (HPy_ssize_t)n_bytes,
      .itemsize = itemsize,
      .readonly = is_read_only,
      .ndim = (flags & ND) != 0 ? tensor->ndim : 1,
      .format = (flags & FORMAT) != 0 ? (char *)format_of(tensor->dtype) : NULL,
      .shape = (flags & ND) != 0 ? export->extents : NULL,
      .strides = (flags & STRIDES) == STRIDES ? export->extents + n : NULL,
      .internal = export,
  };
  return 0;
}

HPyDef_SLOT(fb_buffer_get, HPy_bf_getbuffer)
static int fb_buffer_get_impl(HPyContext *ctx, HPy self, HPy_buffer *view, int flags) {
  view->obj = HPy_NULL; /* by the protocol, a failure leaves NULL there */
  FbHandleCell *cell = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (cell == NULL) return -1;
  int rc = fill(ctx, cell->handle, view, flags);
  fb_handle_cell_unuse(cell);
  if (rc == 0) view->obj = HPy_Dup(ctx, self);
  return rc;
}

HPyDef_SLOT(release_buffer, HPy_bf_releasebuffer)
static void release_buffer_impl(FH_MAYBE_UNUSED HPyContext *ctx, FH_MAYBE_UNUSED HPy self, HPy_buffer *view) {
  Export *export = view->internal;
  fb_drop_object(export->handle, FB_DROP_UNKNOWN);
  free(export);
}

HPyDef *fb_buffer_init(void) {
  is_pypy = fb_context_is_pypy || fh_loader_find_anywhere("PyPy_DecRef") != NULL;
  return is_pypy ? NULL : &release_buffer;
}
