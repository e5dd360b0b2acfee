"""The classes of arguments in messages of native code.

Native code gets a native value of each argument and names the class of that value: `bytes` for a bytearray, `dict` for
an OrderedDict. The binding has the arguments, and puts the names of their classes in the place of these names. The
forms of the messages are those of any.h, function_detail.h and reflection/overload.h, and of core/bind/overload.c.
"""

from __future__ import annotations

import re

from .. import _core
from .object import MISSING, Object
from .opaque import OpaquePyObject
from .single import class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["given_class_name", "name_classes"]

_FIRST_REGISTERED = _core.TYPE_INDEX_DYNAMIC_BEGIN
_FORMS = frozenset(("Array", "Dict", "List", "Map", "Tuple"))
"""Types of the headers, which begin a description of the items of an argument."""
_DESCRIPTION = re.compile(r"(\w+(?:\.(?:\w+|<locals>))*)(?:(?=`)|(\[index (\d+): )|(?=\]))")
_CANNOT = re.compile(r"(Cannot (convert from|treat) type `)(.*)")
_MISMATCH = re.compile(r"(Mismatched type on argument #(\d+) when calling: `.*` but got `)(.*)")
_OVERLOADS = "No matching overload found when calling: "
_INVOKED = "\n\nInvoked with types: "
_INVOKED_NAME = re.compile(r"(?:kwargs = \{ )?(?:[\w?]+: )?([^,{}\s]+)")
_REASON = re.compile(r"(\n    \d+\. argument #(\d+) `(\w+)`((?:\[\d+\])*) has the type )(\S+)")


def _is_of_registered_class(value: Any) -> bool:
    """Whether native code knows the class of an object: by a type key, unlike a subclass in Python."""
    info = getattr(type(value), "__tvm_ffi_type_info__", None)
    return info is not None and info.type_cls is type(value) and info.type_index >= _FIRST_REGISTERED


def given_class_name(value: Any) -> str | None:
    """Return the name of the class of an object that native code got: of a Function, that of its callable. None for a
    class that native code knows."""
    if _is_of_registered_class(value):
        return None
    is_of_callable = isinstance(value, _core.Function) and value._callable is not None
    return class_name(type(value._callable if is_of_callable else value))


def name_classes(message: str, position: int, args: tuple[Any, ...]) -> str:
    """Return a message that names the class of the argument at a position, and maybe those of other arguments, with the
    names that the classes have in Python. Arguments after the first ones may be missing if native code knows them."""
    before, invoked, after = message.partition(_INVOKED)
    if invoked:
        line, newline, reasons = after.partition("\n")
        return before + invoked + _in_list(line, args) + _in_reasons(newline + reasons, args)
    if message.startswith(_OVERLOADS):
        return _MISMATCH.sub(lambda found: found[1] + _described(found[3], _at(int(found[2]), args)), message)
    form = _MISMATCH if _MISMATCH.match(message) else _CANNOT
    return form.sub(lambda found: found[1] + _described(found[3], _at(position, args)), message, count=1)


def _at(position: int, items: Any) -> Any:
    """Return an item of a list or tuple; None for an item that is not there."""
    return items[position] if isinstance(items, (list, tuple)) and position < len(items) else None


def _name(value: Any, known: str) -> str:
    """Return the name of the class of a value, which native code knows under another name or under this one."""
    is_known = value is None or isinstance(value, OpaquePyObject) or _is_of_registered_class(value)
    return known if is_known else class_name(type(value))


def _described(text: str, value: Any) -> str:
    """Return a text that begins with the description of a value, the name of its class, with the name in Python. The
    description of a sequence may go on with that of an item."""
    found = _DESCRIPTION.match(text)
    if found is None:
        return text
    name = found[1] if found[1] in _FORMS else _name(value, found[1])
    if found[2] is None:
        return name + text[found.end(1) :]
    return name + found[2] + _described(text[found.end() :], _at(int(found[3]), value))


def _split(args: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments by position, with MISSING for those that were left out, and the arguments by name."""
    n = next((i for i, arg in enumerate(args) if type(arg) is Object and arg is not MISSING), len(args))  # KWARGS
    return list(args[:n]), dict(zip(args[n + 1 :: 2], args[n + 2 :: 2]))


def _in_list(line: str, args: tuple[Any, ...]) -> str:
    """Return the list of the classes of the arguments, by position and by name, with their names in Python."""
    by_position, by_name = _split(args)
    shown = [arg for arg in by_position if arg is not MISSING] + list(by_name.values())
    found = list(_INVOKED_NAME.finditer(line))
    for i in reversed(range(min(len(shown), len(found)))):
        line = line[: found[i].start(1)] + _name(shown[i], found[i][1]) + line[found[i].end(1) :]
    return line


def _in_reasons(text: str, args: tuple[Any, ...]) -> str:
    by_position, by_name = _split(args)

    def name(found: re.Match[str]) -> str:
        value = by_name[found[3]] if found[3] in by_name else _at(int(found[2]), by_position)
        for i in found[4].strip("[]").split("][") if found[4] else ():
            value = _at(int(i), value)
        return found[1] + _name(value, found[5])

    return _REASON.sub(name, text)
