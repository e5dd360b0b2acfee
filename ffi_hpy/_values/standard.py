"""Python's standard classes for native code: the operations of the global function ffi_hpy.Python.

C++ headers (widen.h) call it for an argument whose class the parameter's type does not accept. Each operation returns
None for a value that does not have the requested form. Bound libraries use some of them, too (_bind/standard.py).
"""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Collection, Mapping

from .. import _core
from .._start.late import find_late
from .argument_classes import given_class_name
from .single import defines, float_of, has_imaginary_part, is_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "answer",
    "complex_parts",
    "datetime_of",
    "items_of_memory",
    "items_of_tensor",
    "microseconds_of_datetime",
    "microseconds_of_timedelta",
    "parts_of_pairs",
    "path_of",
    "timedelta_of",
]


def _index(value: Any) -> int | None:
    """Return the int of an object with `__index__`; None for another value, and for a container and a time."""
    cls = type(value)
    if not defines(cls, "__index__") or defines(cls, "__len__") or is_time(cls):
        return None
    try:
        return operator.index(value)
    except (TypeError, ValueError):  # another type of a variant may accept the value
        return None


def _number(value: Any) -> float | int | None:
    """Return the float of an object with `__float__`, or the int of one with `__index__`; None for another value, and
    for a container, a time and a complex number."""
    cls = type(value)
    if not defines(cls, "__float__"):
        return _index(value)
    if defines(cls, "__len__") or is_time(cls) or has_imaginary_part(value):
        return None
    try:
        return float_of(value)
    except (TypeError, ValueError):  # another type of a variant may accept the value
        return None


def _items(value: Any) -> list[Any] | None:
    """Return the items of a sequence, a set or a view. Strings, mappings and iterators are not such values."""
    cls = type(value)
    if issubclass(cls, (str, bytes, bytearray, Mapping)):
        return None
    if issubclass(cls, Collection):
        return list(value)
    if defines(cls, "__getitem__", "__len__"):  # __getitem__ may accept any position
        return list(value) if defines(cls, "__iter__") else [value[i] for i in range(len(value))]
    return None


def items_of_memory(data: bytes, form: str) -> list[Any] | None:
    """Return the items of a memoryview, from its bytes and "FORMAT;EXTENT,..."."""
    import struct

    unit, _, extents = form.partition(";")
    if not extents or len(unit.lstrip("@=<>!")) != 1:
        return None  # a scalar, or items with several parts
    try:
        items = [item for (item,) in struct.iter_unpack(unit, data)]
    except struct.error:
        return None
    for extent in map(int, extents.split(",")[:0:-1]):
        items = [items[i : i + extent] for i in range(0, len(items), extent or 1)]
    return items


def items_of_tensor(tensor: Any) -> list[Any] | None:
    """Return the elements of a tensor of real numbers, of types that C++ does not know."""
    from .array_numbers import elements_of

    try:
        return elements_of(tensor.__array__())
    except (ImportError, TypeError, ValueError):  # NumPy is missing, or lacks the type
        return None


def _pairs_in(mapping: Mapping[Any, Any]) -> list[Any] | None:
    """Return the pairs of a mapping, None if its items() has something else."""
    found = list(mapping.items())
    return found if all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in found) else None


def parts_of_pairs(value: Any) -> list[Any] | None:
    """Return the keys and values of a mapping, or of an object with its methods, in turn; None for other values."""
    is_mapping = isinstance(value, Mapping) or defines(type(value), "__getitem__", "keys", "items")
    pairs = _pairs_in(value) if is_mapping else None
    return None if pairs is None else [part for pair in pairs for part in pair]


def _pairs(value: Any) -> dict[Any, Any] | None:
    """Return the pairs of a mapping as a dict; None for another value."""
    found = _pairs_in(value) if issubclass(type(value), Mapping) else None
    return None if found is None else dict(found)


# --- sets, numbers, paths ---------------------------------------------------------------------------------------------


def _set(items: Any) -> set[Any]:
    """Return the set of some items; sets inside are frozen, because a set has hashable items."""
    return {frozenset(item) if isinstance(item, set) else item for item in items}


_TO_NUMBER = ("__complex__", "__float__", "__index__")


def complex_parts(value: Any) -> tuple[float, float] | None:
    """Return the two parts of a number; None for another value, such as a text."""
    cls = type(value)
    is_number = issubclass(cls, complex) or any(hasattr(cls, name) for name in _TO_NUMBER)
    if not is_number or issubclass(cls, (str, bytes)) or is_time(cls):  # a text of NumPy has __complex__
        return None
    try:
        number = complex(value)
    except (TypeError, ValueError):  # an array of several numbers
        return None
    return number.real, number.imag


def path_of(name: str | bytes) -> Any:
    import pathlib

    return pathlib.Path(os.fsdecode(name))


def _name_of_path(value: Any) -> str | bytes | None:
    name = os.fspath(value) if hasattr(type(value), "__fspath__") else None
    return os.fsencode(name) if name is not None and os.name != "nt" else name


# --- times, in microseconds -------------------------------------------------------------------------------------------


def timedelta_of(count: int) -> Any:
    import datetime

    return datetime.timedelta(microseconds=count)


def microseconds_of_timedelta(value: Any) -> int | None:
    import datetime

    return value // datetime.timedelta(microseconds=1) if isinstance(value, datetime.timedelta) else None


