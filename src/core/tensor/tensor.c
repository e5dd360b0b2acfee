/* tensor.c - ffi.Shape and ffi.Tensor, and conversion from and to DLPack.
 *
 * A Tensor is an object header, the ABI's DLTensor, and a reference to the owner of the memory: an imported DLPack
 * struct, or another Tensor. Data is never copied. Imported tensors are checked once (dltensor.h), so that clients can
 * read shapes and strides without checks. */
#include "tensor.h"

#include "core/object/error.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "dltensor.h"

/* ---- Shapes ---- */

FH_STATIC_ASSERT(offsetof(fh_shape_object, cell) == 24, "the cell follows the header");
FH_STATIC_ASSERT(offsetof(fh_shape_object, dims) == 40, "the dimensions follow the ABI's 40 bytes");

fh_shape_object *fh_shape_new(const int64_t *dims, size_t n) {
  fh_shape_object *shape = NULL;
  if (n <= (PTRDIFF_MAX - sizeof(*shape)) / sizeof(*dims)) {
    shape = (fh_shape_object *)fh_mem_alloc(sizeof(*shape) + n * sizeof(*dims));
  }
  if (shape == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  fh_object_init(&shape->header, kTVMFFIShape, fh_object_delete_plain);
  shape->cell.data = shape->dims;
  shape->cell.size = n;
  if (dims != NULL && n != 0) memcpy(shape->dims, dims, n * sizeof(*dims));
  return shape;
}

/* ---- Tensor objects ---- */

/* The valid member of tensor_object.owned: another Tensor (for a view), a DLPack struct, a versioned DLPack struct. */
typedef enum { OWNS_OBJECT, OWNS_MANAGED, OWNS_VERSIONED } owned_kind;

typedef struct {
  TVMFFIObject header;
  DLTensor tensor;
  /* The ABI's part ends here. The owner of the data: */
  owned_kind kind;
  union {
    TVMFFIObject *object;
    DLManagedTensor *managed;
    DLManagedTensorVersioned *versioned;
  } owned;
  uint64_t flags;  /* DLPACK_FLAG_BITMASK_READ_ONLY or 0 */
  int64_t extents[]; /* shape and strides, if the producer gave none or may free them */
} tensor_object;

FH_STATIC_ASSERT(offsetof(tensor_object, tensor) == 24, "the DLTensor follows the header");
FH_STATIC_ASSERT(offsetof(tensor_object, kind) == 72, "the ABI's part has 72 bytes");

/* DLPack's deleters may be NULL: then the exporter keeps the memory alive in another way. */
static void end_tensor(void *self) {
  tensor_object *tensor = (tensor_object *)self;
  switch (tensor->kind) {
  case OWNS_OBJECT: fh_object_release(tensor->owned.object); break;
  case OWNS_MANAGED:
    if (tensor->owned.managed->deleter != NULL) tensor->owned.managed->deleter(tensor->owned.managed);
    break;
  case OWNS_VERSIONED:
    if (tensor->owned.versioned->deleter != NULL) tensor->owned.versioned->deleter(tensor->owned.versioned);
    break;
  }
}

static void delete_tensor(void *self, int flags);
static const fh_object_owner owner = {delete_tensor, end_tensor};

static void end_managed(DLManagedTensor *self);
static void end_versioned(DLManagedTensorVersioned *self);

/* Whether destroying this Tensor releases another Tensor: that is so for a view, and for an imported struct to which a
 * Tensor of this library was exported. The owners in the structs of other exporters are unknown, so destroying a chain
 * of such structs recurses. */
static bool owns_tensor(const tensor_object *tensor) {
  switch (tensor->kind) {
  case OWNS_MANAGED: return tensor->owned.managed->deleter == end_managed;
  case OWNS_VERSIONED: return tensor->owned.versioned->deleter == end_versioned;
  default: return true;
  }
}

static void delete_tensor(void *self, int flags) {
  /* Read on Strong only: on Weak alone the struct is gone. */
  int owns = (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) && owns_tensor((const tensor_object *)self);
  fh_object_delete_owner(&owner, self, flags, owns);
}

/* Whether the exporter declared the data read-only. The deleter identifies the library of the object: only this
 * library's Tensors have flags, and the tensors of other libraries count as writable. */
static bool is_read_only(const void *obj) {
  const tensor_object *tensor = (const tensor_object *)obj;
  return tensor->header.deleter == delete_tensor && (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
}

/* Makes a Tensor with the shape, strides and data pointers of `like`, and room for n_extents numbers. The caller fills
 * in `kind` and `owned` before the object can be released. NULL with an error pending. */
static tensor_object *new_tensor(const DLTensor *like, size_t n_extents) {
  tensor_object *tensor = (tensor_object *)fh_mem_alloc(sizeof(*tensor) + n_extents * sizeof(int64_t));
  if (tensor == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  fh_object_init(&tensor->header, kTVMFFITensor, delete_tensor);
  tensor->tensor = *like;
  tensor->flags = 0;
  return tensor;
}

/* ---- Checks ---- */

/* Out of line: the buffer for the reason would make the common path's frame large. */
static FH_NOINLINE int check_closely(const DLTensor *tensor) {
  char reason[FH_DLTENSOR_REASON];
  return fh_dltensor_refuse(tensor, reason) ? fh_error_raise(FH_VALUE_ERROR, "%s", reason) : 0;
}

int fh_tensor_check(const DLTensor *tensor) {
  return FH_LIKELY(fh_dltensor_is_usual(tensor)) ? 0 : check_closely(tensor);
}

/* The checks of both imports and views. An alignment of 1 or less has no effect. */
static int check_import(const DLTensor *tensor, int32_t require_alignment, int32_t require_contiguous) {
  if (fh_tensor_check(tensor) != 0) return -1;
  if (require_alignment > 1) {
    /* If `data` is a handle, only the offset can be aligned. */
    uint64_t base = fh_dltensor_has_address(tensor->device) ? (uint64_t)(uintptr_t)tensor->data : 0;
    uint64_t address = base + tensor->byte_offset;
    if (address % (uint32_t)require_alignment != 0) {
      return fh_error_raise(FH_RUNTIME_ERROR,
                            "Expected data aligned to %d bytes but it begins %d bytes after a multiple",
                            (int)require_alignment, (int)(address % (uint32_t)require_alignment));
    }
  }
  if (require_contiguous && !fh_dltensor_is_compact(tensor)) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected compact row-major strides but the tensor is not contiguous");
  }
  return 0;
}

/* ---- Import ---- */

/* Makes the checked Tensor for a description whose arrays belong to its producer, and live as long as the producer's
 * struct. The caller makes the Tensor own that struct. NULL with an error pending. */
static tensor_object *import_tensor(const DLTensor *from, int32_t require_alignment, int32_t require_contiguous) {
  if (check_import(from, require_alignment, require_contiguous) != 0) return NULL;
  int lacks_strides = from->strides == NULL && from->ndim > 0; /* C++ clients read strides without a check for NULL */
  tensor_object *tensor = new_tensor(from, lacks_strides ? (size_t)from->ndim : 0);
  if (tensor != NULL) fh_dltensor_fold_offset(&tensor->tensor);
  if (tensor != NULL && lacks_strides) {
    fh_dltensor_fill_strides(from, tensor->extents);
    tensor->tensor.strides = tensor->extents;
  }
  return tensor;
}

/* This older struct has no flags, so the data counts as writable. */
int TVMFFITensorFromDLPack(DLManagedTensor *from, int32_t require_alignment, int32_t require_contiguous,
                           TVMFFIObjectHandle *out) {
  *out = NULL;
  if (from == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a DLManagedTensor but got NULL");
  tensor_object *tensor = import_tensor(&from->dl_tensor, require_alignment, require_contiguous);
  if (tensor == NULL) return -1;
  tensor->kind = OWNS_MANAGED;
  tensor->owned.managed = from;
  *out = tensor;
  return 0;
}

int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned *from, int32_t require_alignment,
                                    int32_t require_contiguous, TVMFFIObjectHandle *out) {
  const uint64_t known_flags =
      DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED | DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  *out = NULL;
  if (from == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a DLManagedTensorVersioned but got NULL");
  /* First, because members after `deleter` must not be read in a struct of another major version. */
  if (from->version.major != DLPACK_MAJOR_VERSION) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected DLPack version %d but got %u.%u", (int)DLPACK_MAJOR_VERSION,
                          (unsigned)from->version.major, (unsigned)from->version.minor);
  }
  if (from->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Padded elements of less than a byte are not yet supported");
  }
  /* A later minor version may have flags that a reader may ignore. A flag that this version does not define is an error
   * of an exporter that claims this version. */
  if (from->version.minor <= DLPACK_MINOR_VERSION && (from->flags & ~known_flags) != 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected flags of DLPack %u.%u but got 0x%llx",
                          (unsigned)from->version.major, (unsigned)from->version.minor,
                          (unsigned long long)from->flags);
  }
  tensor_object *tensor = import_tensor(&from->dl_tensor, require_alignment, require_contiguous);
  if (tensor == NULL) return -1;
  tensor->kind = OWNS_VERSIONED;
  tensor->owned.versioned = from;
  tensor->flags = from->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
  *out = tensor;
  return 0;
}

