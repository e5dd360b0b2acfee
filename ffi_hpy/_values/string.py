"""String and Bytes: the classes of strings and bytes that come from native code."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

__all__ = ["Bytes", "PyNativeObject", "String"]


class PyNativeObject:
    """Base of the classes that are a Python builtin and also represent a native object: String, Bytes, Shape."""

    __slots__ = ()
    _constructor: ClassVar[str]  # the function of _ffi_api that creates such an object

    @property
    def _tvm_ffi_cached_object(self) -> Any:
        """A native object of the same value, created on each access; None if the value needs none, such as a string of
        up to 7 bytes. tvm_ffi keeps one in each instance; here instances cost nothing until this access."""
        from .. import _ffi_api
        from .object import Object

        arguments = self if isinstance(self, tuple) else (self,)
        made = Object.__new__(Object)
        try:
            made.__init_handle_by_constructor__(getattr(_ffi_api, self._constructor), *arguments)
        except TypeError:  # the result is not an object
            return None
        return made

    def __init_cached_object_by_constructor__(self, fconstructor: Any, *args: Any) -> None:
        """Call a native constructor and keep the result as `_tvm_ffi_cached_object`, for a program's class that has
        such an attribute. The classes here create it on access and do not keep it."""
        from .object import Object

        made = Object.__new__(Object)
        made.__init_handle_by_constructor__(fconstructor, *args)
        if getattr(type(self), "_tvm_ffi_cached_object", None) is not PyNativeObject._tvm_ffi_cached_object:
            self._tvm_ffi_cached_object = made  # type: ignore[misc]


class String(str, PyNativeObject):
    """A str from native code, and a str in every respect. A string of up to 7 UTF-8 bytes arrives as a plain str."""

    __slots__ = ()
    _constructor = "String"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle as a plain str, which can be read without this package."""
        return str, (str(self),)


class Bytes(bytes, PyNativeObject):
    """Bytes from native code, and bytes in every respect. Up to 7 bytes arrive as plain bytes."""

    __slots__ = ()
    _constructor = "Bytes"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle as a plain bytes, which can be read without this package."""
        return bytes, (bytes(self),)