def datetime_of(count: int) -> Any:
    """Return the local time of a moment after the epoch, without a zone."""
    import datetime

    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (epoch + datetime.timedelta(microseconds=count)).astimezone().replace(tzinfo=None)


def microseconds_of_datetime(value: Any) -> int | None:
    """Return the microseconds from 1970 to a datetime, to the begin of a date, or to a time of 1970-01-01; None for
    another value. A time without a time zone is local.

    OverflowError for a year that the system does not know.
    """
    import datetime

    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
    elif isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if not isinstance(value, datetime.datetime):
        return None
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    try:
        moment = value.astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise OverflowError(f"{value!r} is outside the range of the system's local time") from None
    return (moment - epoch) // datetime.timedelta(microseconds=1)


def _date(parts: Any) -> Any:
    import datetime

    return datetime.date(*parts)


def _date_parts(value: Any) -> tuple[int, int, int] | None:
    import datetime

    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        return None
    return value.year, value.month, value.day


def _time(count: int) -> Any:
    import datetime

    if not 0 <= count < 24 * 60 * 60 * 1_000_000:
        raise OverflowError(f"{count} microseconds do not fit into a time of day")
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=count)).time()


def _microseconds_of_time(value: Any) -> int | None:
    import datetime

    if not isinstance(value, datetime.time):
        return None
    if value.tzinfo is not None:
        raise ValueError(f"{value!r} has a zone, which a time of day in C++ lacks")
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


# --- copies -----------------------------------------------------------------------------------------------------------


def _copy(value: Any) -> Any:
    """Return a deep copy of a value that is inside of a native object, with the memo of the copy.deepcopy() around. The
    copy of a Python object is an OpaquePyObject, even if the conversion of the copy would make another native value, as
    of a callable."""
    from .object import MISSING
    from .opaque import OpaquePyObject

    memo = MISSING._swap_memo(None)  # a copy of the core that the value itself begins is another one
    try:
        copied = copy.deepcopy(value, memo if isinstance(memo, dict) else None)
    finally:
        MISSING._swap_memo(memo)
    return copied if isinstance(copied, _core.CObject) else OpaquePyObject(copied)


# --- comparison and hash ----------------------------------------------------------------------------------------------


def _held(value: Any) -> Any:
    """Return the object that counts in a comparison: of a function, the Python callable that it is made of."""
    python = value._callable if issubclass(type(value), _core.Function) else None
    return value if python is None else python


def _equal(one: Any, other: Any) -> bool | None:
    """Return whether two Python objects are equal; None for different functions without Python callables."""
    one, other = _held(one), _held(other)
    if one is other or one == other:
        return True
    return None if issubclass(type(one), _core.Function) and issubclass(type(other), _core.Function) else False


def _order(one: Any, other: Any) -> int:
    """Return a number below, equal to or above 0 if an object comes before, equals or comes after the other. TypeError
    if neither is the case, as for two sets."""
    one, other = _held(one), _held(other)
    if one is other or one == other:
        return 0
    if one < other:
        return -1
    if one > other:
        return 1
    raise TypeError(f"{one!r} and {other!r} have no order")


def _hash(value: Any) -> int:
    return hash(_held(value))


# --- JSON graphs ------------------------------------------------------------------------------------------------------


def _write_tensor(tensor: Any) -> Any:
    from .tensor_numpy import json_of

    return json_of(tensor)


def _read_tensor(data: Any) -> Any:
    from .tensor_numpy import tensor_of_json

    return tensor_of_json(data)


def _write_python(value: Any) -> int:
    from .pickled import position_of

    return position_of(value)


def _read_object(position: Any) -> Any:
    from .pickled import value_at

    return value_at(position, False)


def _read_function(position: Any) -> Any:
    from .pickled import value_at

    return value_at(position, True)


# --- errors -----------------------------------------------------------------------------------------------------------


def _error_is_a(error: Any, name: str) -> bool:
    return bool(find_late("_values.standard: errors", "error_is_a")(error, str(name)))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "index": _index,
    "number": _number,
    "items": _items,
    "items_of_memory": items_of_memory,
    "items_of_tensor": items_of_tensor,
    "pairs": _pairs,
    "set": _set,
    "complex": complex,
    "complex_parts": complex_parts,
    "path": path_of,
    "name_of_path": _name_of_path,
    "timedelta": timedelta_of,
    "microseconds_of_timedelta": microseconds_of_timedelta,
    "datetime": datetime_of,
    "microseconds_of_datetime": microseconds_of_datetime,
    "date": _date,
    "date_parts": _date_parts,
    "time": _time,
    "microseconds_of_time": _microseconds_of_time,
    "class_name": given_class_name,
    "repr": repr,
    "copy": _copy,
    "equal": _equal,
    "order": _order,
    "hash": _hash,
    "write_tensor": _write_tensor,
    "read_tensor": _read_tensor,
    "write_object": _write_python,
    "read_object": _read_object,
    "write_function": _write_python,
    "read_function": _read_function,
    "error_is_a": _error_is_a,
}


def answer(operation: str, *values: Any) -> Any:
    """Return the result of an operation."""
    found = _OPERATIONS.get(operation)
    return None if found is None else found(*values)
