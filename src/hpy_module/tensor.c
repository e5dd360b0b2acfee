/* Tensor, and the exchange of arrays through DLPack. */
#include "tensor.h"

#include <stdlib.h>

#include "capsule.h"
#include "error.h"
#include "hooks.h"
#include "value.h"

/* --- in ------------------------------------------------------------------------------------------------------------------ */

static atomic_flag claiming = ATOMIC_FLAG_INIT;

/* Takes the pointer out of a capsule of that name and renames it, so that nobody else takes it; NULL, without an exception,
 * if it has another name. */
static void *claim(HPyContext *ctx, HPy capsule, const char *name, const char *used_name) {
  void *pointer = NULL;
  if (FB_LIKELY(!fb_free_threaded)) {
    pointer = fb_capsule_get(ctx, capsule, name);
    if (pointer == NULL) HPyErr_Clear(ctx);
    if (pointer != NULL && fb_capsule_rename(ctx, capsule, used_name) != 0) return NULL;
    return pointer;
  }
  /* Held for three calls that read and write the capsule and run no Python code. */
  while (atomic_flag_test_and_set_explicit(&claiming, memory_order_acquire)) {
  }
  if (fb_capsule_is_valid(ctx, capsule, name)) {
    pointer = fb_capsule_get(ctx, capsule, name);
    fb_capsule_rename(ctx, capsule, used_name);
  }
  atomic_flag_clear_explicit(&claiming, memory_order_release);
  return pointer;
}

static FB_NOINLINE int refuse_capsule(HPyContext *ctx, HPy capsule) {
  char given[128];
  if (fb_capsule_is_valid(ctx, capsule, "used_dltensor") ||
      fb_capsule_is_valid(ctx, capsule, "used_dltensor_versioned")) {
    fb_raise(ctx, ctx->h_ValueError, "the DLPack capsule was consumed already");
  } else {
    fb_raise(ctx, ctx->h_TypeError, "expected a DLPack capsule, got %s",
             fb_type_name(ctx, capsule, given, sizeof(given)));
  }
  return -1;
}

static FB_NOINLINE int take_versioned(HPyContext *ctx, HPy capsule, int32_t alignment, bool contiguous,
                                      TVMFFIObjectHandle *out) {
  DLManagedTensorVersioned *managed = claim(ctx, capsule, "dltensor_versioned", "used_dltensor_versioned");
  if (managed == NULL) return refuse_capsule(ctx, capsule);
  if ((managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    fb_raise(ctx, ctx->h_BufferError, "the array is read-only, and native code could not know: pass a copy");
  } else if (TVMFFITensorFromDLPackVersioned(managed, alignment, contiguous, out) == 0) {
    return 0;
  } else {
    fb_error_raise_pending(ctx, "from_dlpack");
  }
  fb_capsule_rename(ctx, capsule, "dltensor_versioned"); /* it was refused: others may have it */
  return -1;
}

/* Takes the tensor out of a capsule, which is marked as used. *out is owned. 0, or -1 with an exception raised. */
static int take_capsule(HPyContext *ctx, HPy capsule, int32_t alignment, bool contiguous, TVMFFIObject **out) {
  TVMFFIObjectHandle made = NULL;
  DLManagedTensor *managed = claim(ctx, capsule, "dltensor", "used_dltensor");
  int rc = 0;
  if (FB_UNLIKELY(managed == NULL)) {
    rc = take_versioned(ctx, capsule, alignment, contiguous, &made);
  } else if (FB_UNLIKELY(TVMFFITensorFromDLPack(managed, alignment, contiguous, &made) != 0)) {
    rc = -1;
    fb_error_raise_pending(ctx, "from_dlpack");
    fb_capsule_rename(ctx, capsule, "dltensor"); /* it was refused: others may have it */
  }
  *out = made;
  return rc;
}

static FbCell dlpack_name; /* "__dlpack__"; written once during the import */

int fb_tensor_from_producer(HPyContext *ctx, HPy producer, TVMFFIObject **out) {
  /* Without arguments every producer gives the older struct, which has no flags to look at, and refuses if it cannot;
   * then the package asks again, in full. */
  HPy name = fb_cell_borrow(ctx, &dlpack_name);
  HPy capsule = fb_call_method(ctx, name, &producer, 1);
  fb_cell_return(ctx, name);
  if (HPy_IsNull(capsule) && HPyErr_ExceptionMatches(ctx, ctx->h_Exception)) { /* not a KeyboardInterrupt */
    HPyErr_Clear(ctx);
    capsule = fb_hook_call(ctx, FB_HOOK_DLPACK_CAPSULE, &producer, 1);
  }
  if (HPy_IsNull(capsule)) return -1;
  int rc = take_capsule(ctx, capsule, 0, false, out);
  HPy_Close(ctx, capsule);
  return rc;
}

static void borrowed_drop(DLManagedTensor *self) { free(self); }

HPy fb_tensor_from_borrowed(HPyContext *ctx, const DLTensor *tensor) {
  DLManagedTensor *managed = calloc(1, sizeof(*managed));
  if (managed == NULL) return HPyErr_NoMemory(ctx);
  managed->dl_tensor = *tensor;
  managed->deleter = borrowed_drop;
  TVMFFIObjectHandle made = NULL;
  if (TVMFFITensorFromDLPack(managed, 0, 0, &made) == 0) return fb_object_wrap(ctx, made);
  free(managed);
  return fb_error_raise_pending(ctx, "callback");
}

HPyDef_METH(fb_tensor_from_dlpack, "tensor_from_dlpack", HPyFunc_VARARGS, .doc = "Take over a DLPack capsule.")
static HPy fb_tensor_from_dlpack_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs < 1 || nargs > 3) {
    return fb_raise(ctx, ctx->h_TypeError,
                    "tensor_from_dlpack() takes capsule[, require_alignment[, require_contiguous]]");
  }
  int32_t alignment = nargs > 1 ? HPyLong_AsInt32_t(ctx, args[1]) : 0;
  if (alignment == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  if (alignment < 0) return fb_raise(ctx, ctx->h_ValueError, "require_alignment must not be negative");
  int contiguous = nargs > 2 ? HPy_IsTrue(ctx, args[2]) : 0;
  if (contiguous < 0) return HPy_NULL;
  TVMFFIObject *made;
  if (take_capsule(ctx, args[0], alignment, contiguous != 0, &made) != 0) return HPy_NULL;
  return fb_object_wrap(ctx, made);
}

