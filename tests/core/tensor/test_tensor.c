/* test_tensor.c - Shape, Tensor, and DLPack in and out. */
#include "core/object/error.h"
#include "core/tensor/tensor.h"

#include "support/calls.h"

/* A 2x3 float32 tensor of a producer that counts the calls of its deleter. */
typedef struct {
  float data[6];
  int64_t shape[2], strides[2];
  int n_ends;
  DLManagedTensor plain;
  DLManagedTensorVersioned versioned;
} producer;

static void end_plain(DLManagedTensor *self) { ((producer *)self->manager_ctx)->n_ends += 1; }
static void end_versioned(DLManagedTensorVersioned *self) { ((producer *)self->manager_ctx)->n_ends += 1; }

static void make(producer *p) {
  memset(p, 0, sizeof(*p));
  p->shape[0] = 2, p->shape[1] = 3, p->strides[0] = 3, p->strides[1] = 1;
  DLTensor tensor = {p->data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, p->shape, NULL, 0};
  p->plain.dl_tensor = tensor;
  p->plain.manager_ctx = p;
  p->plain.deleter = end_plain;
  p->versioned.version.major = DLPACK_MAJOR_VERSION;
  p->versioned.dl_tensor = tensor;
  p->versioned.manager_ctx = p;
  p->versioned.deleter = end_versioned;
}

TEST(tensor_takes_a_dlpack_over_and_fills_in_strides) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  expect_int(TVMFFITensorFromDLPack(&p.plain, 4, 1, &tensor), 0);
  DLTensor *t = TVMFFITensorGetDLTensorPtr(tensor);
  expect_int(t->strides[0], 3);
  expect_int(t->strides[1], 1);
  expect(t->data == p.data);
  expect_repr(obj(tensor), "float32[2, 3]@cpu:0");
  expect_int(p.n_ends, 0);
  fh_object_release(tensor);
  expect_int(p.n_ends, 1);
}

TEST(tensor_keeps_the_strides_it_gets) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  p.strides[0] = 1, p.strides[1] = 2;
  p.plain.dl_tensor.strides = p.strides;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 1, &tensor), -1);
  expect_raised("RuntimeError", "not contiguous");
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), 0);
  expect_int(TVMFFITensorGetDLTensorPtr(tensor)->strides[1], 2);
  fh_object_release(tensor);
  expect_int(p.n_ends, 1);
}

TEST(tensor_refusals_leave_the_dlpack_to_its_owner) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  p.plain.dl_tensor.byte_offset = 2;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 4, 0, &tensor), -1);
  expect_raised("RuntimeError", "Expected data aligned to 4 bytes");
  p.plain.dl_tensor.byte_offset = 0;
  p.plain.dl_tensor.ndim = -1;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), -1);
  expect_raised("ValueError", "ndim -1");
  p.plain.dl_tensor.ndim = 2;
  p.shape[1] = -5;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), -1);
  expect_raised("ValueError", "dimension 1 is -5");
  p.shape[1] = 3;
  p.versioned.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), -1);
  expect_raised("RuntimeError", "not yet supported");
  p.versioned.version.major = 9;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), -1);
  expect_raised("RuntimeError", "Expected DLPack version 1 but got 9.0");
  expect_int(TVMFFITensorFromDLPack(NULL, 0, 0, &tensor), -1);
  expect_raised("ValueError", "but got NULL");
  expect_int(p.n_ends, 0);
}

TEST(tensor_exports_keep_it_alive_in_both_versions) {
  producer p;
  TVMFFIObjectHandle tensor;
  DLManagedTensor *plain;
  DLManagedTensorVersioned *versioned;
  make(&p);
  p.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), 0);
  expect_int(TVMFFITensorToDLPack(tensor, &plain), 0);
  expect_int(TVMFFITensorToDLPackVersioned(tensor, &versioned), 0);
  fh_object_release(tensor);
  expect_int(plain->dl_tensor.shape[1], 3);
  expect_int(versioned->dl_tensor.strides[0], 3);
  expect_int(versioned->version.major, DLPACK_MAJOR_VERSION);
  expect_int(versioned->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  plain->deleter(plain);
  expect_int(p.n_ends, 0);
  versioned->deleter(versioned);
  expect_int(p.n_ends, 1);
}

