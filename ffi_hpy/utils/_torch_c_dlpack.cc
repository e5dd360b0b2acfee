/* The exchange table of DLPack for the tensors of a PyTorch that has none itself (before 2.10).
 *
 * A separate library, because it needs PyTorch's headers and is good for one build of PyTorch only;
 * _build_optional_torch_c_dlpack.py compiles it. Every function of the table is called with the GIL held, except the
 * allocator, which needs no Python. */
#include <Python.h>
#include <dlpack/dlpack.h>

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <exception>
#include <memory>
#include <type_traits>

namespace {

#ifdef FFI_HPY_ROCM /* ROCm's devices go by the name of CUDA inside of PyTorch */
constexpr DLDeviceType kGpu = kDLROCM;
#else
constexpr DLDeviceType kGpu = kDLCUDA;
#endif

DLDevice ToDLDevice(const at::Device &device) {
  const int32_t index = device.has_index() ? device.index() : 0;
  switch (device.type()) {
  case at::DeviceType::CPU: return {kDLCPU, 0};
  case at::DeviceType::CUDA: return {kGpu, index};
  case at::DeviceType::XPU: return {kDLOneAPI, index};
  case at::DeviceType::MPS: return {kDLMetal, index};
  case at::DeviceType::PrivateUse1: return {kDLExtDev, index};
  default: TORCH_CHECK(false, "DLPack has no name for the device ", device.str());
  }
}

at::Device ToTorchDevice(DLDeviceType type, int32_t index) {
  const auto torch_index = static_cast<at::DeviceIndex>(index);
  switch (type) {
  case kDLCPU:
  case kDLCUDAHost:
  case kDLROCMHost: return at::Device(at::DeviceType::CPU);
  case kDLCUDA:
  case kDLROCM: return at::Device(at::DeviceType::CUDA, torch_index);
  case kDLOneAPI: return at::Device(at::DeviceType::XPU, torch_index);
  case kDLMetal: return at::Device(at::DeviceType::MPS, torch_index);
  case kDLExtDev: return at::Device(at::DeviceType::PrivateUse1, torch_index);
  default: TORCH_CHECK(false, "PyTorch has no device for DLPack's device type ", static_cast<int>(type));
  }
}

/* The tensor's memory as it is; valid as long as the tensor is. */
DLTensor Describe(const at::Tensor &tensor) {
  TORCH_CHECK(tensor.layout() == at::kStrided, "a tensor of layout ", tensor.layout(), " is not plain memory");
  TORCH_CHECK(!tensor.is_conj() && !tensor.is_neg(),
              "a tensor that is conjugated or negated when it is read: resolve it first");
  DLTensor found;
  found.data = tensor.data_ptr();
  found.device = ToDLDevice(tensor.device());
  found.ndim = static_cast<int32_t>(tensor.dim());
  found.dtype = at::getDLDataType(tensor);
  found.shape = const_cast<int64_t *>(tensor.sizes().data());
  found.strides = const_cast<int64_t *>(tensor.strides().data());
  found.byte_offset = 0;
  return found;
}

/* A DLPack tensor, and the PyTorch one that it keeps alive. */
struct Shared {
  DLManagedTensorVersioned managed;
  at::Tensor tensor;
};

DLManagedTensorVersioned *Share(at::Tensor tensor) {
  auto shared = std::make_unique<Shared>();
  shared->tensor = std::move(tensor);
  shared->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  shared->managed.manager_ctx = shared.get();
  shared->managed.deleter = [](DLManagedTensorVersioned *self) { delete static_cast<Shared *>(self->manager_ctx); };
  shared->managed.flags = 0;
  shared->managed.dl_tensor = Describe(shared->tensor);
  return &shared.release()->managed;
}

const at::Tensor &Unpack(void *py_object) {
  auto *object = static_cast<PyObject *>(py_object);
  TORCH_CHECK(THPVariable_Check(object), "expected a torch.Tensor, got a ", Py_TYPE(object)->tp_name);
  return THPVariable_Unpack(object);
}

/* Without the backtrace that PyTorch's errors have in them. */
const char *MessageOf(const std::exception &error) {
  const auto *torch_error = dynamic_cast<const c10::Error *>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

/* Runs the body; a C++ exception becomes the pending exception of Python, and -1. */
template <typename F> int Guarded(F &&body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception &error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, MessageOf(error));
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
  return -1;
}

int Allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
             void (*set_error)(void *error_ctx, const char *kind, const char *message)) {
  try {
    const at::IntArrayRef shape(prototype->shape, static_cast<size_t>(prototype->ndim));
    const at::Device device = ToTorchDevice(prototype->device.device_type, prototype->device.device_id);
    *out = Share(at::empty(shape, at::TensorOptions().dtype(at::toScalarType(prototype->dtype)).device(device)));
    return 0;
  } catch (const std::bad_alloc &error) {
    set_error(error_ctx, "MemoryError", error.what());
  } catch (const std::exception &error) {
    set_error(error_ctx, "RuntimeError", MessageOf(error));
  }
  return -1;
}

