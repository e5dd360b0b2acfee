"""Array and List: native sequences. The binding reads and sets one item at a time, appends and iterates (CSequence,
CList); everything else is here, on top of the core's functions."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence, Sequence
from operator import index as as_int

from .. import _ffi_api
from .._core import TYPE_INDEX_ARRAY, TYPE_INDEX_LIST, CList, CSequence, convert, type_attr
from .._values.object import Object, wrapper_like
from ..registry import register_object
from .equality import equal_contents, equal_items, hash_of, is_comparable
from .standard_copy import converter_of_asdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, SupportsIndex, TypeVar, overload

    from .._core import Function

    T = TypeVar("T")
    T_co = TypeVar("T_co", covariant=True)
else:
    T = T_co = None  # the subscripts below matter to type checkers only

__all__ = ["Array", "List"]

_MOST = (1 << 63) - 1

_to_array: Function = type_attr(TYPE_INDEX_ARRAY, "__ffi_convert__")
"""Copies the items of a List at one moment into an Array."""


def _bounds(index: slice) -> list[int | None]:
    """Return start, stop and step of a slice in the core's form."""
    index.indices(0)  # for its errors
    parts = (index.start, index.stop, 1 if index.step is None else index.step)
    return [None if part is None else max(-_MOST, min(as_int(part), _MOST)) for part in parts]


def _find(items: Sequence[Any], value: object, first: int, end: int) -> int:
    """Return the first of some positions whose item equals a value, -1 if there is none."""
    for i in range(first, end):
        item = items[i]
        if item is value or item == value:
            return i
    return -1


def _has_items(value: object) -> bool:
    """Whether a value may be a part of a sum of sequences; if not, the other operand may know the sum."""
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")


def _read_each(items: CSequence, places: range) -> list[Any]:
    return [CSequence.__getitem__(items, i) for i in places]


