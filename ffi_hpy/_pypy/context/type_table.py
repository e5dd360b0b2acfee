"""The core's registered data of types, read from its structs: fields, creators, attribute columns.

A struct is an array of 64-bit words here. Types never move and are never removed; a list of fields may be replaced by a
longer one, so pointers to fields are not kept.
"""

from __future__ import annotations

from .backend import address_of, bytes_at, core, new_chars, new_words, words_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FieldFacts", "TypeFacts", "attribute_at", "facts_of", "field_info"]

_FIELD_WORDS = 15
_INT32 = 0xFFFFFFFF


class TypeFacts:
    """The constant data of a type: its index, its depth below ffi.Object, and its key."""

    __slots__ = ("_info", "depth", "index", "key")

    def __init__(self, info: Any) -> None:
        self._info = info
        self.index: int = info[0] & _INT32
        self.depth: int = info[0] >> 32
        self.key = bytes_at(info[1], info[2]).decode("utf-8", "replace")

    @property
    def n_fields(self) -> int:
        """The number of fields that the type itself declares now."""
        n: int = self._info[5] & _INT32
        return n

    def ancestors(self) -> list[TypeFacts]:
        """The types above this one, the root first."""
        table = words_at(self._info[3])
        return [_facts.get(table[i]) or _facts_at(table[i]) for i in range(self.depth)]

    @property
    def creator(self) -> int:
        """The pointer to the C function that creates an object; 0 if there is none."""
        metadata = self._info[8]
        address: int = words_at(metadata)[2] if metadata else 0
        return address

    @property
    def total_size(self) -> int:
        """Bytes of an object; 0 if the size varies or is not registered."""
        metadata = self._info[8]
        size: int = words_at(metadata)[3] & _INT32 if metadata else 0
        return size


_facts: dict[int, TypeFacts] = {}  # by the pointer to the struct


def _facts_at(address: int) -> TypeFacts:
    return _facts.setdefault(address, TypeFacts(words_at(address)))


def facts_of(type_index: int) -> TypeFacts:
    """Return the facts of a type, which must be registered."""
    address = core.type_info(type_index)
    return _facts.get(address) or _facts_at(address)


class FieldFacts:
    """A TVMFFIFieldInfo. `default_at` is the pointer to the default value or factory."""

    __slots__ = ("default_at", "flags", "getter", "name", "offset", "setter", "size", "static_index")

    def __init__(self, words: Any) -> None:
        self.name = bytes_at(words[0], words[1]).decode("utf-8", "replace")
        self.flags: int = words[6]
        self.size: int = words[7]
        self.offset: int = words[9]
        self.getter: int = words[10]
        self.setter: int = words[11]
        self.default_at = address_of(words + 12)
        index = words[14] & _INT32
        self.static_index: int = index - (1 << 32) if index >> 31 else index


def field_info(facts: TypeFacts, which: int) -> FieldFacts:
    """The `which`th own field of a type."""
    return FieldFacts(words_at(facts._info[6]) + which * _FIELD_WORDS)


_columns: dict[str, Any] = {}


def attribute_at(type_index: int, name: str) -> Any:
    """The two words of a type in an attribute column, without inheritance; None if it has no value there."""
    column = _columns.get(name)
    if column is None:
        text = new_chars(name.encode())
        words = new_words(2)
        words[0], words[1] = address_of(text), len(text) - 1
        address = core.type_column(words)
        if not address:
            return None
        column = _columns[name] = words_at(address)  # columns are never freed
    if not 0 <= type_index < column[1] & _INT32:  # before the data, as c_api.h requires
        return None
    value = words_at(column[0]) + 2 * type_index
    return value if value[0] & _INT32 else None
