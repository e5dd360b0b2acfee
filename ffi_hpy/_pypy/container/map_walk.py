"""Iteration over the entries of a Map, reading many of them at once."""

from __future__ import annotations

from collections import deque

from ..._start.fork import new_lock
from ..context.backend import core, new_words
from ..context.hidden import hidden
from ..context.numbers import INT, MAP, OBJECT
from ..convert.results import get
from ..object.call_buffers import give, take
from ..object.core_functions import CoreFunction
from ..object.errors import raise_pending
from ..object.references import Reference
from .container_calls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["ITEMS", "KEYS", "VALUES", "iterate"]

_CHUNK = 64
"""The number of entries that are read at once: enough to make reading cheap, and small enough for an iteration that
stops early.
"""


KEYS, VALUES, ITEMS = (0,), (1,), (0, 1)
"""Parts of an entry: the commands by which the function that walks a map reads them."""
_ADVANCE = 2


@hidden
def _read_raw(walk: CoreFunction, part: tuple[int, ...], n: int) -> Any:
    """Return the owned values of the next n entries in order. There must be so many."""
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
    """Return the items of an iteration for n entries: key, value, or a tuple of both. The values are stolen."""
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
"""Held while a walk that threads may share is read: key, value and the step to the next entry are separate commands."""


class MapIterator:
    """Iterates over the entries of a Map, which it keeps alive, because in other cores the function that walks the map
    does not. Threads may share it: each entry is returned once."""

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
def _walk(address: int) -> tuple[int, int]:
    """Return the number of entries of a Map, and the function that walks it, owned."""
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
def iterate(address: int, part: tuple[int, ...]) -> Iterator[Any]:
    """Return an iterator over the entries of a Map. The iterator owns its references."""
    size, walk = _walk(address)
    try:
        if size > _CHUNK:
            return MapIterator(address, walk, size, part)
        return iter(_to_python(_read_raw(CoreFunction(walk), part, size), part, size))
    finally:
        core.decref(walk)
