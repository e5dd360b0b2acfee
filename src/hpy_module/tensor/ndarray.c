/* NumPy arrays, read from their struct, which has been part of NumPy's C API from the beginning and is guaranteed to
 * stay.
 *
 * An array that NumPy would export by __dlpack__ becomes a borrowed tensor with the same description. The package first
 * passes samples (ndarray_reads) and then confirms that the struct has the known layout (ndarray_use).
 *
 * Without a GIL another thread may change the shape, dtype or memory of the array at any time (`a.shape = ...`,
 * `a.resize(...)`). NumPy has no lock against that; its own __dlpack__ reads the struct in the same way, and programs
 * must not do so. This file relies on the same guarantee as every user of NumPy's C API: the array, which the caller
 * keeps alive, keeps its dtype and its extents. All numbers are copied before they are checked, and if the struct has
 * changed after the copy, the array is imported by __dlpack__. */
#include "ndarray.h"

#include "borrowed.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/object/object.h"

intptr_t fb_ndarray_type;

/* The members after the header of an array, and after the header of its dtype. */
typedef struct Array {
  void *data;
  int32_t n_dims;
  int64_t *shape;
  int64_t *strides; /* in bytes */
  void *base;
  const char *dtype;
  int32_t flags;
} Array;
typedef struct Dtype {
  void *scalar_class;
  char kind, letter, byte_order, unused;
  int32_t number;
} Dtype;

enum { WRITEABLE = 0x400 };

/* The maximum number of axes of a NumPy array. */
enum { MOST_AXES = 64 };

/* The description of an array for native code. The tensor points to the copies of shape and strides in this struct. */
typedef struct Seen {
  DLTensor tensor;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
} Seen;

/* The native type of each dtype with a single size, by number, with the binary logarithm of its size in bytes; 0 bits:
 * none. */
static const struct {
  DLDataType type;
  uint8_t shift;
} known[] = {
    [0] = {{kDLBool, 8, 1}, 0},    [1] = {{kDLInt, 8, 1}, 0},       [2] = {{kDLUInt, 8, 1}, 0},
    [3] = {{kDLInt, 16, 1}, 1},    [4] = {{kDLUInt, 16, 1}, 1},     [5] = {{kDLInt, 32, 1}, 2},
    [6] = {{kDLUInt, 32, 1}, 2},   [7] = {{kDLInt, 64, 1}, 3},      [8] = {{kDLUInt, 64, 1}, 3},
    [9] = {{kDLInt, 64, 1}, 3},    [10] = {{kDLUInt, 64, 1}, 3},    [11] = {{kDLFloat, 32, 1}, 2},
    [12] = {{kDLFloat, 64, 1}, 3}, [14] = {{kDLComplex, 64, 1}, 3}, [15] = {{kDLComplex, 128, 1}, 4},
    [23] = {{kDLFloat, 16, 1}, 1},
};

/* Whether the struct still has the values that were read. If so, all values in between belong to one state of the
 * array, unless the array changed twice. */
static bool is_unchanged(const char *at, const Array *before) {
  Array now;
  /* After the extents. Changes of the struct are not atomic operations, and the fence pairs with none. */
  fh_atomic_fence_acquire_after_u64((const uint64_t *)(const void *)at);
  memcpy(&now, at, sizeof(now));
  return now.data == before->data && now.n_dims == before->n_dims && now.shape == before->shape &&
         now.strides == before->strides && now.dtype == before->dtype && now.flags == before->flags;
}

/* Describes an array. Returns false if the array must be imported by __dlpack__: because it is read-only and the callee
 * may write, because of its dtype or its strides, or because it has just changed. */
