"""Python values on their way into native code: each becomes the two words of a TVMFFIAny.

`put` compares the exact type with the types of most arguments; the JIT decides these comparisons at compile time. The
package classifies each other type once. Small values are complete in their words: None, numbers of up to 64 bits,
strings and bytes of up to 7 bytes, data types, devices, pointers. Any other value is an object, borrowed from its
wrapper or created for the call: the call buffer keeps it until the call has ended.
"""

from __future__ import annotations

from math import inf
from operator import index as as_int

from ..._start.fork import new_lock
from ..._start.memo import remember_by_class
from ..context import hooks
from ..context.backend import WORDS, address_of, cast, core, new_chars, words_at
from ..context.binding import binding
from ..context.bound import borrows
from ..context.hidden import hidden
from ..context.numbers import (
    BOOL,
    DATA_TYPE,
    DEVICE,
    FLOAT,
    INT,
    INT64_MAX,
    INT64_MIN,
    NONE,
    OBJECT,
    OPAQUE_PTR,
    OPAQUE_PY_OBJECT,
    RVALUE_REF,
    SMALL_BYTES,
    SMALL_STR,
    TENSOR,
)
from ..context.texts import cut, messages
from ..object.call_buffers import Offer, announce, give, take
from ..object.errors import raise_pending
from ..object.identity import UNLISTED
from ..object.objects import Wrapper, complete, is_wrapper, let_find, settled
from . import exchanged, lent
from .exchanged import marked
from .lent import SMALL_SIZE
from .opaque import make_opaque
from .values import word_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..object.call_buffers import CallBuffer

    Callee = Any  # a Function, a Place inside one of its arguments, or a str that names the place in messages

__all__ = [
    "NeedsBinding",
    "Place",
    "is_opaque",
    "own",
    "own_last",
    "own_value",
    "put",
    "put_nested",
    "put_opaque",
    "set_conversion",
    "set_maker",
]

_DEPTH_LIMIT = 256


class NeedsBinding(Exception):
    """An argument of a Function is or contains an array whose class has a DLPack C exchange API or reports its stream,
    or a container that was returned under such an API. The C binding must make the call, because it sets the library's
    stream and allocator."""


@hidden
def put(frame: CallBuffer, i: int, value: Any, callee: Callee) -> None:
    """Convert an argument into the words at `i` of a call buffer. `callee` is for messages."""
    t = type(value)
    words = frame.words
    if t is int:
        if INT64_MIN <= value <= INT64_MAX:
            words[i] = INT
            words[i + 1] = value
        else:
            _put_big(frame, i, value, callee)
    elif t is float:
        words[i] = FLOAT
        frame.doubles[i + 1] = value
    elif value is None:
        words[i] = NONE
        words[i + 1] = 0
    elif t is bool:
        words[i] = BOOL
        words[i + 1] = 1 if value else 0
    elif t is str:
        _put_text(frame, i, value, callee)
    elif issubclass(t, Wrapper):  # isinstance() would trust a mock's __class__
        if marked and type(callee) is not str and exchanged.find(value) is not None:
            raise NeedsBinding
        if not value._ffi_address:
            complete(value)
        frame.held.append(value)  # as use() does
        address = value._ffi_address or settled(value)
        if value._ffi_listing == UNLISTED:  # from now on native code has the object, and may return it
            announce(frame, value, address)
        words[i] = cast(WORDS, address)[1] & 0xFFFFFFFF
        words[i + 1] = address
    elif t is bytes:
        _put_bytes(frame, i, value, SMALL_BYTES, callee)
    elif type(callee) is not str and callee._first and t in lent.type_words:
        if not (borrows(callee._first) and lent.put_container(frame, i, value, t)):
            _put_other(frame, i, value, t, callee, 0)
    else:
        _put_other(frame, i, value, t, callee, 0)


@hidden
def _put_text(frame: CallBuffer, i: int, text: str, callee: Callee) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        _put_bad_text(frame, i, text, callee)
        return
    may_lend = len(data) > SMALL_SIZE and type(callee) is not str and callee._first
    if not (may_lend and borrows(callee._first) and lent.put_text(frame, i, data)):
        _put_bytes(frame, i, data, SMALL_STR, callee)


