"""Map and Dict, by the core's functions, one call for each operation. Keys compare as the core compares them, not as
Python does. Operations on a Dict are atomic against each other, because each is one step under the core's lock;
iterating over a Dict takes a copy first.
"""

from __future__ import annotations

from collections import deque
from operator import itemgetter

from ..._start.fork import new_lock
from ..convert import exchanged
from ..convert.arguments import make_mapping, put
from ..context.backend import core, new_words, words_at
from ..classes.cobject import CObject, put_handle
from .container_calls import call, call_conversion, own_of
from ..object.core_functions import CoreFunction, has_core_function
from ..object.errors import hidden, raise_pending
from ..convert.exchanged import marked
from ..object.frames import give, take, use
from ..context.numbers import DICT, INT, MAP, OBJECT
from ..object.objects import raise_no_handle
from ..object.references import Reference
from ..convert.results import get
from ..context.texts import MISSING, bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..object.frames import Frame

__all__ = ["CDict", "CMapping"]

_CHUNK = 64
"""So many entries are read at once: enough to make the reading cheap, and few enough for an iteration that stops early.
"""


# --- the native object --------------------------------------------------------------------------------------------


@hidden
def _begin(self: CMapping, frame: Frame) -> int:
    """Make self's object, which must be a Map or a Dict, the first argument of a call. Returns its type index."""
    use(frame, self)
    address = self._address
    if not address:
        raise_no_handle(self)
    words = frame.words
    type_index: int = words_at(address)[1] & 0xFFFFFFFF
    if type_index != MAP and type_index != DICT:
        raise TypeError(
            f"the native object of this {type(self).__name__} is no Map or Dict (its type index is {type_index})"
        )
    words[0] = type_index
    words[1] = address
    return type_index


@hidden
def _call(self: CMapping, frame: Frame, map_name: str, dict_name: str, n: int) -> None:
    """Call the function for self's type. Other arguments are converted before: that may run Python code, which may give
    self another object."""
    call(frame, map_name if _begin(self, frame) == MAP else dict_name, n)


_missing = 0


def _missing_at() -> int:
    """The address of the core's mark for "no value", which lives as long as the core. A lookup that gives a mark tells
    in one step whether the key is there and what its value is."""
    global _missing
    if not _missing and not has_core_function("ffi.GetInvalidObject"):
        _missing = -1  # such a core gives none
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
def _is_missing(result: Any) -> bool:
    """Whether a result is that mark, which is dropped then."""
    if result[0] != OBJECT or result[1] != (_missing or _missing_at()):
        return False
    core.decref(result[1])
    return True


@hidden
def _look_up(self: CMapping, key: Any) -> Any:
    """The value of a key, MISSING if there is none."""
    if marked and (theirs := exchanged.find(self)) is not None:
        return exchanged.lower(theirs.get(key, MISSING))
    frame = take()
    try:
        put(frame, 2, key, "ffi.MapGetItemOrMissing")
        _call(self, frame, "ffi.MapGetItemOrMissing", "ffi.DictGetItemOrMissing", 2)
        frame.release()
        result = frame.result
        return MISSING if result[0] == OBJECT and _is_missing(result) else get(result)
    finally:
        give(frame)


@hidden
def _take_out(self: CDict, key: Any) -> Any:
    """Take a key out: its value, MISSING if it was not there. Another core than ours does it in two steps, between
    which other threads may come."""
    if marked and (theirs := exchanged.find(self)) is not None:
        return exchanged.lower(theirs.pop(key, MISSING))
    if not has_core_function("ffi_hpy.DictPop"):
        value = _look_up(self, key)
        if value is not MISSING:
            _erase(self, key)
        return value
    frame = take()
    try:
        put(frame, 2, key, "ffi_hpy.DictPop")
        _begin(self, frame)
        call(frame, "ffi_hpy.DictPop", 2)
        frame.release()
        result = frame.result
        return MISSING if result[0] == OBJECT and _is_missing(result) else get(result)
    finally:
        give(frame)


@hidden
def _erase(self: CDict, key: Any) -> None:
    frame = take()
    try:
        put(frame, 2, key, "ffi.DictErase")
        _begin(self, frame)
        call(frame, "ffi.DictErase", 2)
    finally:
        give(frame)


# --- iteration ----------------------------------------------------------------------------------------------------

_KEYS, _VALUES, _ITEMS = (0,), (1,), (0, 1)
"""Parts of an entry: the commands that read them, of the function that walks a map."""
_ADVANCE = 2


@hidden
def _read_raw(walk: CoreFunction, part: tuple[int, ...], n: int) -> Any:
    """Owned values of the next n entries, which must be there, one after the other."""
    values = new_words(2 * len(part) * n)
    frame = take()
    try:
        command = frame.words
        command[0] = INT
        result = values + 0
        for _ in range(n):
            for what in part:
                command[1] = what
                if walk.call(walk.address, command, 1, result) != 0:
                    raise_pending("ffi.MapForwardIterFunctor")
                result += 2
            command[1] = _ADVANCE
            frame.result[0] = 0
            if walk.call(walk.address, command, 1, frame.result) != 0:
                raise_pending("ffi.MapForwardIterFunctor")
    except BaseException:
        _drop(values, 0, len(part) * n)
        raise
    finally:
        give(frame)
    return values


