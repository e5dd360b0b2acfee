"""Tensor.

Attributes are read from the DLTensor after the header of the native object, which does not change during the object's
life. The C binding implements DLPack's capsules, tensors of other libraries and the DLPack C exchange API.
"""

from __future__ import annotations

from operator import index as as_int

from ..context.backend import words_at
from ..context.binding import binding
from ..context.bridge import from_binding, to_binding, use_in_binding
from ..context.hidden import hidden
from ..context.numbers import INT64_MAX, INT64_MIN, TENSOR
from ..context.texts import bind, messages
from ..convert.values import data_type_of, device_of
from ..object.call_buffers import give, read_object, take, use
from ..object.objects import expect
from .cobject import CObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Tensor"]

# Words of the object: the DLTensor begins after the header.
_DATA = 3
_DEVICE = 4  # the device type; the upper half is the index
_NDIM_AND_TYPE = 5  # the number of axes; the upper half is the element type
_SHAPE = 6
_STRIDES = 7
_BYTE_OFFSET = 8

_WITH_STRIDES = 0x18  # PyBUF_STRIDES: the user of a buffer reads its strides
_TWO_TO_64 = 1 << 64
_OPTIONS = ("stream", "max_version", "dl_device", "copy")
_SIMPLE_OPTIONS = ("stream", "max_version")


@hidden
def _read(self: Tensor, read: Callable[[Any], Any]) -> Any:
    """Return the result of read() for the object's words."""
    return read_object(self, TENSOR, 1, read)


def _ndim(words: Any) -> int:
    n: int = words[_NDIM_AND_TYPE] & 0xFFFFFFFF
    return n


def _ints(at: int, n: int) -> tuple[int, ...]:
    ints = words_at(at)
    return tuple([ints[i] for i in range(n)])


def _shape(words: Any) -> tuple[int, ...]:
    return _ints(words[_SHAPE], _ndim(words))


def _strides(words: Any) -> tuple[int, ...]:
    # the core fills in strides that an exporter omits, so a tensor with axes has strides
    return _ints(words[_STRIDES], _ndim(words))


def _element_type(words: Any) -> Any:
    return data_type_of(words[_NDIM_AND_TYPE] >> 32 & 0xFFFFFFFF)


def _device(words: Any) -> Any:
    return device_of(words[_DEVICE])


def _byte_offset(words: Any) -> int:
    offset: int = words[_BYTE_OFFSET] % _TWO_TO_64
    return offset


def _data_ptr(words: Any) -> int:
    # if byte_offset is not 0, `data` is the beginning of a larger block
    address: int = (words[_DATA] + words[_BYTE_OFFSET]) % _TWO_TO_64
    return address


def _count(words: Any) -> int:
    extents = words_at(words[_SHAPE])
    n = _ndim(words)
    if n == 1 and extents[0] >= 0:
        return extents[0]  # type: ignore[no-any-return]
    if n == 2 and 0 <= extents[0] < 1 << 31 and 0 <= extents[1] < 1 << 31:
        return extents[0] * extents[1]  # type: ignore[no-any-return]
    return _count_of(_shape(words))


def _count_of(shape: tuple[int, ...]) -> int:
    if 0 in shape:
        return 0
    n = 1
    for extent in shape:
        n *= extent % _TWO_TO_64  # a negative extent counts as too large
    return n


def _is_contiguous(words: Any) -> bool:
    shape = _shape(words)
    if not words[_STRIDES] or 0 in shape:
        return True  # without elements there are no gaps
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(_strides(words))):
        if extent == 1:
            continue  # its stride is never used
        if stride % _TWO_TO_64 != expected:
            return False
        expected = expected * extent % _TWO_TO_64
    return True


