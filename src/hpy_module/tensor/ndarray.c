/* Arrays of NumPy, read from their struct, which NumPy's C API has had since its beginning and promises to keep.
 *
 * An array that NumPy would describe by __dlpack__ becomes a borrowed tensor of the same description. The package has
 * samples read (ndarray_reads) before it says that the struct is as it is known here (ndarray_use).
 *
 * Without a GIL another thread may give the array another shape, dtype or memory meanwhile (`a.shape = ...`,
 * `a.resize(...)`). NumPy has no lock against that, reads the struct in its own __dlpack__ as it is read here, and
 * leaves it to the program not to do so. What is relied on is what any user of NumPy's C API relies on: that the array,
 * which the caller keeps, keeps its dtype and its extents. All numbers are copied before they are judged, and a struct
 * that is another one after copying is not believed: NumPy is asked then. */
#include "ndarray.h"

#include "borrowed.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/raise.h"

intptr_t fb_ndarray_type;

/* What follows the header of an array, and that of its dtype. */
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

/* As many axes as NumPy arrays may have. */
enum { MOST_AXES = 64 };

/* What native code is told of an array. The tensor points at the copies of shape and strides behind it. */
typedef struct Seen {
  DLTensor tensor;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
} Seen;

/* The native type of each dtype of one size, by number, with the binary logarithm of the bytes; 0 bits: none. */
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

/* Whether the struct still says what was read of it, and so what was read between is of one state of the array, unless
 * the array changed twice. */
static bool is_unchanged(const char *at, const Array *before) {
  Array now;
  /* After the extents; what changes the struct is no atomic operation, and the fence pairs with none. */
  fh_atomic_fence_acquire_after_u64((const uint64_t *)(const void *)at);
  memcpy(&now, at, sizeof(now));
  return now.data == before->data && now.n_dims == before->n_dims && now.shape == before->shape &&
         now.strides == before->strides && now.dtype == before->dtype && now.flags == before->flags;
}

/* Describes an array. False for one that NumPy must be asked about: because nobody may write to it, because of its
 * dtype or its strides, or because it changed meanwhile. */
FH_INLINE bool describe(HPy value, Seen *out) {
  const ptrdiff_t header = fb_context_type_offset + (ptrdiff_t)sizeof(void *);
  const char *at = (const char *)value._i + header;
  Array array;
  Dtype dtype;
  memcpy(&array, at, sizeof(array));
  memcpy(&dtype, array.dtype + header, sizeof(dtype));
  uint32_t number = (uint32_t)dtype.number;
  if (number >= sizeof(known) / sizeof(known[0]) || known[number].type.bits == 0) return false;
  if ((dtype.byte_order != '=' && dtype.byte_order != '|') || (array.flags & WRITEABLE) == 0) return false;
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
  for (int32_t i = 0; i < array.n_dims; i++) {
    int64_t stride = array.strides[i];
    if ((stride & ((INT64_C(1) << shift) - 1)) != 0) return false;
    out->shape[i] = array.shape[i];
    out->strides[i] = stride / (INT64_C(1) << shift);
  }
  return FH_LIKELY(!fb_context_free_threaded) || is_unchanged(at, &array);
}

int fb_ndarray_tensor(HPyContext *ctx, HPy value, TVMFFIObject **out) {
  Seen seen;
  if (!describe(value, &seen)) return 1;
  *out = fb_borrowed_new(ctx, value, NULL, &seen.tensor);
  return *out == NULL ? -1 : 0;
}

int fb_ndarray_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  Seen seen;
  if (!describe(value, &seen)) return 1;
  TVMFFIObject *made = fb_borrowed_lend(ctx, value, NULL, &seen.tensor);
  if (FH_UNLIKELY(made == NULL)) return -1;
  fb_args_view(args, made, out);
  args->temps[args->n_temps - 1].tagged += FB_TEMP_BORROWED;
  return 0;
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* Whether a tuple of ints is these n numbers; false without an exception, too, if it is none. */
static bool is_tuple(HPyContext *ctx, HPy tuple, const int64_t *numbers, int32_t n) {
  if (!HPyTuple_Check(ctx, tuple) || HPy_Length(ctx, tuple) != n) return false;
  bool is_same = true;
  for (int32_t i = 0; is_same && i < n; i++) {
    HPy item = HPy_GetItem_i(ctx, tuple, i);
    is_same = !HPy_IsNull(item) && HPyLong_AsInt64_t(ctx, item) == numbers[i];
    if (!HPy_IsNull(item)) HPy_Close(ctx, item);
  }
  if (HPyErr_Occurred(ctx)) HPyErr_Clear(ctx);
  return is_same;
}

HPyDef_METH(fb_ndarray_reads, "ndarray_reads", HPyFunc_VARARGS,
            .doc = "Whether an array's struct says: address, shape, strides in items, code, bits.")
static HPy fb_ndarray_reads_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 6) return fb_raise(ctx, ctx->h_TypeError, "ndarray_reads() takes 6 arguments, got %zu", nargs);
  Seen seen;
  const DLTensor *tensor = &seen.tensor;
  bool is_right = fb_ext != NULL && describe(args[0], &seen);
  is_right = is_right && HPyLong_AsUInt64_t(ctx, args[1]) == (uint64_t)(uintptr_t)tensor->data;
  is_right = is_right && is_tuple(ctx, args[2], tensor->shape, tensor->ndim);
  is_right = is_right && is_tuple(ctx, args[3], tensor->strides, tensor->ndim);
  is_right = is_right && HPyLong_AsInt64_t(ctx, args[4]) == tensor->dtype.code;
  is_right = is_right && HPyLong_AsInt64_t(ctx, args[5]) == tensor->dtype.bits;
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  return HPy_Dup(ctx, is_right ? ctx->h_True : ctx->h_False);
}

HPyDef_METH(fb_ndarray_use, "ndarray_use", HPyFunc_O, .doc = "From now on read arrays of this class from their struct.")
static HPy fb_ndarray_use_impl(HPyContext *ctx, HPy self, HPy cls) {
  (void)self;
  /* Relaxed, as it is read. Threads that learn at the same time store the same word. The class is kept, so that its
   * word stays its own. */
  if (fb_ext != NULL) fh_atomic_store_relaxed(&fb_ndarray_type, HPy_Dup(ctx, cls)._i);
  return HPy_Dup(ctx, ctx->h_None);
}
