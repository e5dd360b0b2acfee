"""The stream that native code uses on a device; each thread has its own for each device."""

from __future__ import annotations

import sys

from . import _core
from ._start.elsewhere import find_elsewhere
from ._values.device import device as _device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from ctypes import c_void_p
    from types import TracebackType
    from typing import Any

    from ._values.device import Device

__all__ = ["StreamContext", "get_raw_stream", "use_raw_stream", "use_torch_stream"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_elsewhere(__name__)


class StreamContext:
    """Context manager: inside it, native code that this thread calls uses a stream on a device; afterwards the previous
    one.

    `stream` is the stream's address (a ``cudaStream_t``), as an int or ctypes.c_void_p; 0 is the device's default
    stream. The thread that uses it may enter it again, also while it is active.
    """

    def __init__(self, device: Device, stream: int | c_void_p) -> None:
        self.device_type = device.dlpack_device_type()
        self.device_id = device.index
        self.stream = _address_of(stream)
        self._before: list[int] = []

    def __enter__(self) -> StreamContext:
        self._before.append(_core.stream_set(self.device_type, self.device_id, self.stream))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _core.stream_set(self.device_type, self.device_id, self._before.pop())


class TorchStreamContext:
    """Context manager: inside it, native code uses torch's current CUDA stream; a given torch context is entered
    first."""

    def __init__(self, context: AbstractContextManager[Any] | None) -> None:
        self.torch_context = context

    def __enter__(self) -> TorchStreamContext:
        torch = sys.modules["torch"]
        if self.torch_context is not None:
            self.torch_context.__enter__()
        try:
            current = torch.cuda.current_stream()
            self._ffi_context = StreamContext(_device(str(current.device)), current.cuda_stream)
            self._ffi_context.__enter__()
        except BaseException:
            if self.torch_context is not None:
                self.torch_context.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ffi_context.__exit__(kind, error, traceback)
        if self.torch_context is not None:
            self.torch_context.__exit__(kind, error, traceback)


def use_raw_stream(device: Device, stream: int | c_void_p) -> StreamContext:
    """Context manager: native code uses the stream of this address on the device. ValueError if it is not an
    address."""
    return StreamContext(device, stream)


def use_torch_stream(context: AbstractContextManager[Any] | None = None) -> TorchStreamContext:
    """Context manager: native code uses torch's current stream, or that of ``torch.cuda.stream(s)`` or
    ``torch.cuda.graph(g)``, which is entered as well. ImportError without torch."""
    import torch  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - here rather than on entering

    return TorchStreamContext(context)


def get_raw_stream(device: Device) -> int:
    """Address of the stream that native code called by this thread uses on the device, 0 if none was set."""
    return _core.stream_get(device.dlpack_device_type(), device.index)


def _address_of(stream: Any) -> int:
    if isinstance(stream, int):
        return stream
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(stream, ctypes.c_void_p):
        return stream.value or 0
    raise ValueError(
        f"a stream is the int or c_void_p of its address, not {type(stream).__name__}; "
        "use_torch_stream() takes those of torch"
    )
