"""Map and Dict: native mappings that keep insertion order. The binding looks up, sets and iterates (CMapping, CDict);
everything else is here, on top of the core's functions."""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, Mapping, MutableMapping, ValuesView
from functools import cache
from itertools import chain

from .. import _ffi_api
from .._core import CDict, CMapping, CObject, CSequence, Error, Function, convert, function_from_callable
from .._values.function import native_function
from .._values.object import MISSING, Object, wrapper_like
from .._values.opaque import OpaquePyObject
from .._values.single import is_nan
from ..registry import register_object
from .equality import PLAIN, equal_contents, hash_of, is_comparable
from .standard_copy import converter_of_asdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, TypeVar, overload

    D = TypeVar("D")
    K = TypeVar("K")
    V = TypeVar("V")
    V_co = TypeVar("V_co", covariant=True)
else:
    K = V = V_co = None  # the subscripts below matter to type checkers only

__all__ = ["Dict", "Map"]


_COMPARED = PLAIN | {float}
"""Types that native code compares by value."""


@cache
def _find_key() -> Function:
    """The binding's function that looks for a key by Python's `==`."""
    return native_function("find_key")


@cache
def _entries() -> Function:
    """The binding's function that returns the entries of a mapping at one moment as a Map, with the same keys: a Map
    that Python makes of a Dict has other objects as keys."""
    return native_function("entries")


def _check_key(key: Any) -> bool:
    """Whether a key is a tuple with a NaN, which `==` does not find. TypeError for a key that becomes another native
    object at each use, and for a tuple with such an item."""
    if type(key) in PLAIN or issubclass(type(key), CObject):
        return False
    if isinstance(key, tuple):
        return True in [_check_key(item) for item in key]  # each item is checked
    made = convert(key)
    for cls, given, name in ((Function, "a callable", "Function"), (Error, "an exception", "Error")):
        if isinstance(made, cls):
            raise TypeError(
                f"{given} becomes a new {name} at each use, so no mapping finds it as a key: use the {name} of "
                "one ffi_hpy.convert(), which the program keeps"
            )
    return is_nan(key)


def _is_same(own: Any, key: Any) -> bool:
    """Whether a key of a mapping equals another key, where a NaN equals a NaN."""
    if isinstance(key, tuple):
        return isinstance(own, CSequence) and len(own) == len(key) and all(map(_is_same, own, key))
    return own is key or bool(own == key) or (is_nan(own) and is_nan(key))


class _Reading(CMapping, Object):
    """The common part of Map and Dict."""

    def _refuse_object(self) -> NoReturn:
        """Raise TypeError: the class was given the handle of another object."""
        raise TypeError(
            f"the native object of this {type(self).__name__} is not a Map or Dict (its type index is "
            f"{self.__type_index__()})"
        )

    def __bool__(self) -> bool:
        return len(self) > 0

    def keys(self) -> Any:
        """View of the keys, in insertion order."""
        return _Keys(self)

    def values(self) -> Any:
        """View of the values, in insertion order."""
        return _Values(self)

    def items(self) -> Any:
        """View of the (key, value) pairs, in insertion order."""
        return _Items(self)

    @staticmethod
    def _is_compared(key: Any) -> bool:
        """Whether native code compares a key, so that it needs no search by `==`."""
        return type(key) in _COMPARED or issubclass(type(key), CObject)

    def _own_key(self, key: Any) -> Any:
        """Return a key that native code finds: for a tuple or an object of Python the key of this mapping that equals
        it, or the key itself if there is none."""
        if self._is_compared(key):
            return key
        has_nan = _check_key(key)

        def is_equal(own: Any) -> bool:
            return own is key or bool(own == key) or (has_nan and _is_same(own, key))

        found = _find_key()(self, key, function_from_callable(is_equal))
        if found is None:
            return key
        return OpaquePyObject._adopt(found) if type(found) is int else found

    def __eq__(self, other: Any) -> bool:
        cls = type(other)  # a mock claims another class
        if issubclass(cls, _Reading):
            return equal_contents(self, other)
        if not (issubclass(cls, Mapping) and is_comparable(cls, dict)):
            return NotImplemented
        return len(self) == len(other) and self._plain() == dict(other.items())

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self)

    def _copy_plain(self) -> Any:
        """Return the deep copy that `dataclasses.asdict` expects, if this function copies the mapping; else None."""
        convert = converter_of_asdict()
        return None if convert is None else convert(self._plain())

    def __hash__(self) -> int:
        return hash_of(self)

    def _plain(self) -> dict[Any, Any]:
        """The entries in a dict."""
        return dict(self.items())

    def _hash_parts(self) -> Iterator[Any]:
        """The keys and values in turn, for `hash_of`."""
        return chain.from_iterable(self.items())

    @staticmethod
    def _hash_whole(parts: list[Any]) -> int:
        """Return the hash for the hashable parts."""
        return hash(frozenset(zip(parts[::2], parts[1::2])))