def _drop(values: Any, first: int, n: int) -> None:
    for i in range(first, n):
        if values[2 * i] & 0xFFFFFFFF >= OBJECT:
            core.decref(values[2 * i + 1])


@hidden
def _to_python(values: Any, part: tuple[int, ...], n: int) -> list[Any]:
    """What an iteration gives for n entries, whose values are taken: key, value, or a tuple of both."""
    made: list[Any] = []
    is_pair = len(part) == 2
    done = 0
    try:
        while len(made) < n:
            done += 1
            value = get(values + 2 * (done - 1))
            if is_pair:
                done += 1
                value = value, get(values + 2 * (done - 1))
            made.append(value)
    except BaseException:
        _drop(values, done, len(part) * n)
        raise
    return made


_walking = new_lock()
"""Held while a walk is read that threads may share: key, value and the step to the next entry are separate commands."""


class MapIterator:
    """Over the entries of a Map, which it keeps: the function that walks it does not do so in other cores. Threads may
    share it: each entry comes out once."""

    __slots__ = ("_left", "_map", "_part", "_ready", "_walk", "_walk_reference")

    def __init__(self, address: int, walk: int, size: int, part: tuple[int, ...]) -> None:
        self._map = Reference(address)
        self._walk_reference = Reference(walk)
        self._walk = CoreFunction(walk)
        self._left = size
        self._part = part
        self._ready: deque[Any] = deque()

    def __iter__(self) -> MapIterator:
        return self

    @hidden
    def __next__(self) -> Any:
        ready = self._ready
        if not ready:
            self._read_more()
        try:
            return ready.popleft()
        except IndexError:
            raise StopIteration from None

    @hidden
    def _read_more(self) -> None:
        with _walking:
            n = min(self._left, _CHUNK)
            self._left -= n
            values = _read_raw(self._walk, self._part, n)
        self._ready.extend(_to_python(values, self._part, n))

    def __length_hint__(self) -> int:
        return self._left + len(self._ready)


@hidden
def _fixed(self: CMapping) -> int:
    """A Map with self's entries, owned: self's own, or a copy made at one moment."""
    frame = take()
    try:
        if _begin(self, frame) == MAP:
            return own_of(frame)
        return call_conversion(frame, MAP)
    finally:
        give(frame)


@hidden
def _walk(address: int) -> tuple[int, int]:
    """The number of entries of a Map, and the function that walks it, owned."""
    frame = take()
    try:
        words = frame.words
        words[0] = MAP
        words[1] = address
        call(frame, "ffi.MapSize", 1)
        size = frame.result[1]
        call(frame, "ffi.MapForwardIterFunctor", 1)
        return size, frame.result[1]
    finally:
        give(frame)


@hidden
def _iterate(self: CMapping, part: tuple[int, ...]) -> Iterator[Any]:
    if marked and (theirs := exchanged.find(self)) is not None:
        return _iterate_theirs(theirs, part)
    address = _fixed(self)
    try:
        size, walk = _walk(address)
        try:
            if size > _CHUNK:
                return MapIterator(address, walk, size, part)
            return iter(_to_python(_read_raw(CoreFunction(walk), part, size), part, size))
        finally:
            core.decref(walk)
    finally:
        core.decref(address)


def _iterate_theirs(theirs: Any, part: tuple[int, ...]) -> Iterator[Any]:
    items = [(exchanged.lower(key), exchanged.lower(value)) for key, value in theirs._iter_items()]
    return iter(items) if part is _ITEMS else map(itemgetter(*part), items)


# --- classes ------------------------------------------------------------------------------------------------------


@hidden
def _init(self: CMapping, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    (given,) = bind(name, ("input_dict",), 0, args, kwargs)
    values = {} if given is None else given
    put_handle(self, make_mapping("ffi." + name, values, name + "() argument 1", 0))


class CMapping(CObject):
    """Reading of native mappings."""

    __slots__ = ()

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
    def __contains__(self, key: object) -> bool:
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
        """The value of the key, `default` if there is none."""
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
        """Over the keys; of a Dict over those that are there now."""
        return _iterate(self, _KEYS)

    def _iter_values(self) -> Iterator[Any]:
        """Over the values, likewise."""
        return _iterate(self, _VALUES)

    def _iter_items(self) -> Iterator[tuple[Any, Any]]:
        """Over pairs of key and value, likewise."""
        return _iterate(self, _ITEMS)


class CDict(CMapping):
    """Changes of native mappings."""

    __slots__ = ()

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "Dict", args, kwargs)

    @hidden
    def __setitem__(self, key: Any, value: Any) -> None:
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
        if _take_out(self, key) is MISSING:
            raise KeyError(key)

    @hidden
    def pop(self, *args: Any, **kwargs: Any) -> Any:
        """Remove a key and return its value; `default`, or KeyError, if it is not there."""
        key, default = bind("pop", ("key", "default"), 1, args, kwargs, MISSING)
        value = _take_out(self, key)
        if value is not MISSING:
            return value
        if default is MISSING:
            raise KeyError(key)
        return default
