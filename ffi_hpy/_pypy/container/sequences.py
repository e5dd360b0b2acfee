"""Array and List.

An Array is immutable and is read in place. Core functions read and change a List: each operation is one call, and one
step under the core's lock. Operations that read many items of a List copy it first.

The core counts positions from the start only. A negative position needs the length, which is a separate step. If
another thread shortens the list in between, the core raises IndexError and the operation is repeated.
"""

from __future__ import annotations

from operator import index as as_int

from ..classes.cobject import CObject, put_handle
from ..context.backend import core, words_at
from ..context.hidden import hidden
from ..context.numbers import ARRAY, INT, LIST, OBJECT
from ..context.texts import MISSING, bind, cut
from ..convert import exchanged
from ..convert.arguments import put
from ..convert.contained import make_sequence
from ..convert.exchanged import marked
from ..convert.results import get, of_borrowed
from ..object.frames import give, take
from ..object.identity import uses_of
from ..object.objects import check_wrapper
from .array_items import DATA, SIZE, ArrayIterator, holds, read_items
from .container_calls import begin, call, call_conversion, own_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from ..object.frames import Frame

__all__ = ["CList", "CSequence"]

_FEW = 16
"""Up to this number of items are read at once, which costs less than our own iterator."""


# --- the native object --------------------------------------------------------------------------------------------


@hidden
def _begin(self: CSequence, frame: Frame) -> int:
    """Make self's object, which must be an Array or a List, the first argument of a call. Returns its type index."""
    return begin(self, frame, ARRAY, LIST, "an Array or List")


@hidden
def _size_in(frame: Frame) -> int:
    """Return the current number of items of the first argument."""
    size: int
    if frame.words[0] == ARRAY:
        size = words_at(frame.words[1])[SIZE]
    else:
        call(frame, "ffi.ListSize", 1)
        size = frame.result[1]
    return size


@hidden
def _fixed(self: CSequence) -> int:
    """Return an Array with self's items, owned: self's own, or a copy made at one moment."""
    frame = take()
    try:
        if _begin(self, frame) == ARRAY:
            return own_of(frame)
        return call_conversion(frame, ARRAY)
    finally:
        give(frame)


# --- positions ----------------------------------------------------------------------------------------------------


@hidden
def _position(self: CSequence, key: Any) -> int:
    """Convert a key to an int; TypeError if that is not possible."""
    if isinstance(key, int):
        return int.__add__(key, 0)
    try:
        return as_int(key)
    except TypeError:
        # the number's own __index__ may have raised it
        is_number = any(hasattr(type(key), name) for name in ("__index__", "__int__", "__float__"))
        if is_number and not isinstance(key, float):
            raise
    raise TypeError(f"{type(self).__name__} indices must be integers or slices, not {type(key).__name__}")


@hidden
def _refuse(self: CSequence, key: Any, size: int) -> NoReturn:
    raise IndexError(f"{type(self).__name__} index {cut(str(key), 199)} is out of range for {size} items")


# --- classes ------------------------------------------------------------------------------------------------------


