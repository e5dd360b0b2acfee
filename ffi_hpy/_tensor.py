"""Tensor and Shape, and the DLPack protocol in both directions."""

from __future__ import annotations

import sys
from operator import index as _as_int

from . import _core, _ffi_api
from ._start.fork import importing
from ._start.late import find_attributes
from ._values.device import Device, device  # noqa: F401 - names that tvm_ffi has here
from ._values.object import Object
from ._values.string import PyNativeObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, SupportsIndex, TypeVar

    from ._dtype import dtype

    _Class = TypeVar("_Class", bound=type)

__all__ = ["DLTensorTestWrapper", "Shape", "Tensor", "from_dlpack"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

DLPACK_VERSION = (_core.DLPACK_MAJOR_VERSION, _core.DLPACK_MINOR_VERSION)
"""The DLPack version of capsules that are read and written."""


def _written_into_base(written: _Class) -> _Class:
    """A class decorator: copies the attributes of a class statement into its only base, a type of the binding, and
    returns the base.

    Passing an array through native code creates a Tensor, so creation must be cheap. Instances of a class statement
    cost more than instances of the binding's types: the interpreter registers each with its collector, and on
    destruction looks for attributes that Python code may have added.
    """

    class Empty: ...

    base = written.__base__
    for name, value in vars(written).items():
        if name == "__doc__" or (name not in vars(Empty) and name != "__slots__"):
            setattr(base, name, value)
    return base  # type: ignore[return-value]


@_written_into_base
class Tensor(_core.Tensor):
    """An n-dimensional array whose memory is shared with its maker.

    Tensors come from `from_dlpack()` and from native functions, and go to any DLPack consumer. The memory lives as long
    as the last tensor or array on it. Nothing orders accesses of several threads to the elements.

    Examples:
        >>> import numpy
        >>> array = numpy.zeros((2, 3), "float32")
        >>> tensor = ffi_hpy.from_dlpack(array)
        >>> tensor.shape, tensor.strides, tensor.dtype, tensor.device
        ((2, 3), (3, 1), dtype('float32'), device(type='cpu', index=0))
        >>> array[1, 2] = 5
        >>> numpy.from_dlpack(tensor).tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 5.0]]
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dtype(self) -> dtype:
            """Element type."""

        @property
        def device(self) -> Device:
            """Where the memory is."""

    if _core.HAS_EXCHANGE:
        __dlpack_c_exchange_api__ = _core.exchange_table()
        """Capsule of the DLPack C exchange API, by which C code takes and makes tensors. Missing on PyPy 7.3, because
        the objects of its C API are not the objects of HPy: there arrays are exchanged by `__dlpack__` only."""

    def __repr__(self) -> str:
        if self.__chandle__() == 0:
            return "Tensor(chandle=None)"
        return f"{self.dtype}{list(self.shape)}@{self.device}"

    def _repr_html_(self) -> str:
        from ._values.display import tensor_to_html

        return tensor_to_html(self)

    def __len__(self) -> int:
        length: int = _parts().length_of(self)
        return length

    def __bool__(self) -> bool:
        """Return True, as for any object: code that tests for None must not depend on the number of elements."""
        return True

    # Without these methods int() and float() read the memory as digits.
    def __int__(self) -> int:
        return int(_parts().number_of(self))

    def __float__(self) -> float:
        return float(_parts().number_of(self))

    def __complex__(self) -> complex:
        return complex(_parts().number_of(self))

    def __index__(self) -> int:
        number: int = _parts().integer_of(self)
        return number

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the tensor.

        Args:
            key: an int, a slice, `...`, None for a new axis, or a tuple of these.

        Returns:
            A Tensor on the same memory. If the key selects one element, and the element is in host memory, a number;
            for element types without a Python class (float8, int4, lanes) a Tensor without axes.

        Raises:
            IndexError: if an index is out of range, or there are more indices than axes.
            TypeError: for another key, such as a list or an array.
        """
        return _parts().item_of(self, key)

    def __iter__(self) -> Iterator[Any]:
        items: Iterator[Any] = _parts().iterate(self)
        return items

    def __contains__(self, value: object) -> bool:
        """Return whether an element equals a value, on any axis.

        Raises:
            TypeError: for a tensor without axes, memory that is not the CPU's, and elements that are not numbers in
                Python (float8, lanes).
        """
        found: bool = _parts().contains(self, value)
        return found

    def __format__(self, format_spec: str) -> str:
        """Return str() of the tensor; with a specification the formatted number of a tensor without axes."""
        if not format_spec or self.shape:
            return object.__format__(self, format_spec)
        return format(_parts().number_of(self), format_spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return a numpy.ndarray on the tensor's memory.

        Args:
            dtype: the element type of the array, by default the element type of the tensor.
            copy: True for a copy; False if a copy is an error; None for a copy only if it is necessary, because of
                `dtype` or of elements of less than a byte.

        Raises:
            TypeError: for memory that is not the CPU's, and for an element type that neither NumPy nor the package
                ml_dtypes has.
            ValueError: if a copy is necessary, and `copy` is False.
        """
        return _arrays().array_of(self, dtype, copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory on a GPU, for libraries that use this protocol. AttributeError for memory elsewhere."""
        interface: dict[str, Any] = _arrays().cuda_interface_of(self)
        return interface

    def __copy__(self) -> Tensor:
        """Return a new Tensor with a compact copy of the elements, in host memory."""
        made: Tensor = _arrays().copy_of(self)
        return made

    def __deepcopy__(self, memo: object = None) -> Tensor:
        """Return a new Tensor, like __copy__()."""
        made: Tensor = _arrays().copy_of(self)
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _tensor_of_state, _arrays().state_of(self)


_items: Any = None  # modules that are imported on first use
_numpy: Any = None


def _parts() -> Any:
    """Return the module with the items of tensors."""
    global _items
    if _items is None:
        with importing:
            from ._values import tensor_items
        _items = tensor_items
    return _items


def _arrays() -> Any:
    """Return the module that exchanges arrays with NumPy and makes copies."""
    global _numpy
    if _numpy is None:
        with importing:
            from ._values import tensor_numpy
        _numpy = tensor_numpy
    return _numpy


def _tensor_of_state(data: bytes, shape: tuple[int, ...], dtype: tuple[int, int, int]) -> Tensor:
    """Return the Tensor of a pickle."""
    made: Tensor = _arrays().tensor_of_state(data, shape, dtype)
    return made


if TYPE_CHECKING:

    def from_dlpack(ext_tensor: Any, *, require_alignment: int = 0, require_contiguous: bool = False) -> Tensor:
        """Make a Tensor on the memory of an array of any library that supports DLPack, without copying.

        Args:
            ext_tensor: an object with `__dlpack__`, or a DLPack capsule, which is used up.
            require_alignment: the number of bytes of which the address of the first element must be a multiple; 0 for
                any.
            require_contiguous: whether the elements must be contiguous, row by row.

        Returns:
            A new Tensor, which keeps the memory alive. A write to the Tensor changes the array.

        Raises:
            TypeError: for an object that is not an array.
            ValueError: for a capsule that was used up before.
            BufferError: if the array's library refuses, as NumPy does for text, and for read-only memory, because
                native code could not know that it must not write.
            RuntimeError: if the memory does not meet the requirements.

        Examples:
            >>> import numpy
            >>> ffi_hpy.from_dlpack(numpy.arange(6.0).reshape(2, 3))
            float64[2, 3]@cpu:0
        """

else:
    from_dlpack = _core.from_dlpack


class Shape(tuple[int, ...], PyNativeObject):
    """A shape: a tuple of ints that is ffi.Shape in native code.

    Args:
        content: the extents, one for each axis.

    Raises:
        TypeError: if an item is not an integer.

    Examples:
        >>> ffi_hpy.Shape([2, 3]) == (2, 3)
        True
    """

    # No empty slots: the native object is created on first use and kept in __dict__.
    _constructor = "Shape"
    if TYPE_CHECKING:
        _native: _core.CObject

    def __new__(cls, content: Iterable[SupportsIndex] = ()) -> Shape:
        return tuple.__new__(cls, map(_as_int, content))

    @classmethod
    def _wrap(cls, content: Iterable[int], native: _core.CObject) -> Shape:
        """Return the Shape for a native ffi.Shape."""
        self = tuple.__new__(cls, content)
        self._native = native
        return self

    @property
    def _tvm_ffi_cached_object(self) -> _core.CObject:
        """The ffi.Shape that this Shape came from, or that is passed in its place."""
        native = self.__dict__.get("_native")
        if native is None:
            # Two threads may get here at once: both return the object that the first one stores
            native = self.__dict__.setdefault("_native", _new_shape(self))
        return native  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


def _new_shape(extents: Iterable[int]) -> _core.CObject:
    """Return a new ffi.Shape with these extents. OverflowError for an extent of more than 64 bits."""
    obj = Object.__new__(Object)
    obj.__init_handle_by_constructor__(_ffi_api.Shape, *extents)
    return obj


def dlpack_capsule(producer: Any) -> Any:
    """Return a capsule of producer.__dlpack__().

    The unversioned form, which is requested first, has no read-only flag, so a producer refuses to export read-only
    memory in it. Native code cannot see the flag either, so it never writes to read-only memory.
    """
    try:
        return producer.__dlpack__()
    except BufferError as refused:
        try:
            return producer.__dlpack__(max_version=DLPACK_VERSION)
        except (TypeError, BufferError):
            capsule = _arrays().capsule_of_array(producer)
            if capsule is not None:
                return capsule
            raise refused from None


def refuse_unresolved(tensor: Any) -> None:
    """BufferError for a view whose values differ from its memory by torch's conjugate or negative bit. A copy with the
    values is not an option: native code may write to its arguments."""
    for bit, resolve in (("is_conj", "resolve_conj"), ("is_neg", "resolve_neg")):
        has_bit = getattr(tensor, bit, None)  # torch before 1.10 has no such bits
        if has_bit is not None and has_bit():
            name = "conjugate" if bit == "is_conj" else "negative"
            raise BufferError(
                f"a {type(tensor).__name__} with the {name} bit set has other values than its memory: "
                f"pass tensor.{resolve}()"
            )


# The DLPack C exchange API for versions of torch without one, in Python (exchange_from_python).


def tensor_of_torch(tensor: Any) -> Any:
    """Return the Tensor of a torch tensor, without a wait for its stream (-1)."""
    return _core.from_dlpack(tensor.detach().__dlpack__(stream=-1))


def torch_of_tensor(tensor: Any) -> Any:
    """Return the torch tensor of a Tensor."""
    return sys.modules["torch"].from_dlpack(tensor)


def stream_of_torch(device_type: int, device_index: int) -> int:
    """Return the pointer to torch's current stream; 0, the default stream, for devices whose streams torch does not
    expose."""
    if device_type not in (_core.DEVICE_TYPE_CUDA, _core.DEVICE_TYPE_ROCM):
        return 0
    stream: int = sys.modules["torch"].cuda.current_stream(device_index).cuda_stream
    return stream


# Functions that code written for tvm_ffi.core calls.


def _set_class_tensor(cls: type[_core.Tensor]) -> None:
    """Make tensors from native code instances of `cls`, a subclass of Tensor. TypeError for another class."""
    if not issubclass(cls, _core.Tensor):
        raise TypeError(f"expected a subclass of Tensor, got {cls!r}")
    _core.class_register(_core.type_key_to_index("ffi.Tensor"), cls)


def _shape_obj_get_py_tuple(obj: _core.CObject) -> tuple[int, ...]:
    """The extents of a native ffi.Shape, as a plain tuple."""
    return tuple(_core.convert(obj))


class DLTensorTestWrapper:
    """A stand-in for the array class of a library with a DLPack C exchange API: it has a Tensor's memory but is not a
    Tensor.

    `tensor` is the Tensor. For tests.
    """

    if _core.HAS_EXCHANGE:
        __dlpack_c_exchange_api__ = Tensor.__dlpack_c_exchange_api__

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __tvm_ffi_env_stream__(self) -> int:
        """Return the pointer to the stream that native code called by this thread uses on the tensor's device."""
        return _core.stream_get(*self.tensor.__dlpack_device__())

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)
