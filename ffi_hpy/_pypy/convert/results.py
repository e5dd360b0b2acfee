"""Native values on their way to Python. Incoming values are owned, and stolen even on failure.

Objects of four built-in types are unwrapped (strings, bytes, large ints, Python objects), and shapes become tuples; all
others get a wrapper.
"""

from __future__ import annotations

from ..context import bridge, hooks
from ..context.backend import address_of, buffer_at, bytes_at, core, doubles_at, words_at
from ..context.hidden import hidden
from ..context.numbers import (
    BIG_INT,
    BOOL,
    BYTE_ARRAY_PTR,
    BYTES,
    DATA_TYPE,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    OBJECT,
    OPAQUE_PTR,
    OPAQUE_PY_OBJECT,
    RAW_STR,
    RVALUE_REF,
    SHAPE,
    SMALL_BYTES,
    SMALL_STR,
    STR,
)
from ..object.identity import find, is_used
from ..object.objects import builtins, is_shared, wrap, wrap_apart, wrapper_of
from .opaque import unwrap
from .values import data_type_of, device_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LAST = 0x7FFFFFFF  # the largest type index; larger words are negative numbers, which are never type indices

__all__ = ["get", "is_unwrapped", "of_borrowed", "of_object", "of_view", "text_of"]


@hidden
def get(words: Any) -> Any:
    """Return the Python value of the two words at a pointer."""
    word = words[0]
    type_index = word & 0xFFFFFFFF
    if type_index == INT:
        return words[1]
    if type_index == NONE:
        return None
    if OBJECT <= type_index <= _LAST:
        return of_object(type_index, words[1])
    if type_index == FLOAT:
        return doubles_at(words)[1]
    if type_index == BOOL:
        return words[1] != 0
    return _get_other(words, type_index)


@hidden
def of_object(type_index: int, address: int) -> Any:
    """Return the Python value of an object, which is stolen."""
    if type_index > BIG_INT:
        return builtins[type_index](address) if type_index in builtins else wrap(address)
    return _unwrapped(type_index, address, wrap) if type_index in _UNWRAPPED else wrap(address)


@hidden
def of_borrowed(type_index: int, address: int) -> Any:
    """Return the Python value of a borrowed object."""
    if type_index > BIG_INT or type_index not in _UNWRAPPED:
        found = find(address)
        if found is not None:
            found._ffi_is_repeated = True  # from now on it cannot be moved away
            if found._ffi_address == address:  # the wrapper has its own reference
                return found
    core.incref(address)
    return of_object(type_index, address)


str_deleter = 0
"""The deleter of strings that become a str itself, not an instance of the package's class."""

_UNWRAPPED = frozenset((STR, BYTES, BIG_INT, OPAQUE_PY_OBJECT, SHAPE))


def is_unwrapped(type_index: int) -> bool:
    """Whether objects of a type become Python values without a wrapper."""
    return type_index <= BIG_INT and type_index in _UNWRAPPED


def text_of(data: bytes) -> str:
    """Decode a native string; malformed bytes are replaced."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


@hidden
def _unwrapped(type_index: int, address: int, wrap_as: Any) -> Any:
    body = words_at(address) + 3
    if type_index == SHAPE:
        at, n = body[0], body[1]
        extents = words_at(at)
        return hooks.shape_class(tuple([extents[i] for i in range(n)]), wrap(address))
    if type_index == OPAQUE_PY_OBJECT:
        is_ours, value = unwrap(address)
        if not is_ours:
            return bridge.opaque(address, wrap_as)
        core.decref(address)
        return value
    try:
        if type_index == STR:
            text = text_of(bytes_at(body[0], body[1]))
            return text if words_at(address)[2] == str_deleter else hooks.string_class(text)
        if type_index == BYTES:
            data = bytes_at(body[0], body[1])
            return data if words_at(address)[2] == str_deleter else hooks.bytes_class(data)
        return int.from_bytes(bytes_at(address_of(body + 1), 8 * body[0]), "little", signed=True)
    finally:
        core.decref(address)


@hidden
def _get_other(words: Any, type_index: int) -> Any:
    """Return the Python value of a rare value that is not an object. Short strings are plain str: only objects get the
    package's classes."""
    payload = words[1]
    if type_index == SMALL_STR:
        return text_of(bytes(buffer_at(words + 1, words[0] >> 32)[:]))
    if type_index == SMALL_BYTES:
        return bytes(buffer_at(words + 1, words[0] >> 32)[:])
    if type_index == DATA_TYPE:
        return data_type_of(payload)
    if type_index == DEVICE:
        return device_of(payload)
    if type_index == OPAQUE_PTR:
        return hooks.wrap_opaque_ptr(payload % (1 << 64))
    if type_index == RAW_STR:
        n = 0
        text = buffer_at(payload, 1 << 62)
        while text[n] != b"\0":
            n += 1
        return text_of(bytes_at(payload, n))
    if type_index == BYTE_ARRAY_PTR:
        view = words_at(payload)
        return bytes_at(view[0], view[1])
    return bridge.result(words)


@hidden
def of_view(words: Any) -> Any:
    """Return the Python value of a callback's argument, which the caller owns."""
    type_index = words[0] & 0xFFFFFFFF
    if type_index == RVALUE_REF:  # the caller offers an object: steal it from the caller's word
        slot = words_at(words[1])
        address = slot[0]
        slot[0] = 0
        if not address:
            raise TypeError("an argument offers an object that was taken before")
        type_index = words_at(address)[1] & 0xFFFFFFFF
    elif OBJECT <= type_index <= _LAST:
        address = words[1]
        core.incref(address)
    else:
        return get(words)
    if type_index <= BIG_INT and type_index in _UNWRAPPED:
        return _unwrapped(type_index, address, _wrap_movable)
    return _wrap_movable(address)


@hidden
def _wrap_movable(address: int) -> Any:
    """A callback may move its argument away, which is impossible for a wrapper that a call uses. Such an argument gets
    a new wrapper. A wrapper of a Python subclass is passed itself, because it differs from a new one; a wrapper of a
    bound object is, too, because functions of bound libraries never move it."""
    if is_shared(address):
        found = wrapper_of(address)
        is_movable = found is not None and not found._ffi_has_state and not hasattr(found, "_ffi_bound_class")
        if is_movable and is_used(found, address):
            return wrap_apart(address)
    return wrap(address)
