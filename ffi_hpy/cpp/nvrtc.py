"""Compiles CUDA kernels to machine code with NVIDIA's library NVRTC, which needs neither nvcc nor a GPU."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from pathlib import Path

from ._arguments import flags
from ._errors import BuildError
from ._gpu import capability_of_first_gpu

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["nvrtc_compile"]

_VERSIONS = ("13", "12", "11.2")
_PROGRAM = ctypes.c_void_p


def nvrtc_compile(
    source: str, *, name: str = "kernel.cu", arch: str | None = None, extra_opts: Sequence[str] | None = None
) -> bytes:
    """Compile CUDA source code to a CUBIN, for build_inline() and load_inline() to embed.

    Args:
        source: the source code.
        name: the name of the source code in the compiler's messages.
        arch: the GPU's architecture, such as "sm_90"; by default the architecture of the first GPU of this machine.
        extra_opts: options for NVRTC.

    Returns:
        The machine code.

    Raises:
        BuildError: if the source does not compile, with the compiler's messages; if NVRTC is missing; if there is
            neither an `arch` nor a GPU. BuildError derives from RuntimeError.
        ValueError: for an `arch` that does not name a GPU's, and for a null character.
    """
    for parameter, text in (("source", source), ("name", name), ("arch", "" if arch is None else arch)):
        if not isinstance(text, str):
            raise TypeError(f"{parameter} must be a str, got a {type(text).__name__}")
        if "\0" in text:
            raise ValueError(f"{parameter} must not have a null character, because NVRTC would stop there")
    options = [f"--gpu-architecture={arch or _arch_here()}", "-default-device", *flags("extra_opts", extra_opts)]
    library = _library()
    program = _PROGRAM()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None), "start")
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), words) != 0:
            log = _content(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            raise BuildError(f"{name!r} does not compile for {options[0]}:\n{log}")
        cubin = _content(program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
    if not cubin:
        raise ValueError(f"arch must be a GPU's, such as 'sm_90', got {arch!r}, which has no machine code")
    return cubin


def _arch_here() -> str:
    capability = capability_of_first_gpu()
    if capability is None:
        raise BuildError("the GPU to compile for is unknown: nvidia-smi finds none; give its `arch`, such as 'sm_90'")
    return f"sm_{capability.replace('.', '')}"


def _content(program: ctypes.c_void_p, what: str) -> bytes:
    """Return the log or the CUBIN of a program."""
    size = ctypes.c_size_t()
    _check(getattr(_library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)), f"tell the size of its {what}")
    buffer = ctypes.create_string_buffer(size.value or 1)
    _check(getattr(_library(), f"nvrtcGet{what}")(program, buffer), f"give its {what}")
    return buffer.raw[: size.value]


def _check(status: int, purpose: str) -> None:
    if status != 0:
        text = _library().nvrtcGetErrorString(status)
        raise BuildError(f"NVRTC cannot {purpose}: {text.decode(errors='replace')}")


@functools.lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        for function, arguments in _SIGNATURES.items():
            getattr(library, function).argtypes = arguments
        return library
    raise BuildError(
        "NVRTC, libnvrtc, is missing: the CUDA toolkit has it, whose place CUDA_HOME may name, and so does "
        "`pip install nvidia-cuda-nvrtc`"
    )


_SIGNATURES = {
    "nvrtcCreateProgram": [_PROGRAM, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, _PROGRAM, _PROGRAM],
    "nvrtcCompileProgram": [_PROGRAM, ctypes.c_int, _PROGRAM],
    "nvrtcGetProgramLogSize": [_PROGRAM, _PROGRAM],
    "nvrtcGetProgramLog": [_PROGRAM, _PROGRAM],
    "nvrtcGetCUBINSize": [_PROGRAM, _PROGRAM],
    "nvrtcGetCUBIN": [_PROGRAM, _PROGRAM],
    "nvrtcDestroyProgram": [_PROGRAM],
}


def _candidates() -> Iterator[str]:
    """Yield the names and paths of the library to try: PyPI's packages, the loader's names, the toolkit."""
    for entry in sys.path:
        yield from map(str, sorted(Path(entry, "nvidia").glob("*/lib/libnvrtc.so.*[0-9]"), reverse=True))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield str(Path(os.environ[variable], "lib64", "libnvrtc.so"))
    yield from (f"libnvrtc.so.{version}" for version in _VERSIONS)
    yield "/usr/local/cuda/lib64/libnvrtc.so"