class Tensor(CObject):
    """An n-dimensional array with shared ownership of its memory, exchanged through DLPack."""

    __slots__ = ()

    @property
    @hidden
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        shape: tuple[int, ...] = _read(self, _shape)
        return shape

    @property
    @hidden
    def strides(self) -> tuple[int, ...]:
        """Stride of each axis, in elements."""
        strides: tuple[int, ...] = _read(self, _strides)
        return strides

    @property
    @hidden
    def dtype(self) -> Any:
        """Element type."""
        return _read(self, _element_type)

    @property
    @hidden
    def device(self) -> Any:
        """Where the memory is."""
        return _read(self, _device)

    @property
    @hidden
    def ndim(self) -> int:
        """Number of axes."""
        n: int = _read(self, _ndim)
        return n

    @property
    @hidden
    def byte_offset(self) -> int:
        """Bytes from the beginning of the memory to the first element."""
        offset: int = _read(self, _byte_offset)
        return offset

    @hidden
    def data_ptr(self) -> int:
        """Address of the first element."""
        address: int = _read(self, _data_ptr)
        return address

    @hidden
    def numel(self) -> int:
        """Number of elements."""
        n: int = _read(self, _count)
        if n > INT64_MAX:
            self._of_binding("numel")  # it raises the error
        return n

    @hidden
    def size(self, *args: Any, **kwargs: Any) -> int:
        """Extent of one axis; negative counts from the end."""
        (idx,) = bind("size", ("idx",), 1, args, kwargs)
        axis = as_int(idx)
        if not INT64_MIN <= axis <= INT64_MAX:
            raise OverflowError(f"an axis is an int of 64 bits, not {axis}")
        shape: tuple[int, ...] = _read(self, _shape)
        n = len(shape)
        if not -n <= axis < n:
            self._of_binding("size", axis)  # it raises the error
        return shape[axis]

    @hidden
    def is_contiguous(self) -> bool:
        """Whether the elements are contiguous, row by row."""
        is_contiguous: bool = _read(self, _is_contiguous)
        return is_contiguous

    @hidden
    def _to_dlpack(self) -> Any:
        """Capsule "dltensor"."""
        return self._capsule(False)

    @hidden
    def _to_dlpack_versioned(self) -> Any:
        """Capsule "dltensor_versioned"."""
        return self._capsule(True)

    @hidden
    def __dlpack__(self, *args: Any, **options: Any) -> Any:
        """A DLPack capsule that keeps the memory alive until its consumer is done."""
        if args:
            return self._of_binding("__dlpack__", *args, **options)  # it raises the error
        version = options.get("max_version")
        for name, value in options.items():
            if name not in _OPTIONS or (value is not None and name not in _SIMPLE_OPTIONS):
                return self._of_binding("__dlpack__", **options)
        if version is None:
            return self._capsule(False)
        if type(version) is tuple and version and type(version[0]) is int:
            return self._capsule(version[0] >= binding.DLPACK_MAJOR_VERSION)
        return self._of_binding("__dlpack__", **options)

    @hidden
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack device type and index, two ints."""
        word: int = _read(self, _device_word)
        return word & 0xFFFFFFFF, word >> 32

    @hidden
    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...], n_bytes: int) -> Any:
        """A Tensor over a part of the memory."""
        return from_binding(self._of_binding("_view", shape, strides, n_bytes))

    @hidden
    def __buffer__(self, flags: int) -> memoryview:
        """A view of the memory, by the binding's wrapper of the tensor. PyPy and CPython 3.12 call this."""
        if flags & _WITH_STRIDES != _WITH_STRIDES and not self.is_contiguous():
            raise BufferError(messages.NOT_CONTIGUOUS)
        frame = take()
        try:
            use(frame, self)
            return memoryview(to_binding(expect(self, TENSOR, 1)))
        finally:
            give(frame)

    @hidden
    def _capsule(self, is_versioned: bool) -> Any:
        """A capsule that shares the memory."""
        frame = take()
        try:
            use(frame, self)
            return binding.tensor_capsule(expect(self, TENSOR, 1), is_versioned)
        finally:
            give(frame)

    @hidden
    def _of_binding(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of the binding's wrapper of the tensor."""
        frame = take()
        try:
            use(frame, self)
            return use_in_binding(expect(self, TENSOR, 1), lambda theirs: getattr(theirs, method)(*args, **options))
        finally:
            give(frame)


def _device_word(words: Any) -> int:
    word: int = words[_DEVICE]
    return word
