"""Map and Dict: native mappings that keep insertion order."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView

from . import _ffi_api
from ._object import Object
from .registry import register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ._core import Function

    K = TypeVar("K")
    V = TypeVar("V")
    V_co = TypeVar("V_co", covariant=True)
else:
    K = V = V_co = None  # what stands in the subscripts below matters to type checkers only

__all__ = ["MISSING", "Dict", "Map"]

MISSING: Object = _ffi_api.GetInvalidObject()
"""The core's mark for "no value"."""

# Commands of the function that ffi.MapForwardIterFunctor returns.
_KEY, _VALUE, _ADVANCE = 0, 1, 2


class _Reading(Object):
    """What Map and Dict share: reading, comparing, the views."""

    _size: Function
    _get_or_missing: Function
    _count: Function
    _iterate: Function

    def __len__(self) -> int:
        return self._size(self)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, key: object) -> bool:
        return self._count(self, key) != 0  # type: ignore[no-any-return]

    def __getitem__(self, key: Any, /) -> Any:
        value = self._get_or_missing(self, key)
        if MISSING.same_as(value):
            raise KeyError(key)
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, `default` if there is none."""
        value = self._get_or_missing(self, key)
        return default if MISSING.same_as(value) else value

    def __iter__(self) -> Iterator[Any]:
        return self._walk(lambda at: at(_KEY))

    def keys(self) -> Any:
        """View of the keys, in insertion order."""
        return KeysView(self)

    def values(self) -> Any:
        """View of the values, in insertion order."""
        return _Values(self)

    def items(self) -> Any:
        """View of the (key, value) pairs, in insertion order."""
        return _Items(self)

    def _walk(self, read: Any) -> Iterator[Any]:
        """read(cursor) of each entry."""
        if not self:
            return
        at = self._iterate(self)
        at.release_gil = False
        while True:
            try:
                part = read(at)
            except IndexError:  # a Dict that has lost the entry meanwhile
                return
            yield part
            if not at(_ADVANCE):
                return

    def __eq__(self, other: object) -> bool:
        return bool(_ffi_api.RecursiveEq(self, other)) if isinstance(other, _Reading) else NotImplemented

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __deepcopy__(self, memo: Any = None) -> Any:
        return _ffi_api.DeepCopy(self)

    def __hash__(self) -> int:
        return _ffi_api.RecursiveHash(self)  # type: ignore[no-any-return]


@register_object("ffi.Map", init=False)
class Map(_Reading, Mapping[K, V_co]):
    """An immutable native mapping. Dicts passed to native code become Maps.

    Keys compare as native code compares them: text and bytes by content, numbers by type and value (1, 1.0 and True are
    three keys), other objects by identity. Two native mappings compare entry by entry and all the way down
    (`ffi.RecursiveEq`), and hash accordingly; a Map never equals a dict.
    """

    if TYPE_CHECKING:

        def __getitem__(self, key: K, /) -> V_co: ...
        def __iter__(self) -> Iterator[K]: ...
        def __contains__(self, key: object) -> bool: ...
        def keys(self) -> KeysView[K]: ...
        def values(self) -> ValuesView[V_co]: ...
        def items(self) -> ItemsView[K, V_co]: ...

    _size = _ffi_api.MapSize
    _get_or_missing = _ffi_api.MapGetItemOrMissing
    _count = _ffi_api.MapCount
    _iterate = _ffi_api.MapForwardIterFunctor

    def __init__(self, input_dict: Mapping[K, V_co] | None = None) -> None:
        self.__init_handle_by_constructor__(_ffi_api.Map, *_flat(input_dict))


@register_object("ffi.Dict", init=False)
class Dict(_Reading, MutableMapping[K, V]):
    """A native mapping that can be changed, and is shared: native code that holds it sees the changes.

    Setting, removing and looking up one key are atomic against each other, from Python and from the `ffi.Dict*`
    functions. Iterating while another thread changes it may miss or repeat entries and never fails. Keys compare as in
    Map; compares and hashes as Map does, although what can change should not be a key.
    """

    if TYPE_CHECKING:

        def __getitem__(self, key: K, /) -> V: ...
        def __iter__(self) -> Iterator[K]: ...
        def __contains__(self, key: object) -> bool: ...
        def keys(self) -> KeysView[K]: ...
        def values(self) -> ValuesView[V]: ...
        def items(self) -> ItemsView[K, V]: ...

    _size = _ffi_api.DictSize
    _get_or_missing = _ffi_api.DictGetItemOrMissing
    _count = _ffi_api.DictCount
    _iterate = _ffi_api.DictForwardIterFunctor

    def __init__(self, input_dict: Mapping[K, V] | None = None) -> None:
        self.__init_handle_by_constructor__(_ffi_api.Dict, *_flat(input_dict))

    def __setitem__(self, key: K, value: V) -> None:
        _ffi_api.DictSetItem(self, key, value)

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        _ffi_api.DictErase(self, key)

    def pop(self, key: K, default: Any = MISSING) -> Any:
        """Remove a key and return its value; `default`, or KeyError, if it is not there."""
        value = self._get_or_missing(self, key)
        if MISSING.same_as(value):
            if default is MISSING:
                raise KeyError(key)
            return default
        _ffi_api.DictErase(self, key)
        return value

    def clear(self) -> None:
        """Remove all entries."""
        _ffi_api.DictClear(self)


def _flat(mapping: Mapping[Any, Any] | None) -> list[Any]:
    """Key, value, key, value, ... as the constructors take them."""
    return [] if mapping is None else [part for entry in mapping.items() for part in entry]


class _Values(ValuesView[V_co]):
    """The values without a lookup for each."""

    _mapping: Any

    def __iter__(self) -> Iterator[V_co]:
        return self._mapping._walk(lambda at: at(_VALUE))  # type: ignore[no-any-return]


class _Items(ItemsView[K, V_co]):
    """The pairs without a lookup for each."""

    _mapping: Any

    def __iter__(self) -> Iterator[tuple[K, V_co]]:
        return self._mapping._walk(lambda at: (at(_KEY), at(_VALUE)))  # type: ignore[no-any-return]
