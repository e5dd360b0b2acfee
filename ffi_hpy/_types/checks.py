"""Checks of annotated values beyond their native type: members of a Literal or an Enum, any sequence or iterable, and
instances of a class without a native type.

A schema with a check passes each Python value through the check first (`check_annotated`). `_core` knows a check by its
number.
"""

from __future__ import annotations

import collections.abc
import enum

from .._core import CObject
from .._start.fork import new_lock
from .._values.single import class_name, defines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Check", "EnumCheck", "InstanceCheck", "ItemsCheck", "LiteralCheck", "check_annotated"]

abc = collections.abc
_by_number: list[Check] = []  # only grows; equal checks have one number
_numbers: dict[Any, int] = {}
_lock = new_lock()


class Check:
    """A function of a value that returns the value to convert, or raises TypeError or ValueError with the reason.

    `name` is the annotation, for messages. Checks with equal keys are one. `restores`: reading a field needs `restore`.
    """

    __slots__ = ("name", "number")

    comes_first = False
    """Whether an alternative of a Union with this check is tried before others, which would convert the value."""
    restores = False

    def __init__(self, name: str, key: tuple[Any, ...]) -> None:
        self.name = name
        with _lock:
            self.number: int = _numbers.setdefault(key, len(_by_number))
            if self.number == len(_by_number):
                _by_number.append(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Check) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)

    def apply(self, value: Any) -> Any:
        raise NotImplementedError

    def restore(self, value: Any) -> Any:
        """Return the member that became a native value, the value itself if there is none."""
        return value


class LiteralCheck(Check):
    """The values of a Literal. True and 1 are different members, as for a type checker."""

    __slots__ = ("_members", "_values", "restores")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values
        self._members = [each for each in values if isinstance(each, enum.Enum) and isinstance(each, (int, str))]
        self.restores = bool(self._members)
        super().__init__(f"Literal[{', '.join(map(repr, values))}]", ("Literal", *map(_kind_and_value, values)))

    def apply(self, value: Any) -> Any:
        given = _kind_and_value(value)
        if any(given == _kind_and_value(each) for each in self._values):
            return value
        raise ValueError(f"{value!r} is not one of {', '.join(map(repr, self._values))}")

    def restore(self, value: Any) -> Any:
        given = _kind_and_value(value)
        if any(given == _kind_and_value(each) for each in self._values):
            return value
        return next((member for member in self._members if member == value), value)


def _kind_and_value(value: Any) -> tuple[Any, Any]:
    """Return a value with its class; for a str, bytes or int that is not an enum's member, with the built-in class."""
    kind: Any = type(value)
    if not isinstance(value, (bool, enum.Enum)):
        kind = next((base for base in (int, str, bytes) if isinstance(value, base)), kind)
    return kind, value


class EnumCheck(Check):
    """The members of an enum of the standard library; of an IntEnum or StrEnum also their values."""

    __slots__ = ("_bases", "_cls", "restores")

    def __init__(self, cls: type[enum.Enum]) -> None:
        self._cls = cls
        self._bases = tuple([base for base in (int, str) if issubclass(cls, base)])
        self.restores = cls._member_type_ is not object  # type: ignore[attr-defined]
        super().__init__(cls.__qualname__, ("Enum", cls))

    def apply(self, value: Any) -> Any:
        cls = self._cls
        if isinstance(value, cls):
            return value
        if isinstance(value, bool) or not isinstance(value, self._bases):
            raise TypeError(f"{value!r} is not a member")
        cls(value)  # ValueError if it is not the value of a member
        return value

    def restore(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, enum.Enum)):
            return value
        try:
            return self._cls(value)
        except (TypeError, ValueError):  # another alternative of a Union, or native code has written it
            return value


class ItemsCheck(Check):
    """Any value of an abstract class of sequences or iterables: its items."""

    __slots__ = ("_cls",)

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        super().__init__(cls.__name__, ("items", cls))

    def apply(self, value: Any) -> Any:
        if isinstance(value, (CObject, str, bytes, bytearray, abc.Mapping)):
            return value  # a container stays, and the conversion refuses other values
        if hasattr(value, "__dlpack__") and hasattr(value, "dtype") and hasattr(value, "tolist"):
            from .._values.array_numbers import elements_of

            items = elements_of(value)
            return value if items is None else items
        cls = type(value)  # Python 3.9 does not know that array.array is a Sequence
        is_sequence = defines(cls, "__getitem__", "__len__", "__iter__")
        return list(value) if isinstance(value, self._cls) or is_sequence else value


def _is_class_of_instances(cls: type) -> bool:
    """Whether isinstance() answers for a class. Files are not instances of the classes of files in `typing`."""
    if cls.__module__ == "typing" and cls.__name__ in ("IO", "TextIO", "BinaryIO"):
        return False
    try:
        isinstance(None, cls)
    except TypeError:
        return False
    return True


class InstanceCheck(Check):
    """The instances of a class without a native type, such as `datetime` or `Path`: native code holds the Python
    object itself, even if the object is a callable or a sequence. A class that refuses `isinstance`, such as a Protocol
    that is not `runtime_checkable`, takes any object. `complex` takes other numbers, too, as `float` takes an int."""

    __slots__ = ("_cls", "comes_first")

    def __init__(self, cls: type) -> None:
        self._cls = cls if _is_class_of_instances(cls) else object
        self.comes_first = self._cls not in (complex, object)
        super().__init__(class_name(cls), ("instance", cls))

    def apply(self, value: Any) -> Any:
        if self._cls is complex and (isinstance(value, (int, float)) or hasattr(type(value), "__complex__")):
            value = complex(value)
        if not isinstance(value, self._cls):
            raise TypeError
        if isinstance(value, CObject):
            return value
        from .._values.opaque import OpaquePyObject

        return OpaquePyObject(value)


def check_annotated(number: int, value: Any) -> Any:
    """Return the value to convert for a value of a schema with a check."""
    return _by_number[number].apply(value)
