/* dlpack.c - DLPack structs with any fields, imported, viewed, printed and exported again. */
#include "core/tensor/dltensor.h"
#include "core/tensor/tensor.h"

#include "fuzz.h"

void fuzz_start(void) {}

static int n_ends;
static void end_plain(DLManagedTensor *self) { n_ends += self != NULL; }
static void end_versioned(DLManagedTensorVersioned *self) { n_ends += self != NULL; }

enum { MAX_DIMS = 6 };
typedef struct {
  DLTensor tensor;
  int64_t *blocks[2]; /* shape and strides, each without spare bytes */
} description;

static int64_t *read_extents(fuzz_input *in, int32_t n, int64_t **block) {
  *block = (int64_t *)malloc(n > 0 ? (size_t)n * sizeof **block : 1);
  for (int32_t i = 0; i < n; ++i) (*block)[i] = fuzz_byte(in) & 1 ? (int64_t)fuzz_word(in) : (int8_t)fuzz_byte(in);
  return *block;
}

static void read_description(fuzz_input *in, description *d) {
  memset(d, 0, sizeof(*d));
  uint8_t given = fuzz_byte(in);
  DLTensor *t = &d->tensor;
  t->ndim = fuzz_byte(in) % (MAX_DIMS + 3) - 2;
  t->data = (void *)(uintptr_t)fuzz_word(in);
  t->device.device_type = (DLDeviceType)(int8_t)fuzz_byte(in);
  t->device.device_id = (int8_t)fuzz_byte(in);
  t->dtype.code = fuzz_byte(in);
  t->dtype.bits = fuzz_byte(in);
  t->dtype.lanes = (uint16_t)fuzz_word(in);
  t->byte_offset = given & 4 ? fuzz_word(in) : 0;
  if (given & 1) t->shape = read_extents(in, t->ndim, &d->blocks[0]);
  if (given & 2) t->strides = read_extents(in, t->ndim, &d->blocks[1]);
}

static void end_description(description *d) {
  free(d->blocks[0]);
  free(d->blocks[1]);
}

/* Operations that must work for every imported Tensor. */
static void use(TVMFFIObjectHandle tensor, const DLTensor *view_of) {
  const DLTensor *held = TVMFFITensorGetDLTensorPtr(tensor);
  TVMFFIObjectHandle view;
  DLManagedTensor *plain;
  DLManagedTensorVersioned *versioned;
  TVMFFIAny text, any = fh_any_object(tensor);
  fuzz_check(held->ndim == 0 || (held->shape != NULL && held->strides != NULL));
  int64_t n;
  size_t n_bytes;
  fuzz_check(fh_dltensor_count(held, &n) && fh_dltensor_size(held, &n_bytes));
  fuzz_check(n == 0 || (held->data != NULL && n_bytes != 0));
  (void)fh_dltensor_is_compact(held);
  if (fuzz_call("ffi.ReprPrint", &any, 1, &text) == 0) {
    fh_any_drop(&text);
  } else {
    fuzz_check(fuzz_take_error("ValueError")); /* its data type has no name */
  }
  fuzz_check(TVMFFITensorToDLPack(tensor, &plain) == 0);
  plain->deleter(plain);
  fuzz_check(TVMFFITensorToDLPackVersioned(tensor, &versioned) == 0);
  versioned->deleter(versioned);
  fuzz_check(TVMFFITensorCreateUnsafeView(tensor, held, &view) == 0);
  fh_object_release(view);
  if (TVMFFITensorCreateUnsafeView(tensor, view_of, &view) == 0) {
    fh_object_release(view);
  } else {
    (void)fuzz_take_error("");
  }
}

void fuzz_one(const uint8_t *data, size_t n_bytes) {
  fuzz_input in = {data, data + n_bytes};
  description first, second;
  read_description(&in, &first);
  read_description(&in, &second);
  int32_t alignment = (int8_t)fuzz_byte(&in);
  uint8_t options = fuzz_byte(&in);
  TVMFFIObjectHandle tensor;
  DLManagedTensor plain = {first.tensor, NULL, options & 2 ? end_plain : NULL};
  DLManagedTensorVersioned versioned = {
      {fuzz_byte(&in) & 3, fuzz_byte(&in)}, NULL, options & 2 ? end_versioned : NULL, fuzz_byte(&in), first.tensor};
  n_ends = 0;
  int rc = options & 1 ? TVMFFITensorFromDLPack(&plain, alignment, options & 4, &tensor)
                       : TVMFFITensorFromDLPackVersioned(&versioned, alignment, options & 4, &tensor);
  if (rc == 0) {
    use(tensor, &second.tensor);
    fuzz_check(n_ends == 0);
    fh_object_release(tensor);
  } else {
    (void)fuzz_take_error("");
  }
  fuzz_check(n_ends == (rc == 0 && (options & 2) != 0)); /* on failure the caller keeps it */
  end_description(&first);
  end_description(&second);
}