/* --- out ----------------------------------------------------------------------------------------------------------------- */

HPyDef_METH(tensor_to_dlpack, "_to_dlpack", HPyFunc_NOARGS, .doc = "Capsule \"dltensor\".")
static HPy tensor_to_dlpack_impl(HPyContext *ctx, HPy self) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (place == NULL) return HPy_NULL;
  DLManagedTensor *managed = NULL;
  int rc = TVMFFITensorToDLPack(place->handle, &managed);
  fb_place_unuse(place);
  if (rc != 0) return fb_error_raise_pending(ctx, "_to_dlpack");
  HPy capsule = fb_capsule_new_dltensor(ctx, managed);
  if (HPy_IsNull(capsule)) managed->deleter(managed);
  return capsule;
}

HPyDef_METH(tensor_to_versioned, "_to_dlpack_versioned", HPyFunc_NOARGS, .doc = "Capsule \"dltensor_versioned\".")
static HPy tensor_to_versioned_impl(HPyContext *ctx, HPy self) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (place == NULL) return HPy_NULL;
  DLManagedTensorVersioned *managed = NULL;
  int rc = TVMFFITensorToDLPackVersioned(place->handle, &managed);
  fb_place_unuse(place);
  if (rc != 0) return fb_error_raise_pending(ctx, "_to_dlpack_versioned");
  HPy capsule = fb_capsule_new_dltensor_versioned(ctx, managed);
  if (HPy_IsNull(capsule)) managed->deleter(managed);
  return capsule;
}

/* --- class Tensor --------------------------------------------------------------------------------------------------------- */

/* What read() makes of the description of self. */
static HPy read_tensor(HPyContext *ctx, HPy self, HPy (*read)(HPyContext *, const DLTensor *)) {
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (place == NULL) return HPy_NULL;
  HPy result = read(ctx, (const DLTensor *)(place->handle + 1));
  fb_place_unuse(place);
  return result;
}

static int64_t numel(const DLTensor *tensor) {
  int64_t product = 1;
  for (int32_t i = 0; i < tensor->ndim; i++) product *= tensor->shape[i];
  return product;
}

static bool is_contiguous(const DLTensor *tensor) {
  if (tensor->strides == NULL || numel(tensor) == 0) return true;
  int64_t expected = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
    if (tensor->shape[i] == 1) continue; /* its stride is never used */
    if (tensor->strides[i] != expected) return false;
    expected *= tensor->shape[i];
  }
  return true;
}

HPy fb_int_tuple(HPyContext *ctx, const int64_t *values, int32_t n) {
  enum { STACK_ITEMS = 8 };
  HPy stack[STACK_ITEMS], *items = n <= STACK_ITEMS ? stack : malloc((size_t)n * sizeof(*items)), tuple = HPy_NULL;
  if (items == NULL) return HPyErr_NoMemory(ctx);
  int32_t n_made = 0;
  for (; n_made < n; n_made++) {
    items[n_made] = HPyLong_FromInt64_t(ctx, values[n_made]);
    if (HPy_IsNull(items[n_made])) break;
  }
  if (n_made == n) tuple = HPyTuple_FromArray(ctx, items, n); /* PyPy leaks an HPyTupleBuilder */
  for (int32_t i = 0; i < n_made; i++) HPy_Close(ctx, items[i]);
  if (items != stack) free(items);
  return tuple;
}