int FromPyObject(void *py_object, DLManagedTensorVersioned **out) {
  return Guarded([&] { *out = Share(Unpack(py_object)); });
}

int DescribePyObject(void *py_object, DLTensor *out) {
  return Guarded([&] { *out = Describe(Unpack(py_object)); });
}

int ToPyObject(DLManagedTensorVersioned *managed, void **out_py_object) {
  return Guarded([&] {
    const DLTensor &given = managed->dl_tensor;
    const auto n_dims = static_cast<size_t>(given.ndim);
    const at::Device device = ToTorchDevice(given.device.device_type, given.device.device_id);
    const auto options = at::TensorOptions().dtype(at::toScalarType(given.dtype)).device(device);
    void *data = static_cast<char *>(given.data) + given.byte_offset;
    auto drop = [managed](void *) {
      if (managed->deleter != nullptr) managed->deleter(managed);
    };
    const at::IntArrayRef shape(given.shape, n_dims);
    at::Tensor tensor = given.strides == nullptr
                            ? at::from_blob(data, shape, drop, options, device)
                            : at::from_blob(data, shape, at::IntArrayRef(given.strides, n_dims), drop, options, device);
    *out_py_object = THPVariable_Wrap(std::move(tensor));
  });
}

/* The address of the stream on which PyTorch works. Some versions have this address in C++ only with the headers of
 * CUDA, and also in Python. */
template <typename Stream, typename = void> struct CurrentStream {
  static void *Of(const at::Device &device) {
    TORCH_CHECK(device.is_cuda(), "this PyTorch does not tell the streams of ", device.str());
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("torch.cuda");
    PyObject *stream = module == nullptr
                           ? nullptr
                           : PyObject_CallMethod(module, "current_stream", "i", static_cast<int>(device.index()));
    PyObject *address = stream == nullptr ? nullptr : PyObject_GetAttrString(stream, "cuda_stream");
    void *found = address == nullptr ? nullptr : PyLong_AsVoidPtr(address);
    const bool is_told = PyErr_Occurred() == nullptr;
    Py_XDECREF(address);
    Py_XDECREF(stream);
    Py_XDECREF(module);
    PyGILState_Release(state);
    TORCH_CHECK(is_told, "torch.cuda.current_stream() failed");
    return found;
  }
};

template <typename Stream>
struct CurrentStream<Stream, std::void_t<decltype(std::declval<const Stream &>().native_handle())>> {
  static void *Of(const at::Device &device) {
    const Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
    return stream.native_handle();
  }
};

int CurrentWorkStream(DLDeviceType device_type, int32_t device_id, void **out_current_stream) {
  return Guarded([&] {
    const at::Device device = ToTorchDevice(device_type, device_id);
    *out_current_stream = device.is_cpu() ? nullptr : CurrentStream<c10::Stream>::Of(device);
  });
}

}  // namespace

/* Address of the table, which lives as long as the process. */
extern "C" __attribute__((visibility("default"))) int64_t TorchDLPackExchangeAPIPtr() {
  static DLPackExchangeAPI table{{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
                                 Allocate,
                                 FromPyObject,
                                 ToPyObject,
                                 DescribePyObject,
                                 CurrentWorkStream};
  return reinterpret_cast<int64_t>(&table);
}
