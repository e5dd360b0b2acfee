"""Array and List: native sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from operator import index as _as_int

from . import _ffi_api
from ._object import Object
from .registry import register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex, TypeVar, overload

    from ._core import Function

    T = TypeVar("T")
    T_co = TypeVar("T_co", covariant=True)
else:
    T = T_co = None  # what stands in the subscripts below matters to type checkers only

__all__ = ["Array", "List"]


class _Reading(Object):
    """What Array and List share: reading, comparing, joining."""

    _size: Function
    _get: Function

    def __len__(self) -> int:
        return self._size(self)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return len(self) > 0

    def _position(self, idx: SupportsIndex) -> int:
        """The index counted from the start; TypeError, IndexError."""
        size = len(self)
        try:
            i = _as_int(idx)
        except TypeError:
            raise TypeError(
                f"{type(self).__name__} indices must be integers or slices, not {type(idx).__name__}"
            ) from None
        if not -size <= i < size:
            raise IndexError(f"{type(self).__name__} index {i} is out of range for {size} items")
        return i + size if i < 0 else i

    def __getitem__(self, idx: Any, /) -> Any:
        get = self._get
        if isinstance(idx, slice):
            return [get(self, i) for i in range(*idx.indices(len(self)))]
        return get(self, self._position(idx))

    def __contains__(self, value: object) -> bool:
        return any(item is value or item == value for item in self)  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Reading):
            return bool(_ffi_api.RecursiveEq(self, other))
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other))  # type: ignore[call-overload]
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return _ffi_api.RecursiveHash(self)  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: Any = None) -> Any:
        return _ffi_api.DeepCopy(self)

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)([*self, *other])  # type: ignore[misc, call-arg]

    def __radd__(self, other: Iterable[Any]) -> Any:
        return type(self)([*other, *self])  # type: ignore[misc, call-arg]


@register_object("ffi.Array", init=False)
class Array(_Reading, Sequence[T_co]):
    """An immutable native sequence, made from any iterable. Lists and tuples passed to native code become Arrays.

    Each item that is read is converted on its own. A slice gives a list. Two native sequences compare item by item and
    all the way down (`ffi.RecursiveEq`), and hash accordingly; with a list or tuple the items are compared by ``==``.
    """

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, idx: SupportsIndex, /) -> T_co: ...
        @overload
        def __getitem__(self, idx: slice, /) -> list[T_co]: ...
        def __getitem__(self, idx: SupportsIndex | slice, /) -> T_co | list[T_co]: ...
        def __contains__(self, value: object) -> bool: ...
        def __add__(self, other: Iterable[T]) -> Array[T_co | T]: ...
        def __radd__(self, other: Iterable[T]) -> Array[T_co | T]: ...

    _size = _ffi_api.ArraySize
    _get = _ffi_api.ArrayGetItem

    def __init__(self, input_list: Iterable[T_co] = ()) -> None:
        self.__init_handle_by_constructor__(_ffi_api.Array, *input_list)

    def __iter__(self) -> Iterator[T_co]:
        get = self._get
        for i in range(len(self)):
            yield get(self, i)


@register_object("ffi.List", init=False)
class List(_Reading, MutableSequence[T]):
    """A native sequence that can be changed, and is shared: native code that holds it sees the changes.

    Each method that names one place is atomic against the others, from Python and from the `ffi.List*` functions:
    threads that append and pop together lose nothing. Native code that changes the items' memory itself does not join
    in that. Iterating sees what is appended meanwhile, as with a list. Compares and hashes as Array does, although what
    can change should not be a key.
    """

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, idx: SupportsIndex, /) -> T: ...
        @overload
        def __getitem__(self, idx: slice, /) -> list[T]: ...
        def __getitem__(self, idx: SupportsIndex | slice, /) -> T | list[T]: ...
        def __contains__(self, value: object) -> bool: ...
        def __add__(self, other: Iterable[T]) -> List[T]: ...
        def __radd__(self, other: Iterable[T]) -> List[T]: ...

    _size = _ffi_api.ListSize
    _get = _ffi_api.ListGetItem

    def __init__(self, items: Iterable[T] = ()) -> None:
        self.__init_handle_by_constructor__(_ffi_api.List, *items)

    def __iter__(self) -> Iterator[T]:
        get, i = self._get, 0
        while True:
            try:
                item = get(self, i)
            except IndexError:
                return
            yield item
            i += 1

    if TYPE_CHECKING:

        @overload
        def __setitem__(self, index: SupportsIndex, value: T) -> None: ...
        @overload
        def __setitem__(self, index: slice[Any, Any, Any], value: Iterable[T]) -> None: ...

    def __setitem__(self, index: SupportsIndex | slice, value: Any) -> None:
        """Replace one item, or those of a slice. ValueError if an extended slice and its new items differ in number."""
        if not isinstance(index, slice):
            _ffi_api.ListSetItem(self, self._position(index), value)
            return
        items = list(value)
        start, stop, step = index.indices(len(self))
        if step == 1:
            _ffi_api.ListReplaceSlice(self, start, max(start, stop), List(items))
            return
        places = range(start, stop, step)
        if len(places) != len(items):
            raise ValueError(f"attempt to assign sequence of size {len(items)} to extended slice of size {len(places)}")
        for i, item in zip(places, items):
            _ffi_api.ListSetItem(self, i, item)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        if not isinstance(index, slice):
            _ffi_api.ListErase(self, self._position(index))
            return
        start, stop, step = index.indices(len(self))
        if step == 1:
            _ffi_api.ListEraseRange(self, start, max(start, stop))
            return
        for i in sorted(range(start, stop, step), reverse=True):
            _ffi_api.ListErase(self, i)

    def insert(self, index: SupportsIndex, value: T) -> None:
        """Put an item before the one at `index`; an index beyond either end means that end."""
        wanted = _as_int(index)
        while True:
            size = len(self)
            i = max(wanted + size, 0) if wanted < 0 else min(wanted, size)
            try:
                _ffi_api.ListInsert(self, i, value)
            except IndexError:  # another thread has made the list shorter
                continue
            return

    def append(self, value: T) -> None:
        """Put an item at the end."""
        _ffi_api.ListAppend(self, value)

    def extend(self, values: Iterable[T]) -> None:
        """Put items at the end, one by one; of the list itself, those that are there now."""
        for value in list(values) if values is self else values:
            _ffi_api.ListAppend(self, value)

    def pop(self, index: SupportsIndex = -1) -> T:
        """Remove and return an item, by default the last. IndexError if there is none."""
        wanted = _as_int(index)
        while True:
            size = len(self)
            if size == 0:
                raise IndexError("pop from empty List")
            if not -size <= wanted < size:
                raise IndexError(f"List index {wanted} is out of range for {size} items")
            try:
                return _ffi_api.ListPop(self, wanted + size if wanted < 0 else wanted)  # type: ignore[no-any-return]
            except IndexError:  # another thread has made the list shorter
                continue

    def clear(self) -> None:
        """Remove all items."""
        _ffi_api.ListClear(self)

    def reverse(self) -> None:
        """Turn the order round."""
        _ffi_api.ListReverse(self)