@register_object("ffi.Map", init=False)
class Map(_Reading, Mapping[K, V_co]):
    """An immutable native mapping in insertion order. Dicts passed to native code become Maps. Any thread may read it.

    Keys compare by the rules of native code: strings and bytes by content, numbers by type and value (1, 1.0 and True
    are three keys), other objects by identity. A look-up compares a key that native code cannot compare, such as a
    tuple or a `pathlib.Path`, with all keys by `==`. A callable must be a Function for that, and an exception an Error.
    A Map equals a dict, or a mapping without a hash, with equal entries, and hashes accordingly.

    Args:
        input_dict: the entries. Keys and values are converted like arguments of a call.

    Examples:
        >>> sizes = ffi_hpy.Map({"a": 1, "b": [2, 3]})
        >>> sizes["b"]
        (2, 3)
        >>> sizes.get("c") is None
        True
    """

    if TYPE_CHECKING:

        def __init__(self, input_dict: Mapping[K, V_co] | None = None) -> None: ...
        def __getitem__(self, key: K, /) -> V_co: ...
        def __iter__(self) -> Iterator[K]: ...
        def __contains__(self, key: object) -> bool: ...
        @overload
        def get(self, key: K, default: None = None, /) -> V_co | None: ...
        @overload
        def get(self, key: K, default: D, /) -> V_co | D: ...
        def get(self, key: Any, default: Any = None, /) -> Any:
            """Look up a value.

            Args:
                key: the key to look up.
                default: the result if the key is missing.
            """

        def keys(self) -> KeysView[K]:
            """View of the keys, in insertion order."""

        def values(self) -> ValuesView[V_co]:
            """View of the values, in insertion order."""

        def items(self) -> ItemsView[K, V_co]:
            """View of the (key, value) pairs, in insertion order."""

    def __copy__(self) -> Map[K, V_co]:
        return self if type(self) is Map else wrapper_like(self, self)


