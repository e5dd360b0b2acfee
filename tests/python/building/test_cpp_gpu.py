"""ffi_hpy.cpp with CUDA sources: fake compilers record their arguments, and the real nvcc compiles once."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG
from support.native_build import find_c_compiler, find_cxx_compiler

import ffi_hpy
from ffi_hpy import cpp
from ffi_hpy.cpp import _gpu, nvrtc

pytestmark = [
    pytest.mark.same_everywhere,
    pytest.mark.thread_unsafe(reason="it changes the environment of the process"),
]

# Compiles CUDA as C++, without the options that a C++ compiler does not know.
STAND_IN = """#!/bin/sh
here=$(dirname "$0")/..
echo "$*" >>"$here/log"
if [ "$1" = --dryrun ]; then
  echo '#$ LIBRARIES=  "-L'"$here"'/lib/stubs" "-L'"$here"'/lib"'
  exit
fi
for word do
  shift
  case "$word" in
    -Xcompiler | -gencode=* | --offload-arch=* | -fno-gpu-rdc) ;;
    *.cu) set -- "$@" -x c++ "$word" ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec {compiler} "$@"
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A fake toolkit, named by CUDA_HOME and ROCM_HOME, with empty libraries."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for name in ("nvcc", "hipcc"):
        (tmp_path / "bin" / name).write_text(STAND_IN.replace("{compiler}", shlex.join(find_cxx_compiler())))
        (tmp_path / "bin" / name).chmod(0o755)
    for name in ("cudart", "amdhip64"):
        library = tmp_path / "lib" / f"lib{name}.so"
        subprocess.run([*find_c_compiler(), "-shared", "-x", "c", "/dev/null", "-o", str(library)], check=True)
    for variable in ("CUDA_HOME", "ROCM_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    for variable in ("TVM_FFI_GPU_BACKEND", "TVM_FFI_CUDA_ARCH_LIST", "TVM_FFI_ROCM_ARCH_LIST"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def compile_line(home) -> str:
    (line,) = (line for line in (home / "log").read_text().splitlines() if " -c " in line)
    return line


def test_cuda_is_compiled_for_the_listed_architectures(home, monkeypatch):
    monkeypatch.setenv("TVM_FFI_CUDA_ARCH_LIST", "8.9 9.0a")
    module = cpp.load_inline(
        "mixed",
        cpp_sources="int on_gpu(int x);\nint on_cpu(int x) { return on_gpu(x) + 1; }",
        cuda_sources="int on_gpu(int x) { return x * TIMES; }",
        functions=["on_gpu", "on_cpu"],
        extra_cuda_cflags=["-DTIMES=10"],
    )
    assert (module.on_gpu(2), module.on_cpu(2)) == (20, 21)
    line = compile_line(home)
    assert "-gencode=arch=compute_89,code=sm_89 -gencode=arch=compute_90a,code=sm_90a" in line
    assert "-Xcompiler -fPIC" in line
    monkeypatch.setenv("TVM_FFI_CUDA_ARCH_LIST", "sm_90")
    with pytest.raises(ValueError, match=r"TVM_FFI_CUDA_ARCH_LIST must have architectures .* got 'sm_90'"):
        cpp.build_inline("mixed", cuda_sources="int x;")


def test_hip_is_compiled_for_the_listed_architectures(home, monkeypatch):
    options = {"cuda_sources": "int f() { return __HIP_PLATFORM_AMD__; }", "functions": "f", "backend": "hip"}
    monkeypatch.setattr(_gpu, "_run", lambda command: "")
    with pytest.raises(cpp.BuildError, match="TVM_FFI_ROCM_ARCH_LIST names them"):
        cpp.load_inline("amd", **options)
    monkeypatch.setenv("TVM_FFI_ROCM_ARCH_LIST", "gfx90a gfx942")
    assert cpp.load_inline("amd", **options).f() == 1
    assert "--offload-arch=gfx90a --offload-arch=gfx942" in compile_line(home)


def test_architectures_are_those_of_the_gpus_here(home, monkeypatch):
    monkeypatch.setattr(_gpu, "_run", lambda command: "9.0\n8.6\n9.0\n" if command[0] == "nvidia-smi" else "")
    flags = _gpu.gpu_compiler("cuda").compile_flags
    assert [flag for flag in flags if "arch" in flag] == [
        "-gencode=arch=compute_90,code=sm_90",
        "-gencode=arch=compute_86,code=sm_86",
    ]
    assert _gpu.capability_of_first_gpu() == "9.0"
    monkeypatch.setattr(_gpu, "_run", lambda command: "Name: gfx000\nName: gfx1100\nName: gfx1100\n")
    assert "--offload-arch=gfx1100" in _gpu.gpu_compiler("hip").compile_flags


def test_the_backend_is_the_given_one_else_torchs_else_that_of_an_existing_compiler(home, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    there = {"nvcc", "hipcc"}
    monkeypatch.setattr(_gpu, "on_path", lambda name, variables, folders: name if name in there else None)
    assert _gpu.choose_backend(None) == "cuda"
    there.remove("nvcc")
    assert _gpu.choose_backend(None) == "hip"
    torch = SimpleNamespace(version=SimpleNamespace(cuda="13.0", hip=None))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert _gpu.choose_backend(None) == "cuda"
    torch.version.hip = "7.2"
    assert _gpu.choose_backend(None) == "hip"
    monkeypatch.setenv("TVM_FFI_GPU_BACKEND", "CUDA")
    assert _gpu.choose_backend(None) == "cuda"
    assert _gpu.choose_backend("hip") == "hip"


@pytest.mark.parametrize(
    ("backend", "name", "variable"), [("cuda", "nvcc", "CUDA_HOME"), ("hip", "hipcc", "ROCM_HOME")]
)
def test_a_missing_compiler_of_gpus_is_named(home, monkeypatch, backend, name, variable):
    monkeypatch.setattr(_gpu, "on_path", lambda *_: None)
    with pytest.raises(cpp.BuildError, match=rf"{name}, which compiles \.cu files, is missing: .*{variable}"):
        cpp.build_inline("gpu", cuda_sources="int x;", backend=backend)


# --- the real nvcc ----------------------------------------------------------------------------------------------------

KERNEL = """
__global__ void Square(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int count_gpus() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

int sum_of_squares(int n) {
  int *x = nullptr;
  TVM_FFI_CHECK(cudaMallocManaged(&x, n * sizeof(int)) == cudaSuccess, RuntimeError) << "no memory";
  for (int i = 0; i < n; ++i) x[i] = i;
  Square<<<(n + 31) / 32, 32>>>(x, n);
  TVM_FFI_CHECK(cudaDeviceSynchronize() == cudaSuccess, RuntimeError) << "the kernel failed";
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  cudaFree(x);
  return sum;
}
"""
IS_CHOSEN = "FFI_HPY_GPU_TESTS" in os.environ or (
    sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11) and not (IS_DEBUG or IS_OWN_DEBUG)
)


@pytest.mark.skipif(
    not IS_CHOSEN, reason="nvcc is slow, and its output does not depend on the interpreter: 3.11 runs it"
)
@pytest.mark.skipif(_gpu._find("cuda") is None, reason="nvcc is missing")
def test_nvcc_compiles_a_kernel_that_runs_where_a_gpu_is(tmp_path):
    module = cpp.load_inline(
        "kernel", cuda_sources=KERNEL, functions=["count_gpus", "sum_of_squares"], build_directory=tmp_path
    )
    with pytest.raises(cpp.BuildError, match=r"kernel\.inline\.cu\(2\): error"):
        cpp.build_inline("kernel", cuda_sources="\nint x = missing;", build_directory=tmp_path)
    if module.count_gpus() == 0:
        pytest.skip("the kernel is compiled; a GPU to run it is missing")
    assert module.sum_of_squares(100) == sum(i * i for i in range(100))


def test_nvrtc_errors_name_the_missing_part(monkeypatch):
    with pytest.raises(TypeError, match="source must be a str, got a bytes"):
        nvrtc.nvrtc_compile(b"")
    with pytest.raises(ValueError, match="source must not have a null character"):
        nvrtc.nvrtc_compile("int x;\0int y;")
    monkeypatch.setattr(_gpu, "_run", lambda command: "")
    with pytest.raises(RuntimeError, match=r"the GPU to compile for is unknown.*`arch`"):
        nvrtc.nvrtc_compile("")
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["libno-such-library.so"]))
    monkeypatch.setattr(nvrtc, "_library", nvrtc._library.__wrapped__)
    with pytest.raises(RuntimeError, match=r"NVRTC, libnvrtc, is missing.*nvidia-cuda-nvrtc"):
        nvrtc.nvrtc_compile("", arch="sm_90")