TEST(tensor_view_keeps_its_source_and_its_flags) {
  producer p;
  TVMFFIObjectHandle tensor, view, not_a_tensor = test_echo();
  DLManagedTensorVersioned *versioned;
  int64_t shape[1] = {6}, strides[1] = {1};
  make(&p);
  p.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), 0);
  DLTensor like = {p.data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  expect_int(TVMFFITensorCreateUnsafeView(tensor, &like, &view), -1);
  expect_raised("ValueError", "Expected strides of 1 dimensions");
  like.strides = strides;
  expect_int(TVMFFITensorCreateUnsafeView(not_a_tensor, &like, &view), -1);
  expect_raised("TypeError", "expected `ffi.Tensor` but got `ffi.Function`");
  expect_int(TVMFFITensorCreateUnsafeView(tensor, &like, &view), 0);
  shape[0] = 0; /* the Tensor has its own copy */
  fh_object_release(tensor);
  expect_int(p.n_ends, 0);
  expect_repr(obj(view), "float32[6]@cpu:0");
  expect_int(TVMFFITensorToDLPackVersioned(view, &versioned), 0);
  expect_int(versioned->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  versioned->deleter(versioned);
  fh_object_release(view);
  expect_int(p.n_ends, 1);
}

TEST(tensor_without_dimensions_or_elements_is_fine) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  p.plain.dl_tensor.ndim = 0;
  p.plain.dl_tensor.shape = NULL;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 1, &tensor), 0);
  expect_repr(obj(tensor), "float32[]@cpu:0");
  fh_object_release(tensor);
  make(&p);
  p.shape[0] = 0;
  p.plain.dl_tensor.data = NULL;
  p.strides[0] = 77;
  p.plain.dl_tensor.strides = p.strides;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 64, 1, &tensor), 0);
  fh_object_release(tensor);
}

TEST(exporting_something_else_is_a_type_error) {
  DLManagedTensor *plain;
  DLManagedTensorVersioned *versioned;
  expect_int(TVMFFITensorToDLPack(test_echo(), &plain), -1);
  expect_raised("TypeError", "TVMFFITensorToDLPack: expected `ffi.Tensor` but got `ffi.Function`");
  expect_int(TVMFFITensorToDLPackVersioned(NULL, &versioned), -1);
  expect_raised("TypeError", "got NULL");
}

/* ---- Descriptions that no memory can match ---- */

/* Expects that both import functions and the view refuse the description in p->plain. */
static void expect_refused(producer *p, const char *part) {
  TVMFFIObjectHandle tensor, source, view;
  producer good;
  make(&good);
  p->versioned.dl_tensor = p->plain.dl_tensor;
  expect_int(TVMFFITensorFromDLPack(&p->plain, 0, 0, &tensor), -1);
  expect(tensor == NULL);
  expect_raised("ValueError", part);
  expect_int(TVMFFITensorFromDLPackVersioned(&p->versioned, 0, 0, &tensor), -1);
  expect_raised("ValueError", part);
  expect_int(TVMFFITensorFromDLPack(&good.plain, 0, 0, &source), 0);
  expect_int(TVMFFITensorCreateUnsafeView(source, &p->plain.dl_tensor, &view), -1);
  expect_raised("ValueError", part);
  fh_object_release(source);
  expect_int(p->n_ends, 0);
}

TEST(tensor_without_data_but_with_elements_is_refused) {
  producer p;
  make(&p);
  p.plain.dl_tensor.data = NULL;
  expect_refused(&p, "Expected the memory of 6 elements but got NULL as data");
  p.plain.dl_tensor.device.device_type = kDLVulkan;
  expect_refused(&p, "got NULL as data");
  p.plain.dl_tensor.ndim = 0;
  expect_refused(&p, "Expected the memory of 1 elements");
}