@hidden
def _init(self: CSequence, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if len(args) == 1 and not kwargs:
        given = args[0]
    else:
        (given,) = bind(name, ("input_list",), 0, args, kwargs, MISSING)
        if given is MISSING:
            given = ()
    values = given if isinstance(given, (list, tuple)) else list(given)
    put_handle(self, make_sequence("ffi." + name, values, name + "() argument 1", 0))


class CSequence(CObject):
    """Read access to native sequences."""

    __slots__ = ()

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "Array", args, kwargs)

    @hidden
    def __len__(self) -> int:
        check_wrapper(self)
        address = self._ffi_address
        if address:
            cell = words_at(address)
            if cell[1] & 0xFFFFFFFF == ARRAY:
                size: int = cell[SIZE]
                if self._ffi_address == address:  # not moved away during the read
                    return size
        return _size(self)

    @hidden
    def __getitem__(self, key: Any) -> Any:
        if type(key) is int:
            check_wrapper(self)
            address = self._ffi_address
            if address and not (marked and address in marked):
                cell = words_at(address)
                if cell[1] & 0xFFFFFFFF == ARRAY:
                    item = _array_item(self, address, key)
                    if item is not MISSING:
                        return item
                elif key >= 0:
                    return _list_item(self, key)
        return _item(self, key)

    @hidden
    def __contains__(self, value: object) -> bool:
        if marked and (theirs := exchanged.find(self)) is not None:
            return value in [exchanged.lower(item) for item in theirs]
        array = _fixed(self)
        try:
            return holds(array, value)
        finally:
            core.decref(array)

    @hidden
    def __iter__(self) -> Iterator[Any]:
        """An iterator over the items; of a List, over the current items."""
        if marked and (theirs := exchanged.find(self)) is not None:
            return map(exchanged.lower, theirs)
        return _iterate(self, 1)

    # Replaces the method of collections.abc.Sequence, which is a generator: threads must not share a generator.
    @hidden
    def __reversed__(self) -> Iterator[Any]:
        """An iterator over the items, from the end."""
        if marked and (theirs := exchanged.find(self)) is not None:
            return map(exchanged.lower, reversed(theirs))
        return _iterate(self, -1)


@hidden
def _iterate(self: CSequence, step: int) -> Iterator[Any]:
    array = _fixed(self)
    try:
        size = words_at(array)[SIZE]
        if size > _FEW:
            return ArrayIterator(array, step)
        return iter(read_items(array, 0 if step > 0 else size - 1, step, size))
    finally:
        core.decref(array)


@hidden
def _array_item(self: CSequence, address: int, key: int) -> Any:
    """Return an item of the Array at a pointer, which was self's. MISSING if the item does not exist, or if the Array
    was moved away."""
    uses = self._ffi_uses
    if uses is None:
        uses = uses_of(self)
    uses.append(None)  # from now on no thread can move the Array away
    try:
        if self._ffi_address == address:
            cell = words_at(address)
            n = cell[SIZE]
            place = key + n if key < 0 else key
            if 0 <= place < n:
                item = words_at(cell[DATA]) + 2 * place
                type_index = item[0] & 0xFFFFFFFF
                return of_borrowed(type_index, item[1]) if type_index >= OBJECT else get(item)
    finally:
        uses.pop()
    return MISSING


@hidden
def _size(self: CSequence) -> int:
    frame = take()
    try:
        _begin(self, frame)
        return _size_in(frame)
    finally:
        give(frame)


@hidden
def _list_item(self: CSequence, key: int) -> Any:
    """Return an item of a List, counted from the start."""
    frame = take()
    try:
        if key <= 0x7FFFFFFFFFFFFFFF and _begin(self, frame) == LIST:
            words = frame.words
            words[2] = INT
            words[3] = key
            if call(frame, "ffi.ListGetItem", 2, IndexError):
                frame.release()
                return get(frame.result)
    finally:
        give(frame)
    return _item(self, key)


@hidden
def _item(self: CSequence, key: Any) -> Any:
    """Return self[key] for any key."""
    if marked and (theirs := exchanged.find(self)) is not None:
        value = theirs[key]
        return [exchanged.lower(item) for item in value] if isinstance(key, slice) else exchanged.lower(value)
    if isinstance(key, slice):
        array = _fixed(self)
        try:
            places = range(words_at(array)[SIZE])[key]
            return read_items(array, places.start, places.step, len(places))
        finally:
            core.decref(array)
    position = _position(self, key)
    frame = take()
    try:
        if _begin(self, frame) == ARRAY:
            size = _size_in(frame)
            place = position + size if position < 0 else position
            if not 0 <= place < size:
                _refuse(self, key, size)
            item = words_at(words_at(frame.words[1])[DATA]) + 2 * place
            if item[0] & 0xFFFFFFFF < OBJECT:
                return get(item)
            return of_borrowed(item[0] & 0xFFFFFFFF, item[1])
        if not _call_at(frame, "ffi.ListGetItem", 2, position):
            _refuse(self, key, _size_in(frame))
        frame.release()
        return get(frame.result)
    finally:
        give(frame)