/* TypeError for a handle that is not a Tensor, nor an object of a type derived from it. */
static int check_is_tensor(const char *name, TVMFFIObjectHandle handle) {
  if (handle == NULL) return fh_error_raise(FH_TYPE_ERROR, "%s: expected a Tensor but got NULL", name);
  int32_t type_index = fh_object_type_index(handle);
  if (FH_LIKELY(type_index == kTVMFFITensor) || fh_type_is_instance(type_index, kTVMFFITensor)) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "%s: expected `ffi.Tensor` but got `%s`", name, fh_type_name(type_index));
}

int TVMFFITensorCreateUnsafeView(TVMFFIObjectHandle source, const DLTensor *prototype, TVMFFIObjectHandle *out) {
  *out = NULL;
  if (check_is_tensor("TVMFFITensorCreateUnsafeView", source) != 0) return -1;
  if (prototype == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a DLTensor as prototype but got NULL");
  if (check_import(prototype, 0, 0) != 0) return -1;
  if (prototype->ndim > 0 && prototype->strides == NULL) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected strides of %d dimensions but got NULL", (int)prototype->ndim);
  }
  size_t n = (size_t)prototype->ndim;
  tensor_object *view = new_tensor(prototype, 2 * n);
  if (view == NULL) return -1;
  /* Copies, because the prototype's arrays belong to the caller and may end before the view does. */
  if (n != 0) memcpy(view->extents, prototype->shape, n * sizeof(int64_t));
  if (n != 0) memcpy(view->extents + n, prototype->strides, n * sizeof(int64_t));
  view->tensor.shape = view->extents;
  view->tensor.strides = view->extents + n;
  view->kind = OWNS_OBJECT;
  view->owned.object = (TVMFFIObject *)source;
  fh_object_retain(source);
  if (is_read_only(source)) view->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  *out = view;
  return 0;
}

