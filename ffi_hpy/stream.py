"""The stream that native code uses on a device. Each thread has its own stream for each device."""

from __future__ import annotations

import sys

from . import _core
from ._start.late import find_attributes
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
    __getattr__ = find_attributes(__name__)
    device = _device


class StreamContext:
    """Context manager: inside it, native code called by this thread uses a stream on a device; afterwards it uses the
    previous stream.

    The same thread may enter it again, also while it is active.

    Args:
        device: the device of the stream. Each thread has a stream for each device.
        stream: the pointer to the stream (a ``cudaStream_t``), as an int or ctypes.c_void_p; 0 is the device's default
            stream. The stream is not kept alive.

    Raises:
        ValueError: for a stream of another type.
        OverflowError: from `with`, for an int that is not a pointer.
    """

    def __init__(self, device: Device, stream: int | c_void_p) -> None:
        self.device_type = device.dlpack_device_type()
        """DLPack device type."""
        self.device_id = device.index
        """The index among the devices of that type."""
        self.stream = _address_of(stream)
        """The pointer to the stream."""
        self._before: list[int] = []

    def __enter__(self) -> StreamContext:
        self._before.append(_core.stream_set(self.device_type, self.device_id, self.stream))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _core.stream_set(self.device_type, self.device_id, self._before.pop())


class TorchStreamContext:
    """Context manager: inside it, native code uses torch's current CUDA stream. A given torch context is entered
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
    """Make native code called by this thread use a stream, given by its pointer, within a ``with``.

    Args:
        device: the device of the stream.
        stream: the pointer, as in StreamContext, whose errors apply.

    Returns:
        A context manager.

    Examples:
        >>> device = ffi_hpy.device("cuda:0")
        >>> with ffi_hpy.use_raw_stream(device, 0x1000):
        ...     print(hex(ffi_hpy.get_raw_stream(device)))
        0x1000
    """
    return StreamContext(device, stream)


def use_torch_stream(context: AbstractContextManager[Any] | None = None) -> TorchStreamContext:
    """Make native code called by this thread use PyTorch's current CUDA stream, within a ``with``.

    A call with a PyTorch tensor on a GPU as an argument does not need this: it always uses PyTorch's current stream.

    Args:
        context: ``torch.cuda.stream(s)`` or ``torch.cuda.graph(g)``, entered first and left at the end.

    Returns:
        A context manager.

    Raises:
        ImportError: if PyTorch is not installed.
    """
    import torch  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - imported here rather than on entering

    return TorchStreamContext(context)


def get_raw_stream(device: Device) -> int:
    """Return the stream that native code called by this thread uses on a device.

    Args:
        device: the device of the stream.

    Returns:
        The pointer to the stream, 0 if none was set.
    """
    return _core.stream_get(device.dlpack_device_type(), device.index)


def _address_of(stream: Any) -> int:
    if isinstance(stream, int):
        return stream
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(stream, ctypes.c_void_p):
        return stream.value or 0
    raise ValueError(
        f"expected the address of a stream as an int or a c_void_p, got {type(stream).__name__}; "
        "use_torch_stream() takes a stream of torch"
    )
