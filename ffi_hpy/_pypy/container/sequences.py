"""Array and List.

An Array is immutable and is read in place. Core functions read and change a List: each operation is one call, and one
step under the core's lock. Operations that read many items of a List copy it first.

These methods handle positions that are plain ints and have an item. Methods of the package's classes handle all other
keys and raise the errors (`ffi_hpy/_containers/sequence.py`).
"""

from __future__ import annotations

from ..classes.cobject import CObject, put_handle
from ..classes.dataclass import deep_copy_container
from ..context.backend import core, words_at
from ..context.hidden import hidden
from ..context.numbers import ARRAY, INT, LIST, OBJECT
from ..context.texts import MISSING, bind
from ..convert.arguments import put
from ..convert.contained import make_sequence
from ..convert.exchanged import marked
from ..convert.results import get, of_borrowed
from ..object.call_buffers import give, take
from ..object.identity import uses_of
from ..object.objects import check_wrapper
from .array_items import DATA, SIZE, ArrayIterator, read_items
from .container_calls import begin, call, own_fixed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..object.call_buffers import CallBuffer

__all__ = ["CList", "CSequence"]

_FEW = 16
"""Up to this number of items are read at once, which costs less than our own iterator."""


# --- the native object --------------------------------------------------------------------------------------------


@hidden
def _begin(self: CSequence, frame: CallBuffer) -> int:
    """Make self's object, which must be an Array or a List, the first argument of a call. Returns its type index."""
    return begin(self, frame, ARRAY, LIST)


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


_LAST = (1 << 63) - 1


class CSequence(CObject):
    """Read access to native sequences."""

    __slots__ = ()

    _get_rare: Any

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
                is_array = words_at(address)[1] & 0xFFFFFFFF == ARRAY
                item = _array_item(self, address, key) if is_array else _list_item(self, key)
                if item is not MISSING:
                    return item
        return self._get_rare(key)

    @hidden
    def __deepcopy__(self, *args: Any) -> Any:
        return deep_copy_container(self, args)

    @hidden
    def __iter__(self) -> Iterator[Any]:
        """An iterator over the items; of a List, over the current items."""
        if marked and self._ffi_address in marked:
            return iter([CSequence.__getitem__(self, i) for i in range(len(self))])
        array = own_fixed(self, ARRAY, LIST)
        try:
            size = words_at(array)[SIZE]
            return ArrayIterator(array) if size > _FEW else iter(read_items(array, size))
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
        if _begin(self, frame) == ARRAY:
            size: int = words_at(frame.words[1])[SIZE]
        else:
            call(frame, "ffi.ListSize", 1)
            size = frame.result[1]
        return size
    finally:
        give(frame)


@hidden
def _list_item(self: CSequence, key: int) -> Any:
    """Return an item of a List, MISSING if it does not exist. The core counts positions from the start only, so a
    negative one needs the length, which is a separate step."""
    place = key + _size(self) if key < 0 else key
    frame = take()
    try:
        if 0 <= place <= _LAST and _begin(self, frame) == LIST:
            words = frame.words
            words[2] = INT
            words[3] = place
            if call(frame, "ffi.ListGetItem", 2, IndexError):
                frame.release()
                return get(frame.result)
        return MISSING
    finally:
        give(frame)


class CList(CSequence):
    """Write access to native sequences."""

    __slots__ = ()

    _set_rare: Any
    _delete: Any
    _refuse: Any

    @hidden
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _init(self, "List", args, kwargs)

    @hidden
    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is not int or not 0 <= index <= _LAST:
            self._set_rare(index, value)
            return
        frame = take()
        try:
            # The value is converted before the object is read, because the conversion may run Python code that
            # replaces self's object.
            put(frame, 4, value, "ffi.ListSetItem")
            _begin(self, frame)
            words = frame.words
            words[2] = INT
            words[3] = index
            is_set = call(frame, "ffi.ListSetItem", 3, IndexError)
        finally:
            give(frame)
        if not is_set:
            self._refuse(index)

    @hidden
    def __delitem__(self, index: Any) -> None:
        self._delete(index)

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
