"""Wrappers of native objects: the slots that each has, how one is made, and the table of their classes."""

from __future__ import annotations

from functools import wraps
from warnings import catch_warnings, simplefilter

from ..._start.fork import new_lock
from ..context import hooks
from ..context.backend import SAFE_CALL, address_of, cast, core, new_words, words_at
from ..context.hidden import hidden
from ..context.holds import end_at, end_waiting, finish, waiting
from ..context.numbers import FUNCTION
from ..context.texts import check_new, raise_unmade
from .identity import at_rest, find, share, unlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from typing_extensions import TypeGuard

__all__ = [
    "Wrapper",
    "address_in",
    "check_wrapper",
    "class_at",
    "class_offer",
    "class_set",
    "derives",
    "expect",
    "is_shared",
    "is_wrapper",
    "raise_no_handle",
    "settled",
    "type_index_at",
    "type_index_in",
    "wrap",
    "wrap_apart",
]

_new = object.__new__


_SLOTS = frozenset(
    (
        "_about",
        "_ffi_address",
        "_call",
        "_ffi_is_listed",
        "_ffi_is_repeated",
        "_keeps_gil",
        "_kept",
        "_name",
        "_ffi_uses",
    )
)  # and those of Function


class Wrapper:
    """What owns a reference to a native object, at `_ffi_address`; 0 before it is initialised and after it was moved
    away. Its attributes have names that a class of a user has no field of.

    `_ffi_is_listed`: the table of wrappers has it, or must not have it. `_ffi_is_repeated`: it was given out again
    where each time could have made one of its own; a program that moves one of those keeps the others, so a move leaves
    the handle. `_ffi_uses`: see identity.uses_of.
    """

    __slots__ = ("__weakref__", "_ffi_address", "_ffi_is_listed", "_ffi_is_repeated", "_ffi_uses")

    _ffi_address: int
    _ffi_is_listed: bool
    _ffi_is_repeated: bool
    _ffi_uses: list[None] | None

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        check_new(cls, Wrapper, "CObject")
        self = _new(cls)
        self._ffi_address = 0
        self._ffi_is_listed = False
        self._ffi_is_repeated = False
        self._ffi_uses = None
        return self

    def __init_subclass__(cls, /, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__del__  # perhaps that of a mixin
        if not hasattr(own, "_ends_wrapper"):
            with catch_warnings():  # one says that it will not be called, but the base class has one
                simplefilter("ignore", RuntimeWarning)
                cls.__del__ = _finalizer(own)  # type: ignore[method-assign]
        lookup = cls.__getattr__
        if not hasattr(lookup, "_knows_slots"):
            cls.__getattr__ = _lookup(lookup)  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            raise_unmade(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    __getattr__._knows_slots = True  # type: ignore[attr-defined]

    def __del__(self) -> None:
        try:
            _end(self)
        except BaseException as interruption:  # a signal came
            finish(_end, self, interruption)

    __del__._ends_wrapper = True  # type: ignore[attr-defined]


_words: list[Any] = []
"""Words of memory for references that end: append and pop are atomic."""


def _end(wrapper: Wrapper) -> None:
    """Give up the reference of a wrapper that ends. A signal may interrupt any step, and then this is called again: the
    reference is in a word that is a second place for it, and whose end is one call."""
    try:
        address, word = wrapper._ffi_address, wrapper._ffi_uses
    except (AttributeError, TypeError):  # object.__new__() made it, or a signal has left it half made
        return
    if address:
        if wrapper._ffi_is_listed:  # as long as it is in the table, others may find the entry
            unlist(address, wrapper)
        try:
            word = _words.pop()
        except IndexError:
            word = new_words(1)
        word[0] = address
        wrapper._ffi_uses = word
        wrapper._ffi_address = 0
    if word is None or type(word) is list:
        return
    end_at(address_of(word))
    wrapper._ffi_uses = None
    _words.append(word)
    if waiting[0]:  # Python objects that it held: an idle program makes no call that would end them
        end_waiting()


def is_wrapper(value: Any) -> TypeGuard[Wrapper]:
    """Whether a value is a wrapper. isinstance() would believe what a value, such as a mock, says its class is."""
    return issubclass(type(value), Wrapper)


def _finalizer(own: Any) -> Any:
    """The `__del__` of a subclass that has one: its own, and then ours, whether or not its own calls that. PyPy runs
    either once: an object that its own brings back has no handle any more."""

    def __del__(self: Wrapper) -> None:
        try:
            own(self)
        finally:
            Wrapper.__del__(self)

    __del__._ends_wrapper = True  # type: ignore[attr-defined]
    return __del__


def _lookup(own: Any) -> Any:
    """The `__getattr__` of a subclass that has one: its own, but for our slots, which an object that only
    object.__new__() has made lacks. Its own would use the object for looking these up, without end."""

    @hidden
    @wraps(own)
    def __getattr__(self: Wrapper, name: str) -> Any:
        if name in _SLOTS:
            raise_unmade(self)
        return own(self, name)

    __getattr__._knows_slots = True  # type: ignore[attr-defined]
    return __getattr__


def type_index_in(words: Any) -> int:
    """The type index in the header of an object, by its words."""
    index: int = words[1] & 0xFFFFFFFF
    return index


def type_index_at(address: int) -> int:
    """The type index in the header of an object."""
    return type_index_in(words_at(address))


def is_shared(address: int) -> bool:
    """Whether an object has other owners than the caller."""
    shared: bool = words_at(address)[0] & 0xFFFFFFFF != 1
    return shared


def derives(type_index: int, wanted: int, depth: int) -> bool:
    """Whether a type, of which an object exists, is another one, which is at `depth` below ffi.Object, or derives from
    it."""
    if type_index == wanted or depth == 0:
        return True
    info = words_at(core.type_info(type_index))
    if (info[0] >> 32) <= depth:  # type_depth
        return False
    ancestor = words_at(words_at(info[3])[depth])  # type_ancestors[depth]
    own: int = ancestor[0] & 0xFFFFFFFF
    return own == wanted


# --- classes ------------------------------------------------------------------------------------------------------

_classes: list[type | None] = [None] * 256
_writing = new_lock()


def class_at(type_index: int) -> type | None:
    """The class registered for a type, None if there is none."""
    return _classes[type_index] if 0 <= type_index < len(_classes) else None


def class_set(type_index: int, cls: type) -> None:
    """Register a class for a type."""
    with _writing:
        _store(type_index, cls)


def _store(type_index: int, cls: type) -> None:
    while len(_classes) <= type_index:
        _classes.extend([None] * 256)
    _classes[type_index] = cls


def class_offer(type_index: int, cls: type) -> type:
    """Register a class for a type that has none. Returns the class that the type has then."""
    with _writing:
        found = class_at(type_index)
        if found is None:
            _store(type_index, cls)
            found = cls
        return found


def _class_of(type_index: int) -> type:
    try:
        cls = _classes[type_index]
    except IndexError:
        cls = None
    if cls is None:
        cls = hooks.class_for_type_index(type_index)
    return cls


# --- wrappers -----------------------------------------------------------------------------------------------------


def _fill(wrapper: Any, type_index: int, address: int) -> None:
    wrapper._ffi_is_listed = False
    wrapper._ffi_is_repeated = False
    wrapper._ffi_uses = None
    if type_index == FUNCTION:
        wrapper._about = 0
        wrapper._call = cast(SAFE_CALL, words_at(address)[3])
        wrapper._name = ""
        wrapper._keeps_gil = None
        wrapper._kept = None
    wrapper._ffi_address = address  # at last: a wrapper that a signal has left half made owns nothing


def _wrap_new(address: int, shared: bool) -> Any:
    type_index = type_index_at(address)
    try:
        wrapper: Any = _new(_class_of(type_index))
    except BaseException:
        core.decref(address)
        raise
    _fill(wrapper, type_index, address)  # not above: a signal at its end would have both give up the reference
    if not shared:
        return wrapper
    other = share(wrapper)
    if other is not wrapper:
        other._ffi_is_repeated = True
    return other


def wrap(address: int) -> Any:
    """The wrapper of an object, which is taken: the listed one, or a new one of the type's class."""
    # A listed wrapper owns a reference. So an object whose only reference is the caller's has none.
    if not is_shared(address):
        return _wrap_new(address, False)
    found = find(address)
    if found is None:
        return _wrap_new(address, True)
    found._ffi_is_repeated = True
    if found._ffi_address == address:  # not moved away before it was marked: now nobody does (identity.take_out)
        core.decref(address)
        return found
    return _wrap_new(address, True)


def wrap_apart(address: int) -> Any:
    """A new wrapper of an object, which is taken; it does not stand for the object."""
    return _wrap_new(address, False)


# --- what is said of a handle that is not there -------------------------------------------------------------------


def raise_no_handle(wrapper: Any) -> NoReturn:
    """ValueError: the handle was moved away or never set."""
    raise ValueError(f"this {type(wrapper).__name__} has no native object: it was moved away or never initialised")


def address_in(wrapper: Any) -> int:
    """The address of a wrapper's object, 0 if it has none."""
    return wrapper._ffi_address or at_rest(wrapper)


@hidden
def settled(wrapper: Any) -> int:
    """The address of a wrapper that had none a moment ago, because another thread may have been giving it another one.
    ValueError if it has none."""
    address = at_rest(wrapper)
    if not address:
        raise_no_handle(wrapper)
    return address


def check_wrapper(value: Any) -> None:
    """TypeError if a value is no wrapper. A method in C is never called with anything else as its `self`; one in Python
    is, and an object that answers to any name would hand it a number as an address."""
    if not is_wrapper(value):
        raise TypeError(f"expected an object with a native handle, got {type(value).__name__}")


def expect(wrapper: Any, type_index: int, depth: int) -> int:
    """The address of a wrapper's object, which the caller uses. ValueError if it has none, TypeError if that is not of
    a type, which is at `depth` below ffi.Object."""
    check_wrapper(wrapper)
    address: int = wrapper._ffi_address or settled(wrapper)
    own = type_index_at(address)
    if own != type_index and not derives(own, type_index, depth):
        raise TypeError(f"the native object of this {type(wrapper).__name__} is of another type (index {own})")
    return address