class _Reading(CSequence, Object):
    """The common part of Array and List."""

    def _refuse_object(self) -> NoReturn:
        """Raise TypeError: the class was given the handle of another object."""
        raise TypeError(
            f"the native object of this {type(self).__name__} is not an Array or List (its type index is "
            f"{self.__type_index__()})"
        )

    def _refuse(self, index: object) -> NoReturn:
        """Raise IndexError for the position of a missing item."""
        size = CSequence.__len__(self)
        raise IndexError(f"{type(self).__name__} index {index} is out of range for {size} items")

    def _position(self, index: Any) -> int:
        """Convert the index of an item to a plain int. TypeError if that is not possible."""
        try:
            return int.__add__(as_int(index), 0)
        except TypeError:
            if hasattr(type(index), "__index__"):
                raise  # its own
        raise TypeError(f"{type(self).__name__} indices must be integers or slices, not {type(index).__name__}")

    def _get_rare(self, index: Any) -> Any:
        """Return `self[index]` for an index with which the binding does not find an item: a slice, an instance of
        another class than int, or a wrong index."""
        is_list = self.__type_index__() == TYPE_INDEX_LIST
        if isinstance(index, slice):
            items = _to_array(self) if is_list else self  # a List may change
            places = range(CSequence.__len__(items))
            if 4 * len(places[index]) < len(places):
                return _read_each(items, places[index])
            return list(CSequence.__iter__(items))[index]  # iterating is faster than an access for each item
        position = self._position(index)
        if is_list:
            return self._at(_ffi_api.ListGetItem, position, shown=index)
        size = CSequence.__len__(self)
        if not -size <= position < size:
            self._refuse(index)
        return _ffi_api.ArrayGetItem(self, position % size)

    def _at(self, function: Function, index: int, *values: object, is_gap: bool = False, shown: object = None) -> Any:
        """Call a function of the core for an item of a List, or for a gap between items, where an index beyond either
        end means that end. An error shows `shown` in place of the index.

        The core counts positions from the start only, so the length is read first. If another thread shortens the List
        in between, the core raises IndexError and the call is repeated. The values must be native ones, whose
        conversion raises no IndexError.
        """
        while True:
            size = CSequence.__len__(self)
            place = index + size if index < 0 else index
            if is_gap:
                place = min(max(place, 0), size)
            elif not 0 <= place < size:
                self._refuse(index if shown is None else shown)
            try:
                return function(self, place, *values)
            except IndexError:
                pass

    def __contains__(self, value: object) -> bool:
        """Whether an item is the value or equals it, by Python's comparison."""
        if not CSequence.__len__(self):
            return False
        if type(value) is int or (type(value) is str and value.isascii()):
            holds = getattr(_ffi_api, "SeqHolds", None)  # needs no Python value for each item
            found = None if holds is None else holds(self, value)
            if found is not None:
                return found  # type: ignore[no-any-return]
        return value in list(CSequence.__iter__(self))

    # Replaces the method of collections.abc.Sequence, which is a generator: threads must not share a generator.
    def __reversed__(self) -> Any:
        """As __iter__, from the end."""
        return iter(self._get_rare(slice(None, None, -1)))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: Any) -> bool:
        cls = type(other)  # a mock claims another class
        if issubclass(cls, _Reading):
            return equal_contents(self, other)
        if issubclass(cls, Sequence) and not issubclass(cls, bytearray) and is_comparable(cls, list, tuple):
            return equal_items(self._plain(), list(other))
        return NotImplemented

    def _repr_html_(self) -> str | None:
        from .._values.display import objects_to_html

        return objects_to_html(self)

    def __hash__(self) -> int:
        return hash_of(self)

    def _plain(self) -> list[Any]:
        """The items in a list."""
        return list(CSequence.__iter__(self))

    def _hash_parts(self) -> Iterator[Any]:
        """The items, for `hash_of`."""
        return CSequence.__iter__(self)

    @staticmethod
    def _hash_whole(parts: list[Any]) -> int:
        """Return the hash for the hashable parts."""
        return hash(tuple(parts))

    def _copy_plain(self) -> Any:
        """Return the deep copy that `dataclasses.asdict` expects, if this function copies the container; else None."""
        convert = converter_of_asdict()
        if convert is None:
            return None
        items = convert(self._plain())
        return items if isinstance(self, List) else Array(items)  # an Array equals a list, and a tuple

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Find the first item that equals a value.

        Args:
            value: the value to compare the items with, by ``is`` and ``==``.
            start: the first position of the search; negative counts from the end.
            stop: the position before which the search ends, by default the end.

        Returns:
            The position, counted from the start of the sequence.

        Raises:
            ValueError: if no item equals the value.
        """
        items = self[:]  # of one moment: another thread may change a List
        first, end, _ = slice(start, stop).indices(len(items))
        place = _find(items, value, first, end)
        if place < 0:
            raise ValueError(f"{type(self).__name__}.index(x): no item equals x")
        return place

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)([*self, *other]) if _has_items(other) else NotImplemented

    def __radd__(self, other: Iterable[Any]) -> Any:
        return type(self)([*other, *self]) if _has_items(other) else NotImplemented


@register_object("ffi.Array", init=False)
class Array(_Reading, Sequence[T_co]):
    """An immutable native sequence. Lists and tuples passed to native code become Arrays. Any thread may read it.

    Each item is converted when it is read. Reading an object again returns the same wrapper as long as a reference to
    it exists. A slice is a list. An Array compares with any sequence item by item, by Python's rules: numbers by value,
    and objects by their class, which may compare them by identity. An Array hashes as a tuple of its items does.

    Args:
        input_list: the items. Each is converted like an argument of a call.

    Examples:
        >>> array = ffi_hpy.Array([1, "two", [3]])
        >>> array
        (1, "two", (3,))
        >>> array[1:]
        ['two', (3,)]
        >>> array + [4]
        (1, "two", (3,), 4)
    """

    if TYPE_CHECKING:

        def __init__(self, input_list: Iterable[T_co] = ()) -> None: ...
        @overload
        def __getitem__(self, idx: SupportsIndex, /) -> T_co: ...
        @overload
        def __getitem__(self, idx: slice, /) -> list[T_co]: ...
        def __getitem__(self, idx: SupportsIndex | slice, /) -> T_co | list[T_co]: ...
        def __iter__(self) -> Iterator[T_co]: ...
        def __reversed__(self) -> Iterator[T_co]: ...
        def __contains__(self, value: object) -> bool: ...
        def __add__(self, other: Iterable[T]) -> Array[T_co | T]: ...
        def __radd__(self, other: Iterable[T]) -> Array[T_co | T]: ...

    def __copy__(self) -> Array[T_co]:
        return self if type(self) is Array else wrapper_like(self, self)


@register_object("ffi.List", init=False)
class List(CList, _Reading, MutableSequence[T]):
    """A mutable native sequence. The sequence is shared: native code that has a reference to the sequence sees the
    changes.

    Each change is atomic, from Python and from the `ffi.List*` functions, including slices: threads that append and pop
    at the same time lose no items. Native code that changes the items' memory directly is an exception. Iteration, in
    either direction, goes over the items that exist when it begins; later changes do not affect it. A List compares and
    hashes like an Array, although a mutable object should not be a key.

    Args:
        input_list: the items. Each is converted like an argument of a call.

    Examples:
        >>> items = ffi_hpy.List([1, 2])
        >>> items.append("three")
        >>> items
        [1, 2, "three"]
    """

    if TYPE_CHECKING:

        def __init__(self, input_list: Iterable[T] = ()) -> None: ...
        @overload
        def __getitem__(self, idx: SupportsIndex, /) -> T: ...
        @overload
        def __getitem__(self, idx: slice, /) -> list[T]: ...
        def __getitem__(self, idx: SupportsIndex | slice, /) -> T | list[T]: ...
        @overload
        def __setitem__(self, index: SupportsIndex, value: T) -> None: ...
        @overload
        def __setitem__(self, index: slice[Any, Any, Any], value: Iterable[T]) -> None: ...
        def __setitem__(self, index: SupportsIndex | slice, value: Any) -> None: ...
        def __delitem__(self, index: SupportsIndex | slice) -> None: ...
        def __iter__(self) -> Iterator[T]: ...
        def __reversed__(self) -> Iterator[T]: ...
        def __contains__(self, value: object) -> bool: ...
        def __add__(self, other: Iterable[T]) -> List[T]: ...
        def __radd__(self, other: Iterable[T]) -> List[T]: ...
        def append(self, value: T) -> None:
            """Put an item at the end.

            Args:
                value: the item, which is converted as an argument of a call.
            """

    def __copy__(self) -> List[T]:
        items = List(self)
        return items if type(self) is List else wrapper_like(self, items)

    def _set_rare(self, index: Any, value: Any) -> None:
        """`self[index] = value` for an index that is not a plain int from 0 on."""
        if isinstance(index, slice):
            self._set_slice(index, value)
        else:
            self._at(_ffi_api.ListSetItem, self._position(index), convert(value))

    def _delete(self, index: Any) -> None:
        """`del self[index]`."""
        if isinstance(index, slice):
            self._del_slice(index)
        else:
            self._at(_ffi_api.ListErase, self._position(index))

    def insert(self, index: SupportsIndex, value: T) -> None:
        """Put an item before another one.

        Args:
            index: the position of the other one; negative counts from the end, and a position beyond either end means
                that end.
            value: the item, which is converted as an argument of a call.
        """
        self._at(_ffi_api.ListInsert, as_int(index), convert(value), is_gap=True)

    def pop(self, index: SupportsIndex = -1) -> T:
        """Remove and return an item.

        Args:
            index: its position, by default the last; negative counts from the end.

        Raises:
            IndexError: if there is none.
        """
        place = as_int(index)
        if not CSequence.__len__(self):
            raise IndexError("pop from empty List")
        return self._at(_ffi_api.ListPop, place)  # type: ignore[no-any-return]

    def _set_slice(self, index: slice, value: Iterable[T]) -> None:
        """``self[index] = value``. ValueError if an extended slice and its new items differ in number."""
        items = value if isinstance(value, _Reading) else List(value)
        if hasattr(_ffi_api, "ListAssignSlice"):
            _ffi_api.ListAssignSlice(self, *_bounds(index), items)
        else:
            changed = self[:]
            changed[index] = list(items)
            self._put(changed)

    def _del_slice(self, index: slice) -> None:
        """``del self[index]``."""
        if hasattr(_ffi_api, "ListEraseSlice"):
            _ffi_api.ListEraseSlice(self, *_bounds(index))
        else:
            changed = self[:]
            del changed[index]
            self._put(changed)

    def _put(self, items: list[T]) -> None:
        """Replace all items, for a core other than ours: its functions for slices take positions that another thread
        may invalidate."""
        self.clear()
        self.extend(items)

    def extend(self, values: Iterable[T]) -> None:
        """Append items. The items of a list, a tuple, an Array or a List are added in one step. The items of any other
        iterable are added one by one; after an exception the items before it stay.

        Args:
            values: the items. A list that is extended by itself gets the items that it has at the beginning.
        """
        if hasattr(_ffi_api, "ListAssignSlice") and (type(values) in (list, tuple) or isinstance(values, _Reading)):
            self._set_slice(slice(_MOST, None), values)
        else:
            for value in values:
                self.append(value)

    def remove(self, value: T) -> None:
        """Remove the first item that equals a value.

        Args:
            value: the value to compare the items with, by ``is`` and ``==``.

        Raises:
            ValueError: if no item equals the value.
        """
        if not hasattr(_ffi_api, "ListEraseSame"):
            del self[self.index(value)]
            return
        while True:
            items = _to_array(self)
            place = _find(items, value, 0, len(items))
            if place < 0:
                raise ValueError(f"{type(self).__name__}.remove(x): no item equals x")
            if _ffi_api.ListEraseSame(self, place, items):
                return
            # another thread has moved the item

    def clear(self) -> None:
        """Remove all items."""
        _ffi_api.ListClear(self)

    def reverse(self) -> None:
        """Reverse the order."""
        _ffi_api.ListReverse(self)