FH_INLINE bool describe(HPy value, bool reads, Seen *out) {
  const ptrdiff_t header = fb_context_type_offset + (ptrdiff_t)sizeof(void *);
  const char *at = (const char *)value._i + header;
  Array array;
  Dtype dtype;
  memcpy(&array, at, sizeof(array));
  memcpy(&dtype, array.dtype + header, sizeof(dtype));
  uint32_t number = (uint32_t)dtype.number;
  if (number >= sizeof(known) / sizeof(known[0]) || known[number].type.bits == 0) return false;
  if ((dtype.byte_order != '=' && dtype.byte_order != '|') || ((array.flags & WRITEABLE) == 0 && !reads)) return false;
  if ((uint32_t)array.n_dims > MOST_AXES) return false;
  if (array.n_dims != 0 && (array.shape == NULL || array.strides == NULL)) return false;
  out->tensor = (DLTensor){
      .data = array.data,
      .device = {kDLCPU, 0},
      .ndim = array.n_dims,
      .dtype = known[number].type,
      .shape = out->shape,
      .strides = out->strides,
  };
  const unsigned shift = known[number].shift;
  for (int32_t i = 0; i < array.n_dims; ++i) {
    int64_t stride = array.strides[i];
    if ((stride & ((INT64_C(1) << shift) - 1)) != 0) return false;
    out->shape[i] = array.shape[i];
    out->strides[i] = stride / (INT64_C(1) << shift);
  }
  return FH_LIKELY(!fb_context_free_threaded) || is_unchanged(at, &array);
}

int fb_ndarray_tensor(HPyContext *ctx, HPy value, bool reads, TVMFFIObject **out) {
  Seen seen;
  if (!describe(value, reads, &seen)) return 1;
  *out = fb_borrowed_new(ctx, value, NULL, &seen.tensor);
  return *out == NULL ? -1 : 0;
}

int fb_ndarray_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  Seen seen;
  if (!describe(value, args->reads, &seen)) return 1;
  TVMFFIObject *made = fb_borrowed_lend(ctx, value, NULL, &seen.tensor);
  if (FH_UNLIKELY(made == NULL)) return -1;
  fb_args_view(args, made, out);
  args->temps[args->n_temps - 1].tagged += FB_TEMP_BORROWED;
  return 0;
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

/* Whether a tuple of ints equals these n numbers; false without an exception for other objects. */
static bool is_tuple(HPyContext *ctx, HPy tuple, const int64_t *numbers, int32_t n) {
  bool is_same = HPyTuple_Check(ctx, tuple) && HPy_Length(ctx, tuple) == n;
  for (int32_t i = 0; is_same && i < n; ++i) {
    HPy item = HPy_GetItem_i(ctx, tuple, i);
    is_same = !HPy_IsNull(item) && HPyLong_AsInt64_t(ctx, item) == numbers[i];
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
  }
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  return is_same;
}

FB_METHOD(fb_ndarray_reads, "ndarray_reads",
          "Whether an array's struct says: address, shape, strides in items, code, bits.") {
  if (nargs != 6) return fb_raise(ctx, ctx->h_TypeError, "ndarray_reads() takes 6 arguments, got %zu", nargs);
  Seen seen;
  const DLTensor *tensor = &seen.tensor;
  bool is_right = fb_ext != NULL && describe(args[0], false, &seen);
  is_right = is_right && HPyLong_AsUInt64_t(ctx, args[1]) == (uint64_t)(uintptr_t)tensor->data;
  is_right = is_right && is_tuple(ctx, args[2], tensor->shape, tensor->ndim);
  is_right = is_right && is_tuple(ctx, args[3], tensor->strides, tensor->ndim);
  is_right = is_right && HPyLong_AsInt64_t(ctx, args[4]) == tensor->dtype.code;
  is_right = is_right && HPyLong_AsInt64_t(ctx, args[5]) == tensor->dtype.bits;
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPy_Dup(ctx, is_right ? ctx->h_True : ctx->h_False);
}

/* numpy.asarray, and names, which are never released. One thread stores them. A thread that comes later leaves at once,
 * and the package makes its arrays until fb_ndarray_type is set. */
static HPy as_array, copy_name, copy_order, flags_name, writeable_name;
static uint32_t is_claimed;

