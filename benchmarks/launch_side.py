"""One side of launch.py: a process that launches an empty kernel with 0 to 19 PyTorch tensors.

Reads lines `KERNEL ARGUMENTS N` and answers each with the ns per launch of N launches. The time is the caller's busy
time and not the GPU's; the GPU is idle before and after. Prints `lacks: ...` in place of `ready` if this side is not
available. Usage: launch_side.py ffi_hpy|tvm_ffi|torch|triton|cupy
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import torch
from side import serve

MOST = 19
Launchers = list[Callable[..., Any]]


def parameters(n: int, kind: str) -> str:
    return ", ".join(f"{kind} x{i}" for i in range(n))


def kernels() -> str:
    return "".join(f"__global__ void Nop{n}({parameters(n, 'float *')}) {{}}\n" for n in range(MOST + 1))


def launch_code(n: int, kind: str, stream: str, data: str) -> str:
    """Return the source of a C++ function that launches the kernel with n arguments."""
    taken = ", ".join(data.format(i) for i in range(n))
    return f"void launch{n}({parameters(n, kind)}) {{ Nop{n}<<<1, 1, 0, {stream}>>>({taken}); }}\n"


def ffi_launchers(package: str) -> Launchers:
    """Return the launchers of ffi_hpy or tvm_ffi: one source for both."""
    cpp = importlib.import_module(f"{package}.cpp")
    stream = "static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, 0))"
    functions = [
        launch_code(n, "tvm::ffi::TensorView", stream, "static_cast<float *>(x{}.data_ptr())") for n in range(MOST + 1)
    ]
    names = [f"launch{n}" for n in range(MOST + 1)]
    include = "#include <tvm/ffi/extra/c_env_api.h>\n"
    module = cpp.load_inline("launch", cuda_sources=include + kernels() + "".join(functions), functions=names)
    return [getattr(module, name) for name in names]


def torch_launchers() -> Launchers:
    from torch.utils.cpp_extension import load_inline

    stream = "at::cuda::getCurrentCUDAStream()"
    functions = [launch_code(n, "const at::Tensor &", stream, "x{}.data_ptr<float>()") for n in range(MOST + 1)]
    names = [f"launch{n}" for n in range(MOST + 1)]
    declared = "".join(f"void launch{n}({parameters(n, 'const at::Tensor &')});\n" for n in range(MOST + 1))
    include = "#include <ATen/ATen.h>\n#include <ATen/cuda/CUDAContext.h>\n"
    module = load_inline(
        "launch_torch",
        cpp_sources="#include <ATen/ATen.h>\n" + declared,
        cuda_sources=include + kernels() + "".join(functions),
        functions=names,
    )
    return [getattr(module, name) for name in names]


def triton_launchers(folder: Path) -> Launchers:
    """Return Triton's launchers. Triton reads the source of a kernel from its file."""
    import triton  # noqa: F401 - so that its absence is reported here

    functions = []
    for n in range(MOST + 1):
        taken = ", ".join(f"x{i}" for i in range(n))
        functions.append(f"@triton.jit\ndef nop{n}({taken}):\n    pass\n")
    (folder / "triton_kernels.py").write_text("\n\n".join(["import triton\n", *functions]))
    sys.path.insert(0, str(folder))
    module = importlib.import_module("triton_kernels")
    return [getattr(module, f"nop{n}")[(1,)] for n in range(MOST + 1)]


def cupy_launchers() -> Launchers:
    """Return CuPy's launchers. CuPy takes only its own arrays, which share the tensors' memory here."""
    import cupy

    def launcher(n: int) -> Callable[..., Any]:
        kernel = cupy.RawKernel(f'extern "C" __global__ void nop({parameters(n, "float *")}) {{}}', "nop")
        return lambda *arrays: kernel((1,), (1,), arrays)

    return [launcher(n) for n in range(MOST + 1)]


def launchers_of(kind: str, folder: Path) -> Launchers:
    if kind in ("ffi_hpy", "tvm_ffi"):
        return ffi_launchers(kind)
    if kind == "triton":
        return triton_launchers(folder)
    return torch_launchers() if kind == "torch" else cupy_launchers()


def tensors_of(kind: str) -> list[Any]:
    tensors = [torch.zeros(16, device="cuda") for _ in range(MOST)]
    if kind != "cupy":
        return tensors
    import cupy

    return [cupy.from_dlpack(tensor) for tensor in tensors]


def ns_per_launch(launch: Callable[..., Any], tensors: list[Any], n: int) -> float:
    launch(*tensors)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(n):
        launch(*tensors)
    took = time.perf_counter() - start
    torch.cuda.synchronize()
    return took / n * 1e9


def main() -> None:
    kind = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        try:
            torch.cuda.init()
            launchers, tensors = launchers_of(kind, Path(folder)), tensors_of(kind)
            for n, launch in enumerate(launchers):
                launch(*tensors[:n])
            torch.cuda.synchronize()
        except Exception as error:
            print(f"lacks: {(str(error) or type(error).__name__).splitlines()[0]}", flush=True)
            return
        serve(lambda _, given, n: ns_per_launch(launchers[int(given)], tensors[: int(given)], int(n)))


if __name__ == "__main__":
    main()