TEST(tensor_of_a_shape_that_no_memory_has_room_for_is_refused) {
  producer p;
  make(&p);
  p.shape[0] = INT64_MAX;
  expect_refused(&p, "more than 2**63 - 1 elements");
  p.shape[0] = INT64_C(1) << 32, p.shape[1] = INT64_C(1) << 32;
  expect_refused(&p, "more than 2**63 - 1 elements");
  p.shape[0] = INT64_MAX, p.shape[1] = 1;
  expect_refused(&p, "got 9223372036854775807 elements of 32 bits");
  p.plain.dl_tensor.ndim = INT32_MAX;
  expect_refused(&p, "at most 1024 dimensions but got ndim 2147483647");
}

TEST(tensor_with_strides_that_leave_memory_is_refused) {
  producer p;
  make(&p);
  p.plain.dl_tensor.strides = p.strides;
  p.strides[0] = INT64_MAX;
  expect_refused(&p, "Expected strides that stay within memory");
  p.strides[0] = INT64_MIN;
  expect_refused(&p, "Expected strides that stay within memory");
  p.strides[0] = INT64_C(1) << 61;
  expect_refused(&p, "Expected strides that stay within memory");
  p.strides[0] = -(INT64_C(1) << 57);
  expect_refused(&p, "Expected elements within memory");
  p.shape[0] = 1; /* the stride of an axis with one element is not used */
  TVMFFIObjectHandle tensor;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), 0);
  fh_object_release(tensor);
}

TEST(tensor_may_run_backwards_or_repeat_an_element) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  p.plain.dl_tensor.strides = p.strides;
  p.plain.dl_tensor.byte_offset = 5 * sizeof(float);
  p.strides[0] = -3, p.strides[1] = -1;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), 0);
  const DLTensor *seen = TVMFFITensorGetDLTensorPtr(tensor);
  expect_int((int64_t)seen->byte_offset, 0);
  expect_int((char *)seen->data - (char *)p.plain.dl_tensor.data, 5 * (int64_t)sizeof(float));
  fh_object_release(tensor);
  p.n_ends = 0;
  p.strides[0] = 0, p.strides[1] = 0;
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), 0);
  fh_object_release(tensor);
}

TEST(tensor_with_an_absurd_offset_is_refused) {
  producer p;
  make(&p);
  p.plain.dl_tensor.byte_offset = UINT64_MAX;
  expect_refused(&p, "byte_offset 18446744073709551615 for 24 bytes");
  p.plain.dl_tensor.byte_offset = UINT64_C(1) << 63;
  expect_refused(&p, "byte_offset 9223372036854775808");
  p.plain.dl_tensor.byte_offset = 0;
  p.plain.dl_tensor.data = (void *)(uintptr_t)-8;
  expect_refused(&p, "at address 0xfffffffffffffff8");
}

TEST(tensor_of_elements_without_a_size_is_refused) {
  producer p;
  make(&p);
  p.plain.dl_tensor.dtype.bits = 0;
  expect_refused(&p, "Expected elements of a known size but got 1 lanes of 0 bits");
  p.plain.dl_tensor.dtype.bits = 32;
  p.plain.dl_tensor.dtype.lanes = 0;
  expect_refused(&p, "but got 0 lanes of 32 bits");
  p.plain.dl_tensor.dtype.lanes = (uint16_t)-4; /* a scalable vector, whose length is known only at run time */
  expect_refused(&p, "but got -4 lanes of 32 bits");
}

TEST(tensor_of_unknown_flags_is_refused_in_a_version_that_has_none_of_them) {
  producer p;
  TVMFFIObjectHandle tensor;
  make(&p);
  p.versioned.version.minor = DLPACK_MINOR_VERSION;
  p.versioned.flags = UINT64_C(1) << 40;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), -1);
  expect_raised("ValueError", "Expected flags of DLPack 1.");
  p.versioned.version.minor = DLPACK_MINOR_VERSION + 1;
  expect_int(TVMFFITensorFromDLPackVersioned(&p.versioned, 0, 0, &tensor), 0);
  fh_object_release(tensor);
}