def test_nvrtc_makes_a_cubin():
    try:
        nvrtc._library()
    except cpp.BuildError as reason:
        pytest.skip(str(reason))
    cubin = nvrtc.nvrtc_compile(
        'extern "C" __global__ void f(int *x) { *x = LEVEL; }', arch="sm_90", extra_opts=["-DLEVEL=3"]
    )
    assert cubin.startswith(b"\x7fELF")
    with pytest.raises(cpp.BuildError, match=r"k\.cu\(2\): error"):
        nvrtc.nvrtc_compile("\nmissing", name="k.cu", arch="sm_90")
    with pytest.raises(ValueError, match="arch must be a GPU's"):
        nvrtc.nvrtc_compile("", arch="compute_90")


# --- names of types ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("int8", "int8_t"), ("uint64", "uint64_t"), ("float32", "float"), ("torch.float64", "double"), ("bool", "bool")],
)
def test_a_type_of_cpp_has_its_name_everywhere(dtype, name, monkeypatch):
    assert cpp.to_cpp_dtype(dtype) == name
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False)))
    assert cpp.to_cpp_dtype(ffi_hpy.dtype(dtype.replace("torch.", ""))) == name


def test_other_types_are_those_of_the_gpus_toolkit(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for backend, bfloat16, float4 in (
        ("cuda", "__nv_bfloat16", "__nv_fp4x2_e2m1"),
        ("hip", "__hip_bfloat16", "__hip_fp4x2_e2m1"),
    ):
        monkeypatch.setenv("TVM_FFI_GPU_BACKEND", backend)
        assert cpp.to_cpp_dtype("bfloat16") == bfloat16
        assert cpp.to_cpp_dtype("float4_e2m1fn_x2") == cpp.to_cpp_dtype("float4_e2m1fnx2") == float4
        with pytest.raises(ValueError, match=f"Unsupported dtype string: complex64 for backend = '{backend}'"):
            cpp.to_cpp_dtype("complex64")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False)))
    with pytest.raises(ValueError, match="for backend = 'cpu'"):
        cpp.to_cpp_dtype("float16")