/* Makes the names. Returns 0, or -1 with an exception raised. */
static int make_names(HPyContext *ctx, HPy *names) {
  static const char *const texts[] = {"copy", "K", "flags", "writeable"};
  for (int i = 0; i < 4; ++i) {
    names[i] = HPyUnicode_FromString(ctx, texts[i]);
    if (!HPy_IsNull(names[i])) continue;
    while (i > 0) HPy_Close(ctx, names[--i]);
    return -1;
  }
  return 0;
}

FB_METHOD(fb_ndarray_use, "ndarray_use",
          "From now on read arrays of a class from their struct, and make them by a function.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "ndarray_use() takes 2 arguments, got %zu", nargs);
  if (fb_ext == NULL || fh_atomic_load_acquire(&fb_ndarray_type) != 0) return HPy_Dup(ctx, ctx->h_None);
  HPy names[4];
  uint32_t expected = 0;
  if (make_names(ctx, names) != 0) return HPy_NULL;
  if (!fh_atomic_cas_acquire_u32(&is_claimed, &expected, 1)) { /* acquire, pairs with nothing: one thread succeeds */
    for (int i = 0; i < 4; ++i) HPy_Close(ctx, names[i]);
    return HPy_Dup(ctx, ctx->h_None);
  }
  copy_name = names[0], copy_order = names[1], flags_name = names[2], writeable_name = names[3];
  as_array = HPy_Dup(ctx, args[1]);
  /* Release: pairs with fb_ndarray_export. The class is never freed, so its word stays unique. */
  fh_atomic_store_release(&fb_ndarray_type, HPy_Dup(ctx, args[0])._i);
  return HPy_Dup(ctx, ctx->h_None);
}

bool fb_ndarray_export(HPyContext *ctx, HPy tensor, bool reads, bool copies, HPy *out) {
  if (fh_atomic_load_acquire(&fb_ndarray_type) == 0) return false; /* pairs with ndarray_use() */
  HPy array = fb_call_one(ctx, as_array, tensor);
  *out = array;
  if (HPy_IsNull(array) || (!reads && !copies)) return true;
  if (copies) {
    const HPy args[] = {array, copy_order};
    *out = fb_call_method(ctx, copy_name, args, 2);
    HPy_Close(ctx, array);
    return true;
  }
  HPy flags = HPy_GetAttr(ctx, array, flags_name);
  bool is_done = !HPy_IsNull(flags) && HPy_SetAttr(ctx, flags, writeable_name, ctx->h_False) == 0;
  if (!HPy_IsNull(flags)) HPy_Close(ctx, flags);
  if (!is_done) {
    fb_drop_handle(ctx, array);
    *out = HPy_NULL;
  }
  return true;
}

/* --- arrays in native objects ------------------------------------------------------------------------------------- */

/* Tensors of arrays that native code holds as Python objects: a C function for bound libraries (ffi_hpy/ndarray.h). */

/* A TVMFFISafeCallType. Arguments: an OpaquePyObject, and whether the tensor is only read. The result is the Tensor of
 * a NumPy array; None for other values, which the package converts. */
static int read_held(FH_MAYBE_UNUSED void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  if (n != 2 || args[0].type_index != kTVMFFIOpaquePyObject || fb_ext == NULL) return 0;
  FbThread attach;
  TVMFFIObject *made = NULL;
  if (fb_thread_attach(&attach) != 0) return 0;
  HPy value = fb_opaque_unwrap(attach.ctx, args[0].v_obj);
  if (!HPy_IsNull(value)) {
    bool is_read = fb_ndarray_check(value) && fb_ndarray_tensor(attach.ctx, value, args[1].v_int64 != 0, &made) == 0;
    if (!is_read && HPyErr_Occurred(attach.ctx)) HPyErr_Clear(attach.ctx);
    HPy_Close(attach.ctx, value);
  }
  fb_thread_detach(&attach);
  if (made != NULL) *result = (TVMFFIAny){.type_index = kTVMFFITensor, .v_obj = made};
  return 0;
}

FB_METHOD_NOARGS(fb_held_reader, "array_reader",
                 "The pointer to the C function, of type TVMFFISafeCallType, that reads NumPy arrays.") {
  return HPyLong_FromUInt64_t(ctx, (uint64_t)(uintptr_t)read_held);
}
