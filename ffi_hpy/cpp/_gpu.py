"""The compiler of .cu files, CUDA's or HIP's, and its target GPUs."""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ._errors import BuildError
from ._toolchain import Tool, identify, on_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["GpuCompiler", "capability_of_first_gpu", "choose_backend", "gpu_compiler"]

_COMPILERS: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    # backend: command, variables that name its folder, another folder to search, and a hint for messages how to get it
    "cuda": ("nvcc", ("CUDA_HOME", "CUDA_PATH"), "/usr/local/cuda/bin", "the CUDA toolkit has it"),
    "hip": ("hipcc", ("ROCM_HOME", "ROCM_PATH"), "/opt/rocm/bin", "ROCm has it"),
}


@dataclass(frozen=True)
class GpuCompiler:
    """A compiler of .cu files, with its compile flags, and the link flags for its output."""

    backend: str
    tool: Tool
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]


def choose_backend(backend: str | None) -> str:
    """ "cuda" or "hip": the given backend, TVM_FFI_GPU_BACKEND, PyTorch's if that is imported, or the backend whose
    compiler is installed.

    ValueError for any other given value.
    """
    if backend is not None:
        if backend not in _COMPILERS:
            raise ValueError(f"backend must be 'cuda' or 'hip', got {backend!r}")
        return backend
    asked = os.environ.get("TVM_FFI_GPU_BACKEND", "").lower()
    if asked in _COMPILERS:
        return asked
    version = getattr(sys.modules.get("torch"), "version", None)
    if getattr(version, "hip", None):
        return "hip"
    if getattr(version, "cuda", None):
        return "cuda"
    return "hip" if _find("cuda") is None and _find("hip") is not None else "cuda"


def gpu_compiler(backend: str) -> GpuCompiler:
    """Return the compiler of a backend, with its flags for this machine. BuildError if it is not installed."""
    found = _find_surely(backend)
    tool = Tool((found,), identify([found]))
    make = _cuda if backend == "cuda" else _hip
    return make(tool)


def home_of(backend: str) -> str:
    """Return the folder where the toolkit of a backend is installed. BuildError if it is not installed."""
    return str(Path(_find_surely(backend)).parent.parent)


def _find_surely(backend: str) -> str:
    command, variables, _, where = _COMPILERS[backend]
    found = _find(backend)
    if found is None:
        raise BuildError(
            f"{command}, which compiles .cu files, is missing: it is not on PATH, nor in bin of "
            f"{' or '.join(variables)}; {where}"
        )
    return found


def _find(backend: str) -> str | None:
    command, variables, folder, _ = _COMPILERS[backend]
    return on_path(command, variables, [folder])


def _cuda(nvcc: Tool) -> GpuCompiler:
    flags = ("-std=c++17", "-O2", "-Xcompiler", "-fPIC", *_cuda_targets())
    return GpuCompiler("cuda", nvcc, flags, (*_cuda_library_folders(nvcc), "-lcudart"))


@functools.lru_cache(maxsize=8)
def _cuda_library_folders(nvcc: Tool) -> tuple[str, ...]:
    """Return linker options: the folders that nvcc itself searches. Only nvcc knows them if it is a script or comes
    from a package."""
    done = _run([*nvcc.words, "--dryrun", "-x", "cu", os.devnull])
    line = re.search(r"^#\$ LIBRARIES=(.*)$", done, re.MULTILINE)
    folders = [word[2:] for word in shlex.split(line[1]) if word.startswith("-L")] if line else []
    rpaths = [f"-Wl,-rpath,{folder}" for folder in folders if Path(folder).name != "stubs"]
    return (*(f"-L{folder}" for folder in folders), *rpaths)


def _cuda_targets() -> tuple[str, ...]:
    """Return options for the architectures in TVM_FFI_CUDA_ARCH_LIST ("8.9 9.0a"), or else for the GPUs of this
    machine. Without either nvcc decides."""
    listed = os.environ.get("TVM_FFI_CUDA_ARCH_LIST", "").replace(",", " ").replace(";", " ").split()
    wrong = [arch for arch in listed if not re.fullmatch(r"\d+\.\d[a-z]?", arch)]
    if wrong:
        raise ValueError(f"TVM_FFI_CUDA_ARCH_LIST must have architectures such as '8.9 9.0a', got {wrong[0]!r}")
    numbers = [arch.replace(".", "") for arch in listed or _capabilities()]
    return tuple(f"-gencode=arch=compute_{number},code=sm_{number}" for number in dict.fromkeys(numbers))


def capability_of_first_gpu() -> str | None:
    """Return the compute capability of the first GPU, such as "9.0"; None if no NVIDIA GPU is found."""
    return next(iter(_capabilities()), None)


def _capabilities() -> list[str]:
    """Return the compute capabilities of the GPUs of this machine. The driver's own program prints them, because a
    process that has used the driver itself can no longer fork."""
    lines = _run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]).split()
    return [line for line in lines if re.fullmatch(r"\d+\.\d", line)]


def _hip(hipcc: Tool) -> GpuCompiler:
    home = Path(hipcc.words[0]).resolve().parent.parent
    home = home.parent if home.name == "hip" else home
    flags = ("-std=c++17", "-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__=1", "-fno-gpu-rdc", f"-I{home / 'include'}")
    targets = tuple(f"--offload-arch={target}" for target in _hip_targets(home))
    library = home / "lib"
    return GpuCompiler("hip", hipcc, (*flags, *targets), (f"-L{library}", f"-Wl,-rpath,{library}", "-lamdhip64"))


def _hip_targets(home: Path) -> list[str]:
    """Return the architectures in TVM_FFI_ROCM_ARCH_LIST ("gfx90a gfx942"), or else the architectures of the GPUs of
    this machine. BuildError if there are neither."""
    listed = os.environ.get("TVM_FFI_ROCM_ARCH_LIST", "").split()
    if listed:
        return listed
    for program in (str(home / "bin" / "rocm_agent_enumerator"), "rocm_agent_enumerator", "rocminfo"):
        found = dict.fromkeys(re.findall(r"\bgfx[0-9a-f]+\b", _run([program])))
        found.pop("gfx000", None)  # the CPU
        if found:
            return list(found)
    raise BuildError("no GPU to compile for is found; TVM_FFI_ROCM_ARCH_LIST names them, such as 'gfx90a gfx942'")


def _run(command: Sequence[str]) -> str:
    """Return the output of a program, "" if it does not exist or fails."""
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        done = subprocess.run(command, **options)
    except OSError:
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
