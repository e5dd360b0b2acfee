"""CUDA kernels, built by load_inline, on PyTorch tensors: streams, graphs, images. ci/gpu runs this file.

Each test skips itself without a GPU.
"""

from __future__ import annotations

import pytest

import ffi_hpy
from ffi_hpy import cpp
from ffi_hpy.cpp import nvrtc

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use"),
    pytest.mark.thread_unsafe(reason="torch's allocator and its graphs are of the whole process"),
]

SOURCE = """
#include <tvm/ffi/extra/cuda/cubin_launcher.h>

#include <memory>

namespace ffi = tvm::ffi;

__global__ void AddKernel(float *x, int64_t n, float value) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] += value;
}

static cudaStream_t StreamOf(const ffi::TensorView &x) {
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, x.device().device_id));
}

void add(ffi::TensorView x, double value, int64_t threads) {
  unsigned blocks = static_cast<unsigned>((x.numel() + threads - 1) / threads);
  AddKernel<<<blocks, static_cast<unsigned>(threads), 0, StreamOf(x)>>>(static_cast<float *>(x.data_ptr()), x.numel(),
                                                                        static_cast<float>(value));
  cudaError_t error = cudaGetLastError();
  TVM_FFI_CHECK_EQ(error, cudaSuccess, RuntimeError) << cudaGetErrorString(error);
}

static std::unique_ptr<ffi::CubinModule> image;

void load_image(ffi::Bytes bytes) { image = std::make_unique<ffi::CubinModule>(bytes); }

void launch_image(ffi::TensorView x, int64_t threads) {
  void *data = x.data_ptr();
  int64_t n = x.numel();
  void *args[] = {&data, &n};
  ffi::dim3 grid(static_cast<unsigned>((n + threads - 1) / threads)), block(static_cast<unsigned>(threads));
  TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR((*image)["twice"].Launch(args, grid, block, StreamOf(x)));
}
"""

IMAGE = """
extern "C" __global__ void twice(float *x, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}
"""
N = 1000


@pytest.fixture(scope="module")
def kernels(load_cuda):
    return load_cuda("gpu_kernels", SOURCE, functions=["add", "load_image", "launch_image"])


@pytest.fixture
def x():
    return torch.zeros(N, device="cuda")


def test_a_kernel_changes_torchs_tensor(kernels, x):
    kernels.add(x, 1.5, 128)
    assert x.tolist() == [1.5] * N


def test_a_kernel_changes_a_tensor_of_ours(kernels, x):
    tensor = ffi_hpy.from_dlpack(x)
    kernels.add(tensor, 2, 128)
    torch.cuda.synchronize()
    assert torch.from_dlpack(tensor).tolist() == [2.0] * N


def test_a_kernel_waits_for_earlier_work_on_torchs_stream(kernels, x):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    kernels.add(x, 0, 128)  # the first launch loads everything that is loaded lazily
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # long enough that a kernel on another stream would run first
        x.fill_(3)
        kernels.add(x, 1, 128)
    stream.synchronize()
    assert x.tolist() == [4.0] * N


def test_a_graph_that_has_a_kernel_is_replayed(kernels, x):
    kernels.add(x, 0, 128)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with ffi_hpy.use_torch_stream(torch.cuda.graph(graph)):
        kernels.add(x, 1, 128)
    assert x.tolist() == [0.0] * N
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [3.0] * N


def test_a_kernel_that_cannot_be_launched_is_an_error(kernels, x):
    with pytest.raises(RuntimeError, match="invalid"):
        kernels.add(x, 1, 1 << 20)  # more threads than a block may have
    kernels.add(x, 1, 128)
    assert x.tolist() == [1.0] * N


def test_an_image_that_nvrtc_has_made_is_loaded_and_launched(kernels, x):
    try:
        image = nvrtc.nvrtc_compile(IMAGE)
    except cpp.BuildError as reason:
        if "NVRTC, libnvrtc, is missing" not in str(reason):
            raise
        pytest.skip("needs NVRTC")
    kernels.load_image(image)
    x.fill_(1.5)
    kernels.launch_image(x, 128)
    assert x.tolist() == [3.0] * N
