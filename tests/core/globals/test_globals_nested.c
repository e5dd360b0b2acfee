/* test_globals_nested.c - ffi.ContainerFindFirstNonCPUDevice: the device of tensors in nested containers. */
#include "support/nodes.h"

static void free_managed(DLManagedTensor *managed) { free(managed); }

static TVMFFIAny tensor_at(DLDevice device) {
  static int64_t shape[1] = {1}, strides[1] = {1};
  static float data[1];
  TVMFFIObjectHandle tensor;
  DLManagedTensor *managed = (DLManagedTensor *)calloc(1, sizeof(*managed));
  expect(managed != NULL);
  managed->dl_tensor = (DLTensor){data, device, 1, {kDLFloat, 32, 1}, shape, strides, 0};
  managed->deleter = free_managed;
  expect_int(TVMFFITensorFromDLPack(managed, 0, 0, &tensor), 0);
  return obj(tensor);
}

static void expect_device(TVMFFIAny value, int type, int id) {
  TVMFFIAny device = call_ok("ffi.ContainerFindFirstNonCPUDevice", ARGS(value));
  expect_int(device.type_index, kTVMFFIDevice);
  expect_int(device.v_device.device_type, type);
  expect_int(device.v_device.device_id, id);
  fh_any_drop(&value);
}

TEST(the_first_device_that_is_not_a_cpu_is_found) {
  DLDevice cpu = {kDLCPU, 0}, one = {kDLCUDA, 1}, two = {kDLCUDA, 2};
  expect_device(i64(1), kDLCPU, 0);
  expect_device(make_list(none(), raw("text of some length")), kDLCPU, 0);
  expect_device(tensor_at(two), kDLCUDA, 2);
  expect_device(make_array(tensor_at(cpu), make_list(tensor_at(cpu), tensor_at(one)), tensor_at(two)), kDLCUDA, 1);
  expect_device(make_map(i64(1), make_dict(i64(2), tensor_at(two))), kDLCUDA, 2);
  expect_device(make_map(tensor_at(one), i64(1)), kDLCPU, 0);
  expect_device(make_node(plain_node_type(), tensor_at(one), none(), 0), kDLCPU, 0);
}

TEST(a_list_in_itself_has_no_device) {
  TVMFFIAny list = make_list(i64(1));
  call_int("ffi.ListAppend", ARGS(list, list));
  expect_device(again(list), kDLCPU, 0);
  call_int("ffi.ListClear", ARGS(list));
  fh_any_drop(&list);
}
