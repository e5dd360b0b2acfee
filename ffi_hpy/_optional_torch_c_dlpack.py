"""A DLPack C exchange API and the stream protocol, for versions of PyTorch that lack them.

This module never imports PyTorch and does not watch its import: it examines PyTorch's classes when the first instance
is passed to native code. PyTorch 2.10 (2025) and later need nothing. For earlier versions the package
torch_c_dlpack_ext provides the API, if it is installed, and so does the library that
utils/_build_optional_torch_c_dlpack.py builds. Without these, Python functions implement the API (`_tensor`). The
functions are slower and cannot allocate, so native code that makes tensors has no allocator.
"""

from __future__ import annotations

import functools
import os
import sys

from . import _core
from .utils._user_cache import cache_folder, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

__all__ = ["load_torch_c_dlpack_extension", "patch_torch_cuda_stream_protocol"]


def load_torch_c_dlpack_extension() -> None:
    """Give torch.Tensor a `__dlpack_c_exchange_api__` if torch is imported, has none, and one is available."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    if tensor is None or _has_table(tensor):
        return
    try:
        import torch_c_dlpack_ext  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - it sets the attribute
    except (ImportError, AttributeError, OSError):
        pass  # it is not installed, or it is for another version of torch
    if not _has_table(tensor):
        try:
            path = library_folder() / library_name(sys.modules["torch"])
        except RuntimeError:
            return  # this user has no cache folder
        if path.is_file():
            tensor.__dlpack_c_exchange_api__ = table_of_library(path)


def library_folder() -> Path:
    """The folder of our libraries with the exchange API."""
    return cache_folder()


def library_name(torch: Any) -> str:
    """The file name of the library. A library fits only one build of torch, because it depends on the layout of torch's
    C++ classes."""
    major, minor = torch.__version__.split(".")[:2]
    build = digest_of(torch.__version__, bool(torch.compiled_with_cxx11_abi()))[:8]
    return f"libtorch_c_dlpack_addon_torch{major}{minor}-{_torch_extension_device(torch)}-{build}.so"


def table_of_library(path: Path) -> Any:
    """Return the exchange API of a library, as the capsule for a class's `__dlpack_c_exchange_api__`. OSError for a
    library without one."""
    import ctypes

    address = ctypes.CDLL(str(path)).TorchDLPackExchangeAPIPtr
    address.restype = ctypes.c_int64
    capsule_new = ctypes.pythonapi.PyCapsule_New
    capsule_new.restype = ctypes.py_object
    capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return capsule_new(address(), b"dlpack_exchange_api", None)


def _has_table(tensor: Any) -> bool:
    """Whether the class has an exchange API. An API under the name used before DLPack 1.2 is also stored under the
    current name."""
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
    """Add the missing attributes to torch's classes, unless TVM_FFI_DISABLE_TORCH_C_DLPACK=1 is in the environment."""
    if os.environ.get("TVM_FFI_DISABLE_TORCH_C_DLPACK", "0") == "0":
        load_torch_c_dlpack_extension()
        patch_torch_cuda_stream_protocol()


@functools.lru_cache(maxsize=1)
def learn_bits() -> None:
    """Let the binding find torch's conjugate and negative bits in the structs of tensors. If it cannot find them, it
    asks each tensor (refuse_unresolved), which takes longer than the rest of the conversion."""
    if not hasattr(_core, "lazy_bits_learn") or not _core.HAS_EXTENSION:
        return
    torch = sys.modules["torch"]
    try:
        real, pair = torch.zeros(3, device="cpu"), torch.zeros(3, dtype=torch.complex64, device="cpu")
        views = [pair.conj(), pair.conj().imag]
        keys_of = torch._C._dispatch_keys
        keys = [(tensor, tensor._cdata, keys_of(tensor).raw_repr()) for tensor in (real, pair, pair.imag, *views)]
    except (AttributeError, RuntimeError, TypeError):
        return  # another version of torch
    is_conj, is_neg = (keys[view][2] & ~keys[plain][2] for view, plain in ((3, 1), (4, 2)))
    _core.lazy_bits_learn(keys, torch.Tensor.__basicsize__, is_conj | is_neg)


def _torch_extension_device(torch: Any) -> str:
    """The device type that torch is built for and can use here: "cuda", "rocm", or "cpu". File names of libraries
    contain it."""
    if not torch.cuda.is_available():
        return "cpu"
    is_rocm = getattr(torch.version, "cuda", None) is None and getattr(torch.version, "hip", None) is not None
    return "rocm" if is_rocm else "cuda"