# --- changing a List ----------------------------------------------------------------------------------------------


@hidden
def _call_at(frame: Frame, name: str, n: int, wanted: int, is_gap: bool = False) -> bool:
    """Call a core function for the List in the call buffer, at a position by Python's rules: the place of an item, or a
    gap between items. A gap beyond either end means that end. Returns False if the item does not exist.

    Other arguments are converted before, so no Python code that could raise an IndexError runs here.
    """
    needs_size = wanted < 0 or is_gap
    words = frame.words
    while True:
        position = wanted
        if needs_size:
            size = _size_in(frame)
            if wanted < 0:
                position += size
            if is_gap:
                position = min(max(position, 0), size)
        if not 0 <= position <= 0x7FFFFFFFFFFFFFFF:
            return False
        words[2] = INT
        words[3] = position
        if call(frame, name, n, IndexError):
            return True
        if not needs_size:
            return False
        # another thread has shortened the list: try again


@hidden
def _change(self: CList, name: str, wanted: int, key: Any) -> None:
    """Make a change without a value, at the place of an item."""
    frame = take()
    try:
        _begin(self, frame)
        if not _call_at(frame, name, 2, wanted):
            _refuse(self, key, _size_in(frame))
    finally:
        give(frame)


@hidden
def _change_to(self: CList, name: str, wanted: int, key: Any, value: Any, is_gap: bool) -> None:
    """Make a change with a value at a place. The value is converted before the object is read, because the conversion
    may run Python code that replaces self's object."""
    frame = take()
    try:
        put(frame, 4, value, name)
        _begin(self, frame)
        if not _call_at(frame, name, 3, wanted, is_gap):
            _refuse(self, key, _size_in(frame))
    finally:
        give(frame)


class CList(CSequence):
    """Write access to native sequences. Subclasses implement slices in `_set_slice` and `_del_slice`."""

    __slots__ = ()

    _set_slice: Any
    _del_slice: Any

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "List", args, kwargs)

    @hidden
    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._set_slice(index, value)
            return
        _change_to(self, "ffi.ListSetItem", _position(self, index), index, value, False)

    @hidden
    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self._del_slice(index)
        else:
            _change(self, "ffi.ListErase", _position(self, index), index)

    @hidden
    def append(self, value: Any, /) -> None:
        """Append an item."""
        frame = take()
        try:
            put(frame, 2, value, "ffi.ListAppend")
            _begin(self, frame)
            call(frame, "ffi.ListAppend", 2)
        finally:
            give(frame)

    @hidden
    def insert(self, *args: Any, **kwargs: Any) -> None:
        """Insert an item before the item at `index`; an index beyond either end means that end."""
        index, value = bind("insert", ("index", "value"), 2, args, kwargs)
        _change_to(self, "ffi.ListInsert", as_int(index), index, value, True)

    @hidden
    def pop(self, *args: Any, **kwargs: Any) -> Any:
        """Remove and return an item, by default the last. IndexError if there is none."""
        if args or kwargs:
            (index,) = bind("pop", ("index",), 0, args, kwargs, MISSING)
            wanted = as_int(index)
        else:
            wanted = -1
        if marked and (theirs := exchanged.find(self)) is not None:
            return exchanged.lower(theirs.pop(wanted))
        frame = take()
        try:
            _begin(self, frame)
            if not _call_at(frame, "ffi.ListPop", 2, wanted):
                size = _size_in(frame)
                if size == 0:
                    raise IndexError("pop from empty List")
                raise IndexError(f"List index {_clipped(wanted)} is out of range for {size} items")
            frame.release()
            return get(frame.result)
        finally:
            give(frame)


def _clipped(number: int) -> int:
    return min(max(number, -(1 << 63)), (1 << 63) - 1)
