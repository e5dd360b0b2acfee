"""What older versions of PyTorch lack: an exchange table for tensors, and the protocol for streams.

PyTorch is never imported from here, and its import is not watched: its classes are looked at when the first of their
instances is passed to native code. Since 2.10 (2025) there is nothing to add. The package torch_c_dlpack_ext, if it is
installed, gives versions before that a table; without it, their tensors take the way of `__dlpack__`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["load_torch_c_dlpack_extension", "patch_torch_cuda_stream_protocol"]


def load_torch_c_dlpack_extension() -> None:
    """Give torch.Tensor a `__dlpack_c_exchange_api__` if torch is imported, has none, and can have one."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    if tensor is None or _has_table(tensor):
        return
    try:
        import torch_c_dlpack_ext  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - it sets the attribute
    except (ImportError, AttributeError, OSError):
        return  # it is not there, or for another version of torch
    _has_table(tensor)


def _has_table(tensor: Any) -> bool:
    """Whether the class has a table; one that it has under the name of before DLPack 1.2 gets the name of today."""
    if hasattr(tensor, "__dlpack_c_exchange_api__"):
        return True
    older = getattr(tensor, "__c_dlpack_exchange_api__", None)
    if older is not None:
        tensor.__dlpack_c_exchange_api__ = older
    return older is not None


def patch_torch_cuda_stream_protocol() -> None:
    """Give torch.cuda.Stream a `__cuda_stream__` if torch is imported and has none: version and address, two ints."""
    stream = getattr(getattr(sys.modules.get("torch"), "cuda", None), "Stream", None)
    if stream is not None and not hasattr(stream, "__cuda_stream__"):
        stream.__cuda_stream__ = lambda self: (0, self.cuda_stream)


def prepare_torch() -> None:
    """Both of the above; the first not with TVM_FFI_DISABLE_TORCH_C_DLPACK=1 in the environment."""
    if os.environ.get("TVM_FFI_DISABLE_TORCH_C_DLPACK", "0") == "0":
        load_torch_c_dlpack_extension()
        patch_torch_cuda_stream_protocol()


def _torch_extension_device(torch: Any) -> str:
    """For which devices torch is built and works here: "cuda", "rocm", or "cpu". Libraries for it are named so."""
    if not torch.cuda.is_available():
        return "cpu"
    is_rocm = getattr(torch.version, "cuda", None) is None and getattr(torch.version, "hip", None) is not None
    return "rocm" if is_rocm else "cuda"
