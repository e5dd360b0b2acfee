"""The classes of arguments in messages of native code.

Native code gets a native value of each argument and names the class of that value: `bytes` for a bytearray, `dict` for
an OrderedDict. The error has the places of these names in the message, and their values (FFI_HPY_CLASS_PLACES in
c_api.h). The binding has the arguments, and writes the names of their classes there.
"""

from __future__ import annotations

from .. import _core
from .opaque import OpaquePyObject
from .single import class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["given_class_name", "name_classes"]

_FIRST_REGISTERED = _core.TYPE_INDEX_DYNAMIC_BEGIN
_ARGUMENT_SIZE = 16  # of a TVMFFIAny


def _is_of_registered_class(value: Any) -> bool:
    """Whether native code knows the class of an object: by a type key, unlike a subclass in Python."""
    info = getattr(type(value), "__tvm_ffi_type_info__", None)
    return info is not None and info.type_cls is type(value) and info.type_index >= _FIRST_REGISTERED


def given_class_name(value: Any) -> str | None:
    """Return the name of the class of an object that native code got; for a Function, the class of its callable. None
    for a class that native code knows."""
    if _is_of_registered_class(value):
        return None
    is_of_callable = isinstance(value, _core.Function) and value._callable is not None
    return class_name(type(value._callable if is_of_callable else value))


def name_classes(message: bytes, places: bytes, first: int, args: tuple[Any, ...]) -> str:
    """Return a message that names classes at places with the names that these have in Python. The address of the first
    argument is `first`. Arguments after the first ones may be missing if native code knows their classes."""
    numbers = memoryview(places).cast("q").tolist()
    address, size = numbers[-2:]
    added = len(message) - size
    parts, end, at = [], 0, 0
    while at < len(numbers) - 2:
        offset, length, n = numbers[at : at + 3]
        position, *items = numbers[at + 3 : at + 3 + n]
        at += 3 + n
        value = _item(args, (address - first) // _ARGUMENT_SIZE + position)
        for i in items:
            value = _item(value, i)
        if value is not None and not isinstance(value, OpaquePyObject) and not _is_of_registered_class(value):
            parts += [message[end : added + offset], class_name(type(value)).encode("utf-8", "replace")]
            end = added + offset + length
    return b"".join([*parts, message[end:]]).decode("utf-8", "replace")


def _item(values: Any, i: int) -> Any:
    """Return an item of a list or tuple, or of the keys and values of a dict; None for an item that is not there."""
    if isinstance(values, dict):
        values = [part for pair in dict.items(values) for part in pair]
    return values[i] if isinstance(values, (list, tuple)) and 0 <= i < len(values) else None
