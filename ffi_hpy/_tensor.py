"""Tensor and Shape, and the DLPack protocol in both directions."""

from __future__ import annotations

from operator import index as _as_int

from . import _core
from ._object import ObjectMeta
from ._string import PyNativeObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, SupportsIndex

    from ._device import Device
    from ._dtype import dtype

__all__ = ["Shape", "Tensor", "from_dlpack"]

DLPACK_VERSION = (1, 3)
"""The DLPack version that capsules are read and written in."""


class Tensor(_core.Tensor, metaclass=ObjectMeta):
    """An n-dimensional array whose memory is shared with whoever made it.

    Tensors come from :func:`from_dlpack` and from native functions, and go to any DLPack consumer
    (``numpy.from_dlpack(tensor)``). The memory lives as long as the last tensor or array on it. `shape` counts elements
    per axis, `strides` is in elements, `byte_offset` in bytes, `data_ptr()` is the address of the first element.
    """

    if TYPE_CHECKING:

        @property
        def dtype(self) -> dtype: ...
        @property
        def device(self) -> Device: ...

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack device type and index."""
        place = self.device
        return place.dlpack_device_type(), place.index

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule that keeps the memory alive until its consumer is done.

        The capsule is "dltensor_versioned" for a consumer that reads major version 1 or later, else the older
        "dltensor". `stream` is ignored: a tensor does not know which stream its data is written on. BufferError for
        what cannot be given without moving data: `copy=True`, or a `dl_device` other than the tensor's own.
        """
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"cannot export a tensor on device {self.__dlpack_device__()} to device {dl_device}")
        if copy:
            raise BufferError("a tensor is exported without copying; copy=True is not supported")
        if max_version is not None and max_version[0] >= DLPACK_VERSION[0]:
            return self._to_dlpack_versioned()
        return self._to_dlpack()

    def __repr__(self) -> str:
        if self.__chandle__() == 0:
            return "Tensor(chandle=None)"
        return f"{self.dtype}{list(self.shape)}@{self.device}"


class Shape(tuple[int, ...], PyNativeObject):
    """A shape: a tuple of ints that native code takes and gives as ffi.Shape. TypeError if an item is no integer."""

    __slots__ = ()
    _constructor = "Shape"

    def __new__(cls, content: Iterable[SupportsIndex] = ()) -> Shape:
        return tuple.__new__(cls, map(_as_int, content))

    @classmethod
    def _wrap(cls, content: Iterable[int]) -> Shape:
        """The Shape of ints that came from native code."""
        return tuple.__new__(cls, content)


def shape_object(shape: Shape) -> _core.CObject:
    """A new ffi.Shape with these extents."""
    from . import _ffi_api

    obj = _core.CObject.__new__(_core.CObject)
    obj.__init_handle_by_constructor__(_ffi_api.Shape, *shape)
    return obj


def dlpack_capsule(producer: Any) -> Any:
    """A capsule of producer.__dlpack__().

    The older form is asked for first: it has no flag for read-only memory, so a producer refuses to give out such
    memory in it, and native code, which cannot see the flag either, never writes where it must not.
    """
    try:
        return producer.__dlpack__()
    except BufferError as refused:
        try:
            return producer.__dlpack__(max_version=DLPACK_VERSION)
        except TypeError:
            raise refused from None


def from_dlpack(ext_tensor: Any, *, require_alignment: int = 0, require_contiguous: bool = False) -> Tensor:
    """A Tensor on the memory of an array of any library that supports DLPack, without copying.

    `ext_tensor` has `__dlpack__`, or is a DLPack capsule, which is used up. With `require_alignment` (bytes) the data
    address must be a multiple of it; with `require_contiguous` the layout must be row-major without gaps: RuntimeError
    otherwise. TypeError if `ext_tensor` is neither, ValueError if the capsule was used up before, BufferError if the
    memory's owner does not give it out or it is read-only.
    """
    capsule = dlpack_capsule(ext_tensor) if hasattr(ext_tensor, "__dlpack__") else ext_tensor
    tensor: Tensor = _core.tensor_from_dlpack(capsule, require_alignment, require_contiguous)  # type: ignore[assignment]
    return tensor
