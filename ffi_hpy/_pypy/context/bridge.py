"""Conversion between the wrappers here and the wrappers of the C binding, which implements everything outside the hot
paths. `to_binding` wraps an object for the C binding, `from_binding` unwraps a value of the C binding.

Each side has its own wrappers. A value crosses in its native form: one native function receives the binding's native
form of a value, another one passes a native value to the binding. So both sides share the object, and each side applies
its own rules about the registered wrapper.
"""

from __future__ import annotations

from .backend import SAFE_CALL, address_of, callback, core, new_words, words_at
from .binding import binding
from .numbers import OBJECT, OPAQUE_PY_OBJECT
from .signals import keep_raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "convert",
    "copy_from_binding",
    "from_binding",
    "give_to_binding",
    "is_opaque",
    "opaque",
    "result",
    "set_get",
    "to_binding",
    "use_in_binding",
]

_get: Callable[[Any], Any]


def set_get(get: Callable[[Any], Any]) -> None:
    """Register the native-to-Python converter (it imports this module)."""
    global _get
    _get = get


def _give(_self: int, args: Any, _n: int, result: Any) -> int:
    """(pointer to two owned words) -> their value"""
    source = words_at(args[1])
    result[0] = source[0]
    result[1] = source[1]
    return 0


def _take(_self: int, args: Any, _n: int, _result: Any) -> int:
    """(pointer to two words, value): store the value in the words, owned"""
    status: int = core.own(args + 2, words_at(args[1]))
    return status


# Exceptions of signal handlers in either function are kept: the binding asks for them, because no error is pending.
_give_in_c = callback(SAFE_CALL, _give, -1, keep_raised)
_take_in_c = callback(SAFE_CALL, _take, -1, keep_raised)
_pass_words = binding.function_from_address(address_of(_give_in_c))
_fetch_words = binding.function_from_address(address_of(_take_in_c))
_pass_words.release_gil = _fetch_words.release_gil = True  # both acquire the GIL, so the binding must release it


def convert(value: Any, words: Any) -> int:
    """Let the binding convert a Python value into two words, which own it. Returns the handle in them, 0 if there is
    none."""
    _fetch_words(address_of(words), value)
    return words[1] if words[0] & 0xFFFFFFFF >= OBJECT else 0


def result(words: Any) -> Any:
    """Let the binding convert two words, which are stolen, to a Python value."""
    return from_binding(_pass_words(address_of(words)))


def to_binding(address: int) -> Any:
    """Wrap an object for the C binding. The caller keeps the object in use."""
    core.incref(address)
    return give_to_binding(address)


def give_to_binding(address: int) -> Any:
    """Like to_binding(), but steal the handle."""
    words = new_words(2)
    words[0] = words_at(address)[1] & 0xFFFFFFFF
    words[1] = address
    return _pass_words(address_of(words))


_BINDING_TYPES = (binding.CObject, binding.PlainValue)


def from_binding(value: Any) -> Any:
    """Unwrap a value that the binding returned: return the value or wrapper of this side."""
    if not isinstance(value, _BINDING_TYPES):
        return value
    words = new_words(2)
    _move_or_copy(value, words)
    return _get(words)


def copy_from_binding(value: Any) -> Any:
    """Like from_binding(), but a wrapper of the binding stays valid."""
    if not isinstance(value, _BINDING_TYPES):
        return value
    words = new_words(2)
    convert(value, words)
    return _get(words)


def _move_or_copy(value: Any, words: Any) -> None:
    """Store a value of the binding in two words, which own it. A wrapper of the binding without other users is emptied,
    because it would otherwise keep the object alive."""
    if isinstance(value, binding.CObject) and not isinstance(value, binding.Function):
        try:
            convert(binding.ObjectRValueRef(value), words)
        except RuntimeError:  # a call of the binding uses it
            convert(value, words)
    else:
        convert(value, words)


def use_in_binding(address: int, use: Callable[[Any], Any]) -> Any:
    """Return the result of use() for the binding's wrapper of an object. The wrapper exists only during the call."""
    theirs = to_binding(address)
    try:
        return use(theirs)
    finally:
        words = new_words(2)
        _move_or_copy(theirs, words)
        core.decref(words[1])


def is_opaque(value: Any) -> bool:
    """Whether a value is a wrapper of the binding for an ffi.OpaquePyObject, whose content the binding cannot read."""
    return isinstance(value, binding.CObject) and value.__type_index__() == OPAQUE_PY_OBJECT


def opaque(address: int, wrap_as: Callable[[int], Any]) -> Any:
    """Return the Python value of an ffi.OpaquePyObject that another binding owns: the C binding, or a third one. Steals
    the object."""
    core.incref(address)
    words = new_words(2)
    words[0] = words_at(address)[1] & 0xFFFFFFFF
    words[1] = address
    value = _pass_words(address_of(words))
    if is_opaque(value):
        return wrap_as(address)
    core.decref(address)
    return value