@hidden
def _put_bytes(frame: CallBuffer, i: int, data: bytes, small_index: int, callee: Callee) -> None:
    n = len(data)
    words = frame.words
    if n <= SMALL_SIZE:
        words[i] = small_index | n << 32
        words[i + 1] = int.from_bytes(data, "little") if n else 0
        return
    spare = frame.spare
    at = 8 * frame.used
    if at + n <= 8 * frame.size:
        frame.memory[at : at + n] = data
        spare[0] = frame.address + at
    else:
        data_copy = new_chars(data)
        spare[0] = address_of(data_copy)
    spare[1] = n
    make = core.text if small_index == SMALL_STR else core.bytes
    words[i + 1] = 0
    try:
        failed = make(spare, words + i) != 0
    except BaseException:  # a signal handler raised
        if words[i + 1]:
            core.decref(words[i + 1])
        raise
    if failed:
        raise_pending(_name_of(callee))
    frame.held.append(words[i + 1])


@hidden
def _put_big(frame: CallBuffer, i: int, number: int, callee: Callee) -> None:
    n = (int.bit_length(number) // 64 + 1) * 8
    copy = new_chars(int.to_bytes(number, n, "little", signed=True))
    frame.spare[0] = address_of(copy)
    frame.spare[1] = n
    if core.big_int(frame.spare, frame.words + i) != 0:
        raise_pending(_name_of(callee))
    if frame.words[i] >= OBJECT:
        frame.held.append(frame.words[i + 1])


def _put_bad_text(frame: CallBuffer, i: int, text: str, callee: Callee) -> None:
    """Handle a str with lone surrogates: a function of a bound library gets it as an object of Python, others refuse
    it."""
    where, function = _where(i, callee), callee
    while type(function) is Place:
        function = function.callee
    if type(function) is not str and function._first:
        put_opaque(frame, i, text, callee, 0)
        return
    at = next(i for i, character in enumerate(text) if "\ud800" <= character <= "\udfff")
    raise UnicodeEncodeError("utf-8", text, at, at + 1, f"{where}: {messages.SURROGATES}") from None


# --- all other types ----------------------------------------------------------------------------------------------


@remember_by_class
def _kind_of(cls: type) -> tuple[int, Any]:
    kind, detail, _protocols = hooks.classify(cls)
    return kind, detail


def is_opaque(cls: type) -> bool:
    """Whether the instances of a class become an ffi.OpaquePyObject."""
    return bool(_kind_of(cls)[0] == binding.TAG_OPAQUE)


class Place:
    """An argument of a Function, for messages about the items inside."""

    __slots__ = ("callee", "i")

    _first = 0  # as in a Function that borrows no arguments

    def __init__(self, i: int, callee: Any) -> None:
        self.i = i
        self.callee = callee


def _name_of(callee: Callee) -> str:
    if type(callee) is Place:
        return _name_of(callee.callee)
    return callee if type(callee) is str else callee._name


def _where(i: int, callee: Callee) -> str:
    """Name an argument, or another converted value, for a message. Positions count from 1."""
    if type(callee) is str:
        return callee
    if type(callee) is Place:
        return _where(callee.i, callee.callee)
    name = callee._name
    return cut(f"{name}() argument {i // 2 + 1}", 255) if name else messages.ARGUMENT % (i // 2 + 1)


@hidden
def _put_other(frame: CallBuffer, i: int, value: Any, cls: type, callee: Callee, depth: int) -> None:
    kind, detail = _kind_of(cls)
    if depth >= _DEPTH_LIMIT and kind in _NESTED:
        raise ValueError(messages.TOO_DEEP % (_where(i, callee), _DEPTH_LIMIT))
    make = _makers.get(detail) if kind == binding.TAG_CONVERTER else None
    if make is not None:
        _put_new(frame, i, make(value))
    elif kind == binding.TAG_CONVERTER:
        converted = detail(value)
        mark = len(frame.held)
        put_nested(frame, i, converted, callee, depth + 1)
        own_last(frame, i, mark)  # the words may refer to memory of `converted`
    elif kind == binding.TAG_EXCHANGE or (kind == binding.TAG_DLPACK and hasattr(cls, "__tvm_ffi_env_stream__")):
        if type(callee) is not str:
            raise NeedsBinding
        _put_by_binding(frame, i, value, callee, depth)
    else:
        _BY_KIND[kind](frame, i, value, callee, depth)


def _put_new(frame: CallBuffer, i: int, address: int) -> None:
    """Make the words at `i` a new object, which is stolen."""
    frame.held.append(address)
    if hooks.object_made is not None:
        hooks.object_made(address)
    frame.words[i] = words_at(address)[1] & 0xFFFFFFFF
    frame.words[i + 1] = address


@hidden
def put_nested(frame: CallBuffer, i: int, value: Any, callee: Callee, depth: int) -> None:
    """Like put(), for a value inside another value."""
    t = type(value)
    if t in _PLAIN or issubclass(t, Wrapper):
        put(frame, i, value, callee)
    else:
        _put_other(frame, i, value, t, callee, depth)


_PLAIN = frozenset((int, float, bool, str, bytes, type(None)))


def own_last(frame: CallBuffer, i: int, mark: int) -> None:
    """Make the value at `i` independent of the Python value. The argument may have one entry in `held`, from `mark`
    on."""
    if len(frame.held) == mark:
        return
    held = frame.held[mark]
    if is_wrapper(held):
        address = frame.words[i + 1]
        core.incref(address)
        let_find(held)
        frame.held[mark] = address
    elif type(held) is Offer:
        address = held.take()
        frame.words[i] = words_at(address)[1] & 0xFFFFFFFF
        frame.words[i + 1] = address
        frame.held[mark] = address
        held.end()


@hidden
def _put_int(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    """Convert an integer of another class by its __index__."""
    try:
        number = value if isinstance(value, int) else as_int(value)
    except TypeError:
        if hasattr(type(value), "__index__") or hasattr(type(value), "__int__"):
            raise
        raise TypeError(messages.NOT_AN_INT % (_where(i, callee), type(value).__name__)) from None
    put(frame, i, int.__add__(number, 0), callee)


@hidden
def _put_float(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    """Convert a number of another class by its __float__. OverflowError for a finite number whose float is infinite."""
    number = float.__add__(value, 0.0) if isinstance(value, float) else float(value)
    if number in (inf, -inf) and not value == number:
        raise OverflowError(messages.NOT_A_FLOAT % (_where(i, callee), value))
    frame.words[i] = FLOAT
    frame.doubles[i + 1] = number


@hidden
def _put_str(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    try:
        data = str.encode(value)
    except UnicodeEncodeError:
        _put_bad_text(frame, i, value, callee)
        return
    _put_bytes(frame, i, data, SMALL_STR, callee)


@hidden
def _put_bytes_of(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    _put_bytes(frame, i, bytes.__getitem__(value, slice(None)), SMALL_BYTES, callee)


def _put_none(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    put(frame, i, value, callee)


def _put_data_type(frame: CallBuffer, i: int, value: Any, _callee: Callee, _depth: int) -> None:
    frame.words[i] = DATA_TYPE
    frame.words[i + 1] = word_of(value)


def _put_device(frame: CallBuffer, i: int, value: Any, _callee: Callee, _depth: int) -> None:
    frame.words[i] = DEVICE
    frame.words[i + 1] = word_of(value)


def _put_opaque_ptr(frame: CallBuffer, i: int, value: Any, _callee: Callee, _depth: int) -> None:
    frame.words[i] = OPAQUE_PTR
    frame.words[i + 1] = word_of(value)


@hidden
def put_opaque(frame: CallBuffer, i: int, value: Any, _callee: Callee, _depth: int) -> None:
    address = make_opaque(value)
    frame.held.append(address)
    frame.words[i] = OPAQUE_PY_OBJECT
    frame.words[i + 1] = address


@hidden
def _put_member(frame: CallBuffer, i: int, value: Any, callee: Callee, depth: int) -> None:
    address = getattr(value, "_ffi_native", 0) or _native_member(value)
    if not address:  # a combination of flags
        put_opaque(frame, i, value, callee, depth)
        return
    frame.words[i] = OPAQUE_PY_OBJECT
    frame.words[i + 1] = address


_members = new_lock()  # held while a member gets its native object


def _native_member(value: Any) -> int:
    """Return the native object that a member of a bound enum is passed as from now on; 0 for a combination of flags."""
    if value._name_ not in type(value).__members__:
        return 0
    with _members:
        if not hasattr(value, "_ffi_native"):
            value._ffi_native = make_opaque(value)
    address: int = value._ffi_native
    return address


@hidden
def _put_by_binding(frame: CallBuffer, i: int, value: Any, callee: Callee, depth: int) -> None:
    """Convert a tensor of another library through the C binding. If that refuses, the function may only read this
    argument, or take the elements."""
    try:
        address = binding.tensor_from_dlpack(value)
    except BufferError:
        place = callee if type(callee) is Place else Place(i, callee)
        replaced = hooks.replace_refused(place.callee, place.i // 2, value)
        if replaced is None:
            raise
        if replaced is not True:
            mark = len(frame.held)
            put_nested(frame, i, replaced, callee, depth + 1)
            own_last(frame, i, mark)
            return
        address = binding.tensor_to_read(value)
    frame.held.append(address)
    frame.words[i] = TENSOR
    frame.words[i + 1] = address


# --- moves --------------------------------------------------------------------------------------------------------


@hidden
def _put_rvalue(frame: CallBuffer, i: int, value: Any, callee: Callee, _depth: int) -> None:
    wrapper = value._object
    if not wrapper._ffi_is_repeated:  # else it stands for several wrappers, and a move would empty all of them
        offer = Offer(wrapper)
        frame.held.append(offer)
        if offer.begin():
            frame.words[i] = RVALUE_REF
            frame.words[i + 1] = offer.slot_at
            return
        frame.held.pop()
    put(frame, i, wrapper, callee)


_NESTED = (binding.TAG_SEQUENCE, binding.TAG_MAPPING, binding.TAG_DLPACK, binding.TAG_CONVERTER)
_BY_KIND: dict[int, Callable[[CallBuffer, int, Any, Callee, int], None]] = {
    binding.TAG_NONE: _put_none,
    binding.TAG_BOOL: _put_none,
    binding.TAG_INT: _put_int,
    binding.TAG_FLOAT: _put_float,
    binding.TAG_STR: _put_str,
    binding.TAG_BYTES: _put_bytes_of,
    binding.TAG_RVALUE_REF: _put_rvalue,
    binding.TAG_DATA_TYPE: _put_data_type,
    binding.TAG_DEVICE: _put_device,
    binding.TAG_OPAQUE_PTR: _put_opaque_ptr,
    binding.TAG_OPAQUE: put_opaque,
    binding.TAG_DLPACK: _put_by_binding,
    binding.TAG_MEMBER: _put_member,
}


def set_conversion(kind: int, put_kind: Callable[[CallBuffer, int, Any, Callee, int], None]) -> None:
    """Register the conversion for a tag: (call buffer, place in it, value, callee, depth)."""
    _BY_KIND[kind] = put_kind


_makers: dict[Any, Callable[[Any], int]] = {}


def set_maker(converter: Any, make: Callable[[Any], int]) -> None:
    """Register a function that makes the object of an argument, owned: a converter of TAG_CONVERTER would make a
    wrapper of the object, too."""
    _makers[converter] = make


# --- owned values -------------------------------------------------------------------------------------------------


@hidden
def own(frame: CallBuffer, i: int, out: Any) -> None:
    """Copy the value at `i` to `out`, which owns it. The objects in `held` must belong to this value only."""
    words = frame.words
    if not frame.held and words[i] & 0xFFFFFFFF < OBJECT:
        out[0] = words[i]
        out[1] = words[i + 1]
        return
    if core.own(words + i, out) != 0:
        raise_pending(messages.RETURN_VALUE)


@hidden
def own_value(value: Any, out: Any, place: str) -> None:
    """Convert a value into the two words at `out`, which own it. `place` names it in messages."""
    frame = take()
    try:
        put(frame, 0, value, place)
        own(frame, 0, out)
    finally:
        give(frame)
