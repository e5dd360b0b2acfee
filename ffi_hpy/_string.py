"""String and Bytes: the classes of text and bytes that come from native code."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Bytes", "PyNativeObject", "String"]


class PyNativeObject:
    """Marks the classes that are both a Python builtin and the image of a native object: String, Bytes, Shape."""

    __slots__ = ()


class String(str, PyNativeObject):
    """Text from native code: a str in every respect. Text of up to 7 UTF-8 bytes arrives as a plain str."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle as a plain str, which can be read without this package."""
        return str, (str(self),)


class Bytes(bytes, PyNativeObject):
    """Bytes from native code: a bytes in every respect. Up to 7 bytes arrive as a plain bytes."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle as a plain bytes, which can be read without this package."""
        return bytes, (bytes(self),)