static HPy read_shape(HPyContext *ctx, const DLTensor *tensor) {
  return fb_int_tuple(ctx, tensor->shape, tensor->ndim);
}
static HPy read_strides(HPyContext *ctx, const DLTensor *tensor) {
  return fb_int_tuple(ctx, tensor->strides, tensor->ndim);
}
static HPy read_dtype(HPyContext *ctx, const DLTensor *tensor) { return fb_data_type_result(ctx, tensor->dtype); }
static HPy read_device(HPyContext *ctx, const DLTensor *tensor) { return fb_device_result(ctx, tensor->device); }
static HPy read_ndim(HPyContext *ctx, const DLTensor *tensor) { return HPyLong_FromInt32_t(ctx, tensor->ndim); }
static HPy read_byte_offset(HPyContext *ctx, const DLTensor *tensor) {
  return HPyLong_FromUInt64_t(ctx, tensor->byte_offset);
}
static HPy read_data_ptr(HPyContext *ctx, const DLTensor *tensor) {
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)tensor->data);
}
static HPy read_numel(HPyContext *ctx, const DLTensor *tensor) { return HPyLong_FromInt64_t(ctx, numel(tensor)); }
static HPy read_is_contiguous(HPyContext *ctx, const DLTensor *tensor) {
  return HPy_Dup(ctx, is_contiguous(tensor) ? ctx->h_True : ctx->h_False);
}

HPyDef_GET(tensor_shape, "shape", .doc = "Extent of each axis.")
static HPy tensor_shape_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_shape);
}

HPyDef_GET(tensor_strides, "strides", .doc = "Stride of each axis, in elements.")
static HPy tensor_strides_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_strides);
}

HPyDef_GET(tensor_dtype, "dtype", .doc = "Element type.")
static HPy tensor_dtype_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_dtype);
}

HPyDef_GET(tensor_device, "device", .doc = "Where the memory is.")
static HPy tensor_device_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_device);
}

HPyDef_GET(tensor_ndim, "ndim", .doc = "Number of axes.")
static HPy tensor_ndim_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_ndim);
}

HPyDef_GET(tensor_byte_offset, "byte_offset", .doc = "Bytes from data_ptr() to the first element.")
static HPy tensor_byte_offset_get(HPyContext *ctx, HPy self, void *closure) {
  (void)closure;
  return read_tensor(ctx, self, read_byte_offset);
}

HPyDef_METH(tensor_data_ptr, "data_ptr", HPyFunc_NOARGS, .doc = "Address of the memory; add byte_offset.")
static HPy tensor_data_ptr_impl(HPyContext *ctx, HPy self) { return read_tensor(ctx, self, read_data_ptr); }

HPyDef_METH(tensor_numel, "numel", HPyFunc_NOARGS, .doc = "Number of elements.")
static HPy tensor_numel_impl(HPyContext *ctx, HPy self) { return read_tensor(ctx, self, read_numel); }

static HPy extent_of(HPyContext *ctx, const DLTensor *tensor, int64_t axis) {
  if (axis < -tensor->ndim || axis >= tensor->ndim) {
    return fb_raise(ctx, ctx->h_IndexError, "axis %lld is out of range for a tensor of %d axes", (long long)axis,
                    (int)tensor->ndim);
  }
  return HPyLong_FromInt64_t(ctx, tensor->shape[axis < 0 ? axis + tensor->ndim : axis]);
}

HPyDef_METH(tensor_size, "size", HPyFunc_O, .doc = "Extent of one axis; negative counts from the end.")
static HPy tensor_size_impl(HPyContext *ctx, HPy self, HPy arg) {
  int64_t axis = HPyLong_AsInt64_t(ctx, arg); /* may run Python code: before the use begins */
  if (axis == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  FbPlace *place = fb_object_begin(ctx, self, kTVMFFITensor, 1);
  if (place == NULL) return HPy_NULL;
  HPy extent = extent_of(ctx, (const DLTensor *)(place->handle + 1), axis);
  fb_place_unuse(place);
  return extent;
}
HPyDef_METH(tensor_is_contiguous, "is_contiguous", HPyFunc_NOARGS,
            .doc = "Whether the elements lie compact, row by row.")
static HPy tensor_is_contiguous_impl(HPyContext *ctx, HPy self) { return read_tensor(ctx, self, read_is_contiguous); }

int fb_tensor_init(HPyContext *ctx) {
  HPy name = HPyUnicode_FromString(ctx, "__dlpack__");
  if (HPy_IsNull(name)) return -1;
  fb_cell_store(ctx, &dlpack_name, name);
  HPy_Close(ctx, name);
  return 0;
}

HPy fb_tensor_type_new(HPyContext *ctx, HPy base) {
  static HPyDef *defines[] = {
      &fb_object_new,        &tensor_shape,       &tensor_strides,      &tensor_dtype, &tensor_device,
      &tensor_ndim,          &tensor_byte_offset, &tensor_data_ptr,     &tensor_numel, &tensor_size,
      &tensor_is_contiguous, &tensor_to_dlpack,   &tensor_to_versioned, NULL,          NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.Tensor",
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = "An n-dimensional array with shared ownership of its memory, exchanged through DLPack.",
  };
  return fb_object_derive(ctx, &spec, base);
}
