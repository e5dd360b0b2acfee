"""Arrays on a GPU in a library that is bound with ffi_hpy/bind.h: arguments, results and a kernel. ci/gpu runs this
file.

Each test skips itself without a GPU.
"""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use"),
    pytest.mark.thread_unsafe(reason="the tests count the memory of the GPU"),
]

SOURCE = r"""
#include <cuda_runtime.h>
#include <ffi_hpy/bind.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>

namespace nb = ffi_hpy;
using OnGpu = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cuda>;

__global__ void ScaleKernel(float *x, int64_t n, float factor) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] *= factor;
}

FFI_HPY_MODULE(gpu_arrays, m) {
  m.def("scale", [](OnGpu x, float factor) {
    int64_t n = static_cast<int64_t>(x.size());
    ScaleKernel<<<static_cast<unsigned>((n + 127) / 128), 128>>>(x.data(), n, factor);
    if (cudaError_t error = cudaDeviceSynchronize()) throw std::runtime_error(cudaGetErrorString(error));
  });
  m.def("about", [](nb::ndarray<> x) {
    return std::make_tuple(x.device_type(), x.device_id(), x.ndim(), reinterpret_cast<uintptr_t>(x.data()));
  });
  m.def("half", [](nb::ndarray<nb::ndim<2>, nb::device::cuda> x) {
    return std::make_tuple(x.dtype().code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), x.dtype().bits,
                           x.stride(0), x.stride(1));
  });
  m.def("on_cpu", [](nb::ndarray<float, nb::device::cpu> x) { return x.size(); });
  m.def("same", [](OnGpu x) { return nb::ndarray<nb::pytorch, float, nb::ndim<1>, nb::device::cuda>(x); });
  m.def("make", [](size_t n) {
    float *data = nullptr;
    if (cudaError_t error = cudaMalloc(&data, n * sizeof(float))) throw std::runtime_error(cudaGetErrorString(error));
    cudaMemset(data, 0, n * sizeof(float));
    nb::capsule owner(data, [](void *memory) noexcept { cudaFree(memory); });
    size_t shape[] = {n};
    return nb::ndarray<nb::pytorch, float, nb::ndim<1>>(data, 1, shape, owner, nullptr, nb::dtype<float>(),
                                                        nb::device::cuda::value, 0);
  });
}
"""
N = 1000


@pytest.fixture(scope="module")
def arrays(load_cuda):
    return load_cuda("gpu_arrays", SOURCE)


@pytest.fixture
def x():
    return torch.ones(N, device="cuda")


def test_a_kernel_changes_torchs_tensor(arrays, x):
    arrays.scale(x, 2.5)
    assert x.tolist() == [2.5] * N


def test_an_argument_has_the_device_and_the_address_of_the_tensor(arrays, x):
    cuda, cpu = 2, 1  # DLPack's numbers
    assert arrays.about(x) == (cuda, 0, 1, x.data_ptr())
    assert arrays.about(x[10:]) == (cuda, 0, 1, x.data_ptr() + 40)
    assert arrays.about(torch.ones(2, 3))[:3] == (cpu, 0, 2)


def test_a_matrix_of_bfloat16_keeps_its_strides(arrays):
    matrix = torch.zeros(3, 4, device="cuda", dtype=torch.bfloat16)
    assert arrays.half(matrix) == (True, 16, 4, 1)
    assert arrays.half(matrix.T) == (True, 16, 1, 4)


def test_an_array_on_another_device_is_refused(arrays, x):
    with pytest.raises(TypeError):
        arrays.scale(x.cpu(), 2.0)
    with pytest.raises(TypeError):
        arrays.on_cpu(x)
    assert arrays.on_cpu(x.cpu()) == N


def test_a_result_is_a_tensor_over_the_same_memory(arrays, x):
    same = arrays.same(x)
    assert isinstance(same, torch.Tensor)
    assert (same.data_ptr(), same.device, same.dtype) == (x.data_ptr(), x.device, x.dtype)
    same += 1
    assert x.tolist() == [2.0] * N


def test_memory_of_the_library_is_released_with_the_tensor(arrays):
    size = 64 << 20
    made = arrays.make(16)
    assert (made.device.type, made.tolist()) == ("cuda", [0.0] * 16)
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(50):
        large = arrays.make(size // 4)
        view = large[::2]
        del large
        assert view[-1].item() == 0
        del view
    gc.collect()
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] >= before - size
