"""Array and Map: native containers that do not change once made."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from operator import index as _as_int

from . import _ffi_api
from ._object import Object
from .registry import register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex, TypeVar, overload

    T = TypeVar("T")
    T_co = TypeVar("T_co", covariant=True)
    K = TypeVar("K")
    V_co = TypeVar("V_co", covariant=True)
else:
    T = T_co = K = V_co = None  # what stands in the subscripts below matters to type checkers only

__all__ = ["Array", "Map"]

# Commands of the function that ffi.MapForwardIterFunctor returns.
_KEY, _VALUE, _ADVANCE = 0, 1, 2


@register_object("ffi.Array", init=False)
class Array(Object, Sequence[T_co]):
    """An immutable native sequence, made from any iterable. Lists and tuples passed to native code become Arrays.

    Each item that is read is converted on its own and made anew: ``a[0]`` twice gives equal objects, not the same. A
    slice gives a list. Arrays compare with Arrays, lists and tuples item by item, and hash like tuples.
    """

    def __init__(self, input_list: Iterable[T_co] = ()) -> None:
        self.__init_handle_by_constructor__(_ffi_api.Array, *input_list)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, idx: SupportsIndex, /) -> T_co: ...
        @overload
        def __getitem__(self, idx: slice, /) -> list[T_co]: ...

    def __getitem__(self, idx: SupportsIndex | slice, /) -> Any:
        """Item by index, negative from the end (IndexError), or list of items by slice."""
        get_item = _ffi_api.ArrayGetItem
        size = len(self)
        if isinstance(idx, slice):
            return [get_item(self, i) for i in range(*idx.indices(size))]
        try:
            i = _as_int(idx)
        except TypeError:
            raise TypeError(f"Array indices must be integers or slices, not {type(idx).__name__}") from None
        if not -size <= i < size:
            raise IndexError(f"Array index {i} is out of range for {size} items")
        return get_item(self, i + size if i < 0 else i)

    def __len__(self) -> int:
        return _ffi_api.ArraySize(self)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[T_co]:
        get_item = _ffi_api.ArrayGetItem
        for i in range(len(self)):
            yield get_item(self, i)

    def __contains__(self, value: object) -> bool:
        return any(item is value or item == value for item in self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Array) and self.same_as(other):
            return True
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: Iterable[T]) -> Array[T_co | T]:
        return Array([*self, *other])

    def __radd__(self, other: Iterable[T]) -> Array[T_co | T]:
        return Array([*other, *self])

    def __repr__(self) -> str:
        return "Array(chandle=None)" if self.__chandle__() == 0 else repr(tuple(self))


@register_object("ffi.Map", init=False)
class Map(Object, Mapping[K, V_co]):
    """An immutable native mapping that keeps insertion order. Dicts passed to native code become Maps.

    Keys compare as native code compares them: text and bytes by content, numbers by type and value (1, 1.0 and True are
    three keys), other objects by identity. Maps compare with any Mapping entry by entry.
    """

    def __init__(self, input_dict: Mapping[K, V_co] | None = None) -> None:
        parts: list[Any] = []
        for entry in (input_dict or {}).items():
            parts += entry
        self.__init_handle_by_constructor__(_ffi_api.Map, *parts)

    def __getitem__(self, key: K, /) -> V_co:
        try:
            value: V_co = _ffi_api.MapGetItem(self, key)
        except KeyError:
            raise KeyError(key) from None
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, `default` if there is none."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what get() means

    def __contains__(self, key: object) -> bool:
        return _ffi_api.MapCount(self, key) != 0  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return _ffi_api.MapSize(self)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[K]:
        return self._walk(lambda at: at(_KEY))

    def keys(self) -> KeysView[K]:
        """View of the keys, in insertion order."""
        return KeysView(self)

    def values(self) -> ValuesView[V_co]:
        """View of the values, in insertion order."""
        return _Values(self)

    def items(self) -> ItemsView[K, V_co]:
        """View of the (key, value) pairs, in insertion order."""
        return _Items(self)

    def _walk(self, read: Any) -> Iterator[Any]:
        """read(cursor) of each entry."""
        left = len(self)
        at = _ffi_api.MapForwardIterFunctor(self)
        at.release_gil = False
        while left:
            yield read(at)
            left -= 1
            if left:
                at(_ADVANCE)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Map) and self.same_as(other):
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        missing = object()
        return len(self) == len(other) and all(other.get(key, missing) == value for key, value in self.items())

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        if self.__chandle__() == 0:
            return "Map(chandle=None)"
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self.items()) + "}"


class _Values(ValuesView[V_co]):
    """The values without a lookup for each."""

    _mapping: Map[Any, V_co]

    def __iter__(self) -> Iterator[V_co]:
        return self._mapping._walk(lambda at: at(_VALUE))


class _Items(ItemsView[K, V_co]):
    """The pairs without a lookup for each."""

    _mapping: Map[K, V_co]

    def __iter__(self) -> Iterator[tuple[K, V_co]]:
        return self._mapping._walk(lambda at: (at(_KEY), at(_VALUE)))
