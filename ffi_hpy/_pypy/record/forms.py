"""Forms of the memory of a field, each with a method that reads it.

A form is created once for a field and is immutable, so the JIT compiles a read into a load from memory. Methods read
attributes first, because the JIT treats them as constants only until the first call.
"""

from __future__ import annotations

from ..context.backend import doubles_at, floats_at, int8s_at, int16s_at, ints_at, words_at
from ..context.hidden import hidden
from ..context.numbers import BOOL, FLOAT, INT, INT64_MAX, INT64_MIN
from ..convert.results import get, is_unwrapped
from ..object.call_buffers import NO_RESULT, announce, give, take, use
from ..object.errors import raise_pending
from ..object.identity import UNLISTED, find
from ..object.objects import type_index_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["Checked", "Copied", "Number", "Pointer", "Replaced", "begin_use", "plain_form"]


class Replaced(Exception):
    """Another thread has moved an object away or replaced it in its wrapper: the field reads the wrapper again."""


@hidden
def begin_use(frame: CallBuffer, wrapper: Any, address: int) -> None:
    """Keep a wrapper's object in use during the life of a call buffer. Replaced if the object has left the address."""
    use(frame, wrapper)
    if wrapper._ffi_address != address:
        raise Replaced


class _Plain:
    """A value that is stored in memory unchanged. `at` returns the memory at an address as values of the field's type
    and size."""

    __slots__ = ("_at", "_offset")

    def __init__(self, offset: int, at: Callable[[int], Any]) -> None:
        self._offset = offset
        self._at = at

    @hidden
    def read(self, obj: Any, address: int) -> Any:
        """Return the value of the field of an object at an address; `obj` is None for an object that cannot be moved
        away."""
        value = self._at(address + self._offset)[0]
        if obj is not None and obj._ffi_address != address:
            raise Replaced
        return value


class Number(_Plain):
    """An integer."""

    __slots__ = ()

    @hidden
    def write(self, address: int, value: Any) -> bool:
        """Set a field of 8 bytes. False for a value that needs a conversion."""
        if type(value) is int and INT64_MIN <= value <= INT64_MAX:
            words_at(address + self._offset)[0] = value
            return True
        return False


class Real(_Plain):
    """A float."""

    __slots__ = ()

    @hidden
    def write(self, address: int, value: Any) -> bool:
        """Set a field of 8 bytes. False for a value that needs a conversion."""
        if type(value) is float:
            doubles_at(address + self._offset)[0] = value
            return True
        return False


class Flag:
    """A bool of one byte."""

    __slots__ = ("_offset",)

    def __init__(self, offset: int) -> None:
        self._offset = offset

    @hidden
    def read(self, obj: Any, address: int) -> Any:
        """Return the value of the field of an object at an address; `obj` is None for an object that cannot be moved
        away."""
        value = int8s_at(address + self._offset)[0] != 0
        if obj is not None and obj._ffi_address != address:
            raise Replaced
        return value

    @hidden
    def write(self, address: int, value: Any) -> bool:
        """Set the field. False for a value that needs a conversion."""
        if type(value) is bool:
            int8s_at(address + self._offset)[0] = 1 if value else 0
            return True
        return False


class Checked:
    """A form whose values are checked, so that only the binding converts and writes them."""

    __slots__ = ("read",)

    def __init__(self, form: Any) -> None:
        self.read = form.read

    @hidden
    def write(self, _address: int, _value: Any) -> bool:
        """Write nothing and return False: any value needs a conversion."""
        return False


class Copied:
    """A value that the binding copies while no other thread writes it."""

    __slots__ = ("_copy", "_field_at", "_name")

    def __init__(self, copy: Callable[[int, int, Any], int], field_at: int, name: str) -> None:
        self._copy = copy
        self._field_at = field_at
        self._name = name

    @hidden
    def read(self, obj: Any, address: int) -> Any:
        """Return the value of the field of an object at an address."""
        copy, field_at = self._copy, self._field_at
        frame = take()
        try:
            self._begin(frame, obj, address)
            result = frame.result
            result[0] = NO_RESULT
            result[1] = 0
            if copy(field_at, address, result) != 0:
                raise_pending(self._name)
            return get(result)
        finally:
            give(frame)

    @hidden
    def _begin(self, frame: CallBuffer, obj: Any, address: int) -> None:
        begin_use(frame, obj, address)

    def write(self, _address: int, _value: Any) -> bool:
        """False: every value needs a conversion."""
        return False


class Called(Copied):
    """A property of a bound class: its function may return the object itself, whose wrapper must be found then."""

    __slots__ = ()

    @hidden
    def _begin(self, frame: CallBuffer, obj: Any, address: int) -> None:
        begin_use(frame, obj, address)
        if obj._ffi_listing == UNLISTED:
            announce(frame, obj, address)


class Pointer:
    """A pointer to an object, or NULL. `whole` reads it if the object has no registered wrapper."""

    __slots__ = ("_offset", "_whole")

    def __init__(self, offset: int, whole: Copied) -> None:
        self._offset = offset
        self._whole = whole

    @hidden
    def read(self, obj: Any, address: int) -> Any:
        """Return the value of the field of an object at an address."""
        memory = words_at(address + self._offset)
        target = memory[0]
        if not target:
            return None
        wrapper = find(target)
        # The wrapper keeps its object alive. If the field points to that object now, the wrapper is the current value.
        if wrapper is None or wrapper._ffi_address != target or memory[0] != target:
            return self._whole.read(obj, address)
        if is_unwrapped(type_index_at(target)):
            return self._whole.read(obj, address)
        if not wrapper._ffi_is_repeated:
            wrapper._ffi_is_repeated = True  # from now on it cannot be moved away
            if wrapper._ffi_address != target:
                return self._whole.read(obj, address)
        return wrapper

    def write(self, _address: int, _value: Any) -> bool:
        """False: every value needs a conversion."""
        return False


# --- plain memory -------------------------------------------------------------------------------------------------

_INTEGERS = {8: words_at, 4: ints_at, 2: int16s_at, 1: int8s_at}
_REALS = {8: doubles_at, 4: floats_at}


def plain_form(static_index: int, size: int, offset: int) -> Number | Real | Flag | None:
    """Return the form of a number of a static type and size; None for another type."""
    if static_index == INT and size in _INTEGERS:
        return Number(offset, _INTEGERS[size])
    if static_index == FLOAT and size in _REALS:
        return Real(offset, _REALS[size])
    if static_index == BOOL and size == 1:
        return Flag(offset)
    return None
