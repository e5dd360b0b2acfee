"""Conversion by a schema of plain values, native objects, and lists and dicts of those, without the C binding.

The core creates a native function from a schema, which converts native values. A value that the schema keeps unchanged
skips even that function.
"""

from __future__ import annotations

from ..context.backend import SAFE_CALL, address_of, bytes_at, cast, core, words_at
from ..context.binding import binding
from ..context.hidden import hidden
from ..context.numbers import INT64_MAX, INT64_MIN, NONE, OBJECT, OPAQUE_PTR, OPAQUE_PY_OBJECT
from ..context.type_table import facts_of
from ..convert.arguments import is_opaque, put
from ..convert.contained import make_mapping, make_sequence
from ..convert.results import text_of
from ..object.errors import raise_taken, take_object
from ..object.objects import derives, is_wrapper, type_index_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..object.call_buffers import CallBuffer

    Description = tuple[str, int, str, tuple[Any, ...]]

__all__ = ["Converter", "Mismatch"]


class Mismatch(Exception):
    """A value does not match; the arguments are the reason and the class of the exception that a field raises."""


@hidden
def _is_plain(value: Any) -> bool:
    """Whether native code and the binding see a value the same way: an exact number of 64 bits, str, bytes, None, an
    object."""
    t = type(value)
    if t is int:
        return bool(INT64_MIN <= value <= INT64_MAX)
    if t is str or t is float or t is bool or value is None or t is bytes:
        return True
    if is_wrapper(value):  # a Python object inside may have protocols
        address: int = value._ffi_address
        return address != 0 and type_index_at(address) != OPAQUE_PY_OBJECT
    return False


class _Kept:
    """The set of values that a schema keeps unchanged."""

    __slots__ = ("_bool", "_bytes", "_depth", "_float", "_int", "_none", "_text", "_type_index")

    def __init__(self, description: Description) -> None:
        operation, type_index, _name, args = description
        self._none = operation in ("any", "none", "optional")
        if operation == "optional":
            operation, type_index, _name, args = args[0]._describe()
        takes_any = operation == "any"
        self._int = takes_any or operation == "int"
        self._float = takes_any or operation == "float"
        self._bool = takes_any or operation == "bool"
        self._text = takes_any or operation == "str"
        self._bytes = takes_any or operation == "bytes"
        # The type of objects that are kept, as arguments of derives().
        self._type_index, self._depth = -1, -1
        if takes_any:
            self._type_index, self._depth = OBJECT, 0
        elif operation in ("object", "instance"):
            self._type_index, self._depth = type_index, facts_of(type_index).depth

    @hidden
    def keeps(self, value: Any) -> bool:
        """Whether the schema keeps a value unchanged."""
        t = type(value)
        if t is int:
            return self._int and INT64_MIN <= value <= INT64_MAX
        if t is str:
            return self._text
        if t is float:
            return self._float
        if value is None:
            return self._none
        if t is bool:
            return self._bool
        if t is bytes:
            return self._bytes
        wanted, depth = self._type_index, self._depth
        if wanted < 0 or not is_wrapper(value):
            return False
        address = value._ffi_address
        if not address:
            return False
        index = type_index_at(address)
        # A Python object inside may have protocols.
        return index != OPAQUE_PY_OBJECT and (index == wanted or derives(index, wanted, depth))


