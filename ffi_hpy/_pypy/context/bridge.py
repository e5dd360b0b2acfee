"""The way between the wrappers here and those of the binding in C, which does what is not hot.

Each side has wrappers of its own. A value goes over as native code has it: one native function takes what the binding
made of a value, another one gives the binding a value. So an object is the same on both sides, and each side keeps its
own rules about which wrapper stands for it.
"""

from __future__ import annotations

from .backend import SAFE_CALL, address_of, callback, core, new_words, words_at
from .binding import binding
from .numbers import OBJECT
from .signals import keep_raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "convert",
    "lift",
    "lift_taken",
    "lower",
    "lower_copy",
    "opaque",
    "result",
    "set_get",
    "use_lifted",
]

_get: Callable[[Any], Any]


def set_get(get: Callable[[Any], Any]) -> None:
    """Give this module the way of native values to Python, which stands on it."""
    global _get
    _get = get


def _give(_self: int, args: Any, _n: int, result: Any) -> int:
    """(address of two words that are owned) -> that value"""
    source = words_at(args[1])
    result[0] = source[0]
    result[1] = source[1]
    return 0


def _take(_self: int, args: Any, _n: int, _result: Any) -> int:
    """(address of two words, value): the words get the value, owned"""
    status: int = core.own(args + 2, words_at(args[1]))
    return status


# What the handler of a signal raises in either is kept: the binding asks for it, because no error is pending.
_give_in_c = callback(SAFE_CALL, _give, -1, keep_raised)
_take_in_c = callback(SAFE_CALL, _take, -1, keep_raised)
_to_binding = binding.function_from_address(address_of(_give_in_c))
_from_binding = binding.function_from_address(address_of(_take_in_c))
_to_binding.release_gil = _from_binding.release_gil = True  # both take it, whatever the environment says


def convert(value: Any, words: Any) -> int:
    """Have the binding convert a Python value into two words, which own it. Returns the handle in them, 0 for none."""
    _from_binding(address_of(words), value)
    return words[1] if words[0] & 0xFFFFFFFF >= OBJECT else 0


def result(words: Any) -> Any:
    """Have the binding make a Python value of two words, which are taken."""
    return lower(_to_binding(address_of(words)))


def lift(address: int) -> Any:
    """The binding's wrapper of an object that the caller uses."""
    core.incref(address)
    return lift_taken(address)


def lift_taken(address: int) -> Any:
    """As lift(), of a handle, which is taken."""
    words = new_words(2)
    words[0] = words_at(address)[1] & 0xFFFFFFFF
    words[1] = address
    return _to_binding(address_of(words))


_BINDING_TYPES = (binding.CObject, binding.DataType, binding.Device, binding.OpaquePtr, binding.CAny)


def lower(value: Any) -> Any:
    """A value that the binding returned, as it is here."""
    if not isinstance(value, _BINDING_TYPES):
        return value
    words = new_words(2)
    _move_or_copy(value, words)
    return _get(words)


def lower_copy(value: Any) -> Any:
    """The wrapper here for one of the binding's, which is kept."""
    words = new_words(2)
    convert(value, words)
    return _get(words)


def _move_or_copy(value: Any, words: Any) -> None:
    """Give two words, which own it, a value of the binding. Its wrapper, if there is one and nobody else has it, is
    left without its object, which would else live as long as that."""
    if isinstance(value, binding.CObject) and not isinstance(value, binding.Function):
        try:
            convert(binding.ObjectRValueRef(value), words)
        except RuntimeError:  # a call of the binding's uses it
            convert(value, words)
    else:
        convert(value, words)


def use_lifted(address: int, use: Callable[[Any], Any]) -> Any:
    """What use() makes of the binding's wrapper of an object, which ends with it."""
    theirs = lift(address)
    try:
        return use(theirs)
    finally:
        words = new_words(2)
        _move_or_copy(theirs, words)
        core.decref(words[1])


def opaque(address: int, wrap_as: Callable[[int], Any]) -> Any:
    """The Python value of an ffi.OpaquePyObject that is not held here: the binding's, or one of another binding. Takes
    the object."""
    core.incref(address)
    words = new_words(2)
    words[0] = words_at(address)[1] & 0xFFFFFFFF
    words[1] = address
    value = _to_binding(address_of(words))
    if isinstance(value, binding.OpaquePyObject):
        return wrap_as(address)
    core.decref(address)
    return value
