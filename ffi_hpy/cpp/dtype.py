"""The C++ names of data types."""

from __future__ import annotations

import sys

from ._gpu import choose_backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CPU_DTYPE_MAP", "CUDA_DTYPE_MAP", "ROCM_DTYPE_MAP", "to_cpp_dtype"]

_INTEGERS = {f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
CPU_DTYPE_MAP = {**_INTEGERS, "float32": "float", "float64": "double", "bool": "bool"}

# Types from the headers of a GPU's toolkit: cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp4.h and HIP's headers of these
# names.
CUDA_DTYPE_MAP = {
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3",
    "float8_e5m2": "__nv_fp8_e5m2",
    "float8_e8m0fnu": "__nv_fp8_e8m0",
    "float4_e2m1": "__nv_fp4_e2m1",
    "float4_e2m1fn_x2": "__nv_fp4x2_e2m1",
}
ROCM_DTYPE_MAP = {
    "float16": "__half",
    "bfloat16": "__hip_bfloat16",
    "float8_e4m3fn": "__hip_fp8_e4m3",
    "float8_e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "float8_e5m2": "__hip_fp8_e5m2",
    "float8_e5m2fnuz": "__hip_fp8_e5m2_fnuz",
    "float4_e2m1": "__hip_fp4_e2m1",
    "float4_e2m1fn_x2": "__hip_fp4x2_e2m1",
}
_ON_GPU = {"cuda": CUDA_DTYPE_MAP, "hip": ROCM_DTYPE_MAP}
_SPELLINGS = {"float4_e2m1fn": "float4_e2m1", "float4_e2m1fnx2": "float4_e2m1fn_x2"}


def to_cpp_dtype(dtype_str: Any) -> str:
    """Return the C++ name of a data type.

    Types that C++ itself lacks come from CUDA or HIP: from PyTorch's backend if PyTorch is imported, or else from the
    backend of builds.

    Args:
        dtype_str: a name, or a data type of PyTorch, NumPy or this package.

    Raises:
        ValueError: for a type without a C++ name.

    Examples:
        >>> from ffi_hpy.cpp import to_cpp_dtype
        >>> to_cpp_dtype("float32")
        'float'
    """
    name = str(dtype_str).rpartition(".")[2]
    name = _SPELLINGS.get(name, name)
    backend = _backend()
    found = CPU_DTYPE_MAP.get(name) or _ON_GPU.get(backend, {}).get(name)
    if found is None:
        raise ValueError(f"Unsupported dtype string: {name} for backend = {backend!r}: C++ has no name for it")
    return found


def _backend() -> str:
    torch = sys.modules.get("torch")
    if torch is not None and not torch.cuda.is_available():
        return "cpu"
    return choose_backend(None)