/* ---- Export. The exported struct holds a reference to the Tensor and points to its shape and strides ---- */

static void end_managed(DLManagedTensor *self) {
  fh_object_release(self->manager_ctx);
  fh_mem_free(self);
}

static void end_versioned(DLManagedTensorVersioned *self) {
  fh_object_release(self->manager_ctx);
  fh_mem_free(self);
}

/* The older struct has no flags, so it cannot mark data as read-only. */
int TVMFFITensorToDLPack(TVMFFIObjectHandle from, DLManagedTensor **out) {
  *out = NULL;
  if (check_is_tensor("TVMFFITensorToDLPack", from) != 0) return -1;
  DLManagedTensor *managed = (DLManagedTensor *)fh_mem_alloc(sizeof(*managed));
  if (managed == NULL) return fh_error_raise_no_memory();
  *managed = (DLManagedTensor){*TVMFFITensorGetDLTensorPtr(from), from, end_managed};
  fh_object_retain(from);
  *out = managed;
  return 0;
}

int TVMFFITensorToDLPackVersioned(TVMFFIObjectHandle from, DLManagedTensorVersioned **out) {
  *out = NULL;
  if (check_is_tensor("TVMFFITensorToDLPackVersioned", from) != 0) return -1;
  DLManagedTensorVersioned *managed = (DLManagedTensorVersioned *)fh_mem_alloc(sizeof(*managed));
  if (managed == NULL) return fh_error_raise_no_memory();
  *managed = (DLManagedTensorVersioned){
      .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
      .manager_ctx = from,
      .deleter = end_versioned,
      .flags = is_read_only(from) ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
      .dl_tensor = *TVMFFITensorGetDLTensorPtr(from),
  };
  fh_object_retain(from);
  *out = managed;
  return 0;
}
