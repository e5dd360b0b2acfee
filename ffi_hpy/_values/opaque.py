"""OpaquePyObject: a native object that owns a Python object."""

from __future__ import annotations

from .._core import CObject, opaque_new, type_key_to_index
from .function import native_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["OpaquePyObject"]

_adopt, _echo = native_function("adopt"), native_function("echo")
_TYPE_INDEX = type_key_to_index("ffi.OpaquePyObject")


class OpaquePyObject(CObject):
    """A Python object owned by native code. Calls that return it return the Python object.

    Args:
        pyobject: any object.
    """

    __slots__ = ()

    def __init__(self, pyobject: Any) -> None:
        self.__init_handle_by_constructor__(_adopt, opaque_new(pyobject))

    @classmethod
    def _adopt(cls, address: int) -> OpaquePyObject:
        """Return a wrapper that takes over the reference at a pointer."""
        wrapper = cls.__new__(cls)
        wrapper.__init_handle_by_constructor__(_adopt, address)
        return wrapper

    def __reduce__(self) -> tuple[type[OpaquePyObject], tuple[Any]]:
        return OpaquePyObject, (self.pyobject(),)

    def pyobject(self) -> Any:
        """Return the Python object.

        Raises:
            TypeError: if another Python binding made the native object.
        """
        if self.__type_index__() != _TYPE_INDEX:
            raise TypeError(f"the native object of this {type(self).__name__} is of another type")
        inside = _echo(self)
        if inside is self:
            raise TypeError("this OpaquePyObject was made by another Python binding")
        return inside