/* A Tensor with an unchecked shape: the test changes the struct after making the Tensor. */
TEST(structural_functions_do_not_read_impossible_memory) {
  producer p, q;
  TVMFFIObjectHandle tensor, other;
  make(&p);
  make(&q);
  expect_int(TVMFFITensorFromDLPack(&p.plain, 0, 0, &tensor), 0);
  expect_int(TVMFFITensorFromDLPack(&q.plain, 0, 0, &other), 0);
  DLTensor *held = TVMFFITensorGetDLTensorPtr(tensor), *like = TVMFFITensorGetDLTensorPtr(other);
  held->strides = like->strides = NULL;
  p.shape[0] = q.shape[0] = INT64_C(1) << 62, p.shape[1] = q.shape[1] = 4; /* 0 if the product wraps around */
  expect_call_raises("ValueError", "more than 2**63 - 1 elements", "ffi.StructuralHash",
                     ARGS(obj(tensor), fh_any_bool(0), fh_any_bool(0)));
  expect_call_raises("ValueError", "more than 2**63 - 1 elements", "ffi.StructuralEqual",
                     ARGS(obj(tensor), obj(other), fh_any_bool(0), fh_any_bool(0)));
  p.shape[0] = q.shape[0] = 2, p.shape[1] = q.shape[1] = 3;
  held->data = NULL;
  expect_call_raises("ValueError", "got NULL as data", "ffi.StructuralHash",
                     ARGS(obj(tensor), fh_any_bool(0), fh_any_bool(0)));
  expect_call_raises("ValueError", "got NULL as data", "ffi.StructuralEqual",
                     ARGS(obj(tensor), obj(other), fh_any_bool(0), fh_any_bool(0)));
  held->data = p.data;
  held->dtype.lanes = like->dtype.lanes = (uint16_t)-1;
  expect_call_raises("ValueError", "Expected elements of a known size", "ffi.StructuralHash",
                     ARGS(obj(tensor), fh_any_bool(0), fh_any_bool(0)));
  fh_object_release(tensor);
  fh_object_release(other);
}

static int go_round(void *state) {
  producer *p = (producer *)state;
  TVMFFIObjectHandle tensor, view;
  DLManagedTensorVersioned *versioned;
  int n_before = p->n_ends;
  if (TVMFFITensorFromDLPack(&p->plain, 0, 0, &tensor) != 0) {
    expect_int(p->n_ends, n_before);
    return -1;
  }
  int rc = TVMFFITensorCreateUnsafeView(tensor, TVMFFITensorGetDLTensorPtr(tensor), &view);
  if (rc == 0) {
    rc = TVMFFITensorToDLPackVersioned(view, &versioned);
    if (rc == 0) versioned->deleter(versioned);
    fh_object_release(view);
  }
  fh_object_release(tensor);
  expect_int(p->n_ends, n_before + 1);
  return rc;
}
TEST(tensors_survive_missing_memory) {
  producer p;
  make(&p);
  test_sweep(go_round, &p);
}

TEST(shape_is_made_of_integers) {
  TVMFFIAny shape = call_ok("ffi.Shape", ARGS(i64(2), i64(3)));
  expect_int((int64_t)TVMFFIShapeGetCellPtr(shape.v_obj)->size, 2);
  expect_repr(shape, "Shape(2, 3)");
  fh_any_drop(&shape);
  shape = call_ok("ffi.Shape", NO_ARGS);
  expect_repr(shape, "Shape()");
  fh_any_drop(&shape);
  expect_call_raises("TypeError", "argument #1 when calling: `ffi.Shape`. Expected `int`", "ffi.Shape",
                     ARGS(i64(1), raw("x")));
}