@register_object("ffi.Dict", init=False)
class Dict(CDict, _Reading, MutableMapping[K, V]):
    """A mutable native mapping. The mapping is shared: native code that has a reference to the mapping sees the
    changes.

    Setting, removing and looking up one key are atomic operations, from Python and from the `ffi.Dict*` functions.
    Iteration goes over the entries that exist when it begins; later changes do not affect it. Keys compare as in Map. A
    Dict compares and hashes like a Map, although a mutable object should not be a key.

    Args:
        input_dict: the entries. Keys and values are converted like arguments of a call.

    Examples:
        >>> counts = ffi_hpy.Dict({"a": 1})
        >>> counts["b"] = 2
        >>> counts.pop("a")
        1
        >>> counts
        {"b": 2}
    """

    if TYPE_CHECKING:

        def __init__(self, input_dict: Mapping[K, V] | None = None) -> None: ...
        def __getitem__(self, key: K, /) -> V: ...
        def __setitem__(self, key: K, value: V) -> None: ...
        def __delitem__(self, key: K) -> None: ...
        def __iter__(self) -> Iterator[K]: ...
        def __contains__(self, key: object) -> bool: ...
        @overload
        def get(self, key: K, default: None = None, /) -> V | None: ...
        @overload
        def get(self, key: K, default: D, /) -> V | D: ...
        def get(self, key: Any, default: Any = None, /) -> Any:
            """Look up a value.

            Args:
                key: the key to look up.
                default: the result if the key is missing.
            """

        def keys(self) -> KeysView[K]:
            """View of the keys, in insertion order."""

        def values(self) -> ValuesView[V]:
            """View of the values, in insertion order."""

        def items(self) -> ItemsView[K, V]:
            """View of the (key, value) pairs, in insertion order."""

    def __copy__(self) -> Dict[K, V]:
        entries = Dict(self)
        return entries if type(self) is Dict else wrapper_like(self, entries)

    def _put_searched(self, key: Any, value: Any, replaces: bool = True) -> Any:
        """Set a key that `==` compares, unless it exists and its value must stay; return its value. The search
        begins again if another thread adds a key that may be equal during the comparisons."""
        if not hasattr(_ffi_api, "DictPutSearched"):
            own = self._own_key(key)
            if replaces or own not in self:
                _ffi_api.DictSetItem(self, own, value)
            return self[key]
        while True:
            seen = _entries()(self)
            found = _ffi_api.DictPutSearched(self, seen, seen._own_key(key), value, replaces)
            if not seen.same_as(found):
                return found

    def _take(self, key: Any) -> Any:
        """Remove a key and return its value, MISSING if there is none. A core other than ours needs two steps."""
        key = self._own_key(key)
        if hasattr(_ffi_api, "DictPop"):
            return _ffi_api.DictPop(self, key)
        value = _ffi_api.DictGetItemOrMissing(self, key)
        _ffi_api.DictErase(self, key)
        return value

    def _delete(self, key: Any) -> None:
        """`del self[key]`."""
        if MISSING.same_as(self._take(key)):
            raise KeyError(key)

    if TYPE_CHECKING:

        @overload
        def pop(self, key: K) -> V: ...
        @overload
        def pop(self, key: K, default: D) -> V | D: ...

    def pop(self, key: Any, default: Any = MISSING) -> Any:
        """Remove a key and return its value.

        Args:
            key: the key.
            default: the result if the key is missing.

        Raises:
            KeyError: if the key is missing and no `default` is given.
        """
        value = self._take(key)
        if not MISSING.same_as(value):
            return value
        if default is MISSING:
            raise KeyError(key)
        return default

    if TYPE_CHECKING:

        @overload
        def setdefault(self, key: K, default: None = None) -> V | None: ...
        @overload
        def setdefault(self, key: K, default: V) -> V: ...

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, after storing the default if there is none. Of several threads, only one stores
        its default.

        Args:
            key: the key to look up.
            default: the value that the key gets, which is converted as an argument of a call.
        """
        if self._is_compared(key) and hasattr(_ffi_api, "DictSetDefault"):
            return _ffi_api.DictSetDefault(self, key, default)
        return self._put_searched(key, default, False)

    def popitem(self) -> tuple[K, V]:
        """Remove the first entry and return its key and value. Several threads get different entries.

        Raises:
            KeyError: if the Dict is empty.
        """
        taken: Any = object()
        for key in self:
            value = self.pop(key, taken)
            if value is not taken:  # else another thread has removed it
                return key, value
        raise KeyError("popitem(): the Dict is empty")

    def update(self, other: Any = (), /, **named: V) -> None:
        """Set entries one at a time.

        Args:
            other: a mapping, or pairs of key and value.
            **named: further values; their names are the keys.
        """
        # The entries of a Map or Dict at one moment: otherwise another thread may remove a key before its value is
        # looked up.
        super().update(other.items() if isinstance(other, _Reading) else other, **named)

    def clear(self) -> None:
        """Remove all entries."""
        _ffi_api.DictClear(self)


# The iterators of the base classes are generators, which threads must not share. These methods go over the entries of
# one moment, without a lookup for each.


class _Keys(KeysView[K]):
    """The keys."""

    _mapping: Any

    def __repr__(self) -> str:
        return f"KeysView({self._mapping!r})"

    def __iter__(self) -> Iterator[K]:
        return iter(self._mapping)


class _Values(ValuesView[V_co]):
    """The values."""

    _mapping: Any

    def __repr__(self) -> str:
        return f"ValuesView({self._mapping!r})"

    def __iter__(self) -> Iterator[V_co]:
        return self._mapping._iter_values()  # type: ignore[no-any-return]

    def __contains__(self, value: object) -> bool:
        return any(own is value or own == value for own in self)


class _Items(ItemsView[K, V_co]):
    """The pairs."""

    _mapping: Any

    def __repr__(self) -> str:
        return f"ItemsView({self._mapping!r})"

    def __iter__(self) -> Iterator[tuple[K, V_co]]:
        return self._mapping._iter_items()  # type: ignore[no-any-return]
