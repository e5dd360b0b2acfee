"""Map and Dict: each operation is one call of a core function. Keys compare by the core's rules, not by Python's.
Operations on a Dict are atomic with respect to each other, because each is one step under the core's lock. Iterating
over a Dict copies it first.
"""

from __future__ import annotations

from operator import itemgetter

from ..classes.cobject import CObject, put_handle
from ..classes.dataclass import deep_copy_container
from ..context.backend import core
from ..context.hidden import hidden
from ..context.numbers import DICT, MAP, OBJECT
from ..context.texts import MISSING, bind
from ..convert import exchanged
from ..convert.arguments import put
from ..convert.contained import make_mapping
from ..convert.exchanged import marked
from ..convert.results import get
from ..object.call_buffers import give, take
from .container_calls import begin, call, own_fixed
from .map_walk import ITEMS, KEYS, VALUES, iterate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["CDict", "CMapping"]


# --- the native object --------------------------------------------------------------------------------------------


@hidden
def _begin(self: CMapping, frame: CallBuffer) -> int:
    """Make self's object, which must be a Map or a Dict, the first argument of a call. Returns its type index."""
    return begin(self, frame, MAP, DICT)


@hidden
def _call(self: CMapping, frame: CallBuffer, map_name: str, dict_name: str, n: int) -> None:
    """Call the function for self's type. Convert other arguments before this call: a conversion may run Python code
    that replaces self's object."""
    call(frame, map_name if _begin(self, frame) == MAP else dict_name, n)


_missing = 0


def _missing_at() -> int:
    """The pointer to the core's marker for "no value", which lives as long as the core. A lookup that may return the
    marker tells in one step whether the key exists and returns its value."""
    global _missing
    if not _missing:
        frame = take()
        try:
            call(frame, "ffi.GetInvalidObject", 0)
            mark = frame.result[1]
            core.decref(mark)
            _missing = mark
        finally:
            give(frame)
    return _missing


@hidden
def _look_up(self: CMapping, key: Any) -> Any:
    """Return the value of a key, MISSING if there is none."""
    value = _look_up_same(self, key)
    if value is MISSING:
        own = self._own_key(key)
        if own is not key:
            value = _look_up_same(self, own)
    return value


@hidden
def _look_up_same(self: CMapping, key: Any) -> Any:
    """Return the value of a key by the core's rules."""
    if marked and (theirs := exchanged.find(self)) is not None:
        return exchanged.from_binding(theirs.get(key, MISSING))
    frame = take()
    try:
        put(frame, 2, key, "ffi.MapGetItemOrMissing")
        _call(self, frame, "ffi.MapGetItemOrMissing", "ffi.DictGetItemOrMissing", 2)
        frame.release()
        result = frame.result
        if result[0] == OBJECT and result[1] == (_missing or _missing_at()):
            core.decref(result[1])
            return MISSING
        return get(result)
    finally:
        give(frame)


# --- iteration ----------------------------------------------------------------------------------------------------


@hidden
def _iterate(self: CMapping, part: tuple[int, ...]) -> Iterator[Any]:
    if marked and (theirs := exchanged.find(self)) is not None:
        return _iterate_theirs(theirs, part)
    address = own_fixed(self, MAP, DICT)
    try:
        return iterate(address, part)
    finally:
        core.decref(address)


def _iterate_theirs(theirs: Any, part: tuple[int, ...]) -> Iterator[Any]:
    items = [(exchanged.from_binding(key), exchanged.from_binding(value)) for key, value in theirs._iter_items()]
    return iter(items) if part is ITEMS else map(itemgetter(*part), items)


# --- classes ------------------------------------------------------------------------------------------------------


@hidden
def _init(self: CMapping, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    (given,) = bind(name, ("input_dict",), 0, args, kwargs)
    values = {} if given is None else given
    put_handle(self, make_mapping("ffi." + name, values, name + "() argument 1", 0))


class CMapping(CObject):
    """Read access to native mappings. The package's class implements `_own_key`, which finds the key that equals one
    that native code compares by identity."""

    __slots__ = ()

    _own_key: Any

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "Map", args, kwargs)

    @hidden
    def __len__(self) -> int:
        frame = take()
        try:
            _call(self, frame, "ffi.MapSize", "ffi.DictSize", 1)
            size: int = frame.result[1]
            return size
        finally:
            give(frame)

    @hidden
    def __getitem__(self, key: Any) -> Any:
        value = _look_up(self, key)
        if value is MISSING:
            raise KeyError(key)
        return value

    @hidden
    def __deepcopy__(self, *args: Any) -> Any:
        return deep_copy_container(self, args)

    @hidden
    def __contains__(self, key: object) -> bool:
        key = self._own_key(key)
        frame = take()
        try:
            put(frame, 2, key, "ffi.MapCount")
            _call(self, frame, "ffi.MapCount", "ffi.DictCount", 2)
            n: int = frame.result[1]
            return n != 0
        finally:
            give(frame)

    @hidden
    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the key, `default` if there is none."""
        if len(args) == 1 and not kwargs:
            value = _look_up(self, args[0])
            return None if value is MISSING else value
        if len(args) == 2 and not kwargs:
            key, default = args
        else:
            key, default = bind("get", ("key", "default"), 1, args, kwargs)
        value = _look_up(self, key)
        return default if value is MISSING else value

    def __iter__(self) -> Iterator[Any]:
        """An iterator over the keys; of a Dict, over the current keys."""
        return _iterate(self, KEYS)

    def _iter_values(self) -> Iterator[Any]:
        """An iterator over the values; of a Dict, over the current values."""
        return _iterate(self, VALUES)

    def _iter_items(self) -> Iterator[tuple[Any, Any]]:
        """An iterator over pairs of key and value; of a Dict, over the current pairs."""
        return _iterate(self, ITEMS)


class CDict(CMapping):
    """Write access to native mappings. The package's class implements `_delete`, `_is_compared`, which recognizes the
    keys that native code compares, and `_put_searched`, which sets any other key."""

    __slots__ = ()

    _delete: Any
    _is_compared: Any
    _put_searched: Any

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "Dict", args, kwargs)

    @hidden
    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._is_compared(key):
            self._put_searched(key, value)
            return
        frame = take()
        try:
            put(frame, 2, key, "ffi.DictSetItem")
            put(frame, 4, value, "ffi.DictSetItem")
            _begin(self, frame)
            call(frame, "ffi.DictSetItem", 3)
        finally:
            give(frame)

    @hidden
    def __delitem__(self, key: Any) -> None:
        self._delete(key)