class Converter:
    """The conversions of a schema, by its description and its native function. The result of a conversion is in the
    first two words of a call buffer, owned."""

    __slots__ = ("_address", "_call", "_container", "_function", "_is_mapping", "_items", "_kept", "_takes_any")

    def __init__(self, description: Description, function: Any) -> None:
        self._function = function
        self._address: int = function._ffi_address
        self._call: Any = cast(SAFE_CALL, words_at(self._address)[3])
        self._kept = _Kept(description)
        operation, type_index, _name, args = description
        if operation == "optional":
            operation, type_index, _name, args = args[0]._describe()
        self._takes_any = operation == "any"
        self._container = ""
        if operation == "sequence":
            self._container = "ffi.List" if type_index == binding.TYPE_INDEX_LIST else "ffi.Array"
        elif operation == "mapping":
            self._container = "ffi.Dict" if type_index == binding.TYPE_INDEX_DICT else "ffi.Map"
        self._is_mapping = operation == "mapping"
        self._items = tuple([_Kept(arg._describe()) for arg in args]) if self._container else ()

    @hidden
    def convert(self, frame: CallBuffer, value: Any) -> bool:
        """Convert a value. Returns False if only the binding can; raises Mismatch if the value does not match."""
        container = self._container
        t = type(value)
        # the binding would own a Python object where the search for cycles does not look (object/cycles.py)
        if self._kept.keeps(value) or (self._takes_any and is_opaque(t)):
            _put_owned(frame, value)
            return True
        if container and (t is list or t is tuple or t is dict):
            return self._convert_container(frame, value)
        if not _is_plain(value):
            return False
        self._convert_natively(frame, value)
        return True

    def _convert_container(self, frame: CallBuffer, value: Any) -> bool:
        """Convert a list, tuple or dict of plain values to a container, and the container by the schema unless the
        schema keeps all items unchanged. Returns False if that fails, because the message must describe the original
        value."""
        if (type(value) is dict) != self._is_mapping:
            return False
        value = value.copy() if self._is_mapping else tuple(value)  # another thread may change the original
        fits = _fit(self._items[0], value)
        if fits != _NOT_PLAIN and self._is_mapping:
            fits = max(fits, _fit(self._items[1], value.values()))
        if fits == _NOT_PLAIN:
            return False
        make = make_mapping if self._is_mapping else make_sequence
        address = make(self._container, value, "a value", 0)
        words = frame.words
        if fits == _KEPT:
            words[0] = type_index_at(address)
            words[1] = address
            return True
        frame.held.append(address)
        words[4] = type_index_at(address)
        words[5] = address
        try:
            self._run(frame)
        except Mismatch:
            return False
        return True

    @hidden
    def _convert_natively(self, frame: CallBuffer, value: Any) -> None:
        put(frame, 4, value, "a value")
        self._run(frame)

    @hidden
    def _run(self, frame: CallBuffer) -> None:
        """Call the native function with the value in words 4 and 5; it writes its result to words 0 and 1."""
        words = frame.words
        words[0] = NONE
        words[1] = 0
        words[2] = OPAQUE_PTR
        words[3] = address_of(words)
        result = frame.result
        result[0] = result[1] = 0
        if self._call(self._address, words + 2, 2, result) != 0:
            _raise_mismatch()


_KEPT, _PLAIN, _NOT_PLAIN = range(3)


def _fit(kept: _Kept, items: Any) -> int:
    """Return whether all items are kept (_KEPT), or at least plain (_PLAIN)."""
    fits = _KEPT
    for item in items:
        if not kept.keeps(item):
            if not _is_plain(item):
                return _NOT_PLAIN
            fits = _PLAIN
    return fits


@hidden
def _put_owned(frame: CallBuffer, value: Any) -> None:
    held = frame.held
    n = len(held)
    put(frame, 0, value, "a value")
    if len(held) > n:
        if type(held[n]) is int:
            held.pop()  # the words own it from now on
        else:
            core.incref(frame.words[1])


_MISMATCHES: dict[bytes, type[Exception]] = {b"TypeError": TypeError, b"OverflowError": OverflowError}


@hidden
def _raise_mismatch() -> None:
    error = take_object()
    if error:
        cell = words_at(error)
        cls = _MISMATCHES.get(bytes_at(cell[3], cell[4]))
        if cls is not None:
            why = text_of(bytes_at(cell[5], cell[6]))
            core.decref(error)
            raise Mismatch(why, cls)
    raise_taken(0, error, "a conversion")
