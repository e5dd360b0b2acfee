"""Wrappers of native objects: their slots, their creation, and the table of their classes."""

from __future__ import annotations

import gc
from functools import wraps

from ..._start.fork import new_lock
from ..context import hooks
from ..context.backend import SAFE_CALL, cast, core, words_at
from ..context.bound import first_overload
from ..context.hidden import hidden
from ..context.numbers import FUNCTION
from ..context.texts import check_new, messages, raise_unmade
from .handle import Handle, new_handle
from .identity import (
    LISTED,
    NOT_KEPT,
    UNLISTED,
    WAITING,
    at_rest,
    find,
    is_marked,
    mark,
    put_back,
    register,
    share,
    used_by_calls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from typing_extensions import TypeGuard

__all__ = [
    "ONLY_REFERENCE",
    "Wrapper",
    "address_in",
    "builtins",
    "check_wrapper",
    "class_at",
    "class_set",
    "complete",
    "derives",
    "every_wrapper",
    "expect",
    "fits",
    "is_shared",
    "is_wrapper",
    "let_be_found",
    "let_find",
    "raise_no_handle",
    "record",
    "settled",
    "type_index_at",
    "type_index_in",
    "wrap",
    "wrap_apart",
    "wrapper_of",
]

_SLOTS = frozenset(
    (
        "_about",
        "_ffi_address",
        "_ffi_again",
        "_call",
        "_first",
        "_ffi_handle",
        "_ffi_is_finalized",
        "_ffi_listing",
        "_ffi_is_repeated",
        "_ffi_node",
        "_keeps_gil",
        "_kept",
        "_name",
        "_ffi_uses",
    )
)  # including the classes of Function and of handles
_SLOTS_OF_ALL = frozenset(name for name in _SLOTS if name.startswith("_ffi_"))


class Wrapper(Handle):
    """Owner of a reference to a native object, at `_ffi_address`; 0 before initialisation and after the object was
    moved away. The attribute names do not collide with the fields of user classes.

    `_ffi_listing`: whether the wrapper is in the instance map (identity.LISTED). `_ffi_is_repeated`: the wrapper was
    returned more than once, where each time could have created a new wrapper. A program that moves one such wrapper
    keeps the other wrappers, so a move leaves the handle. `_ffi_uses`: see identity.uses_of.
    """

    __slots__ = ("_ffi_is_repeated",)

    _ffi_is_repeated: bool
    _ffi_has_state = True
    """Whether the program can observe that a wrapper was created again. False for registered classes without slots, and
    for functions: several wrappers of a function may have different names."""
    _ffi_is_findable = False
    """Whether native code finds the object by its address, without a reference."""
    _ffi_is_late = True
    """Whether wrappers without state are registered as late as possible."""
    _ffi_is_function = False
    _ffi_declares = False
    """Whether the class or a class above it declares attributes or weak references."""

    def __new__(cls, /, *_args: Any, **_kwargs: Any) -> Any:
        if not isinstance(cls, type) or Wrapper not in cls.__mro__:
            check_new(cls, Wrapper, "CObject")
        self = new_handle(cls)
        self._ffi_address = 0
        self._ffi_listing = UNLISTED
        self._ffi_is_repeated = False
        self._ffi_uses = None
        return self

    def __init_subclass__(cls, /, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._ffi_has_state = not cls._ffi_is_function  # until it is registered
        cls._ffi_declares = _has_slots(cls) or any(_declares(base) for base in cls.__bases__)
        class_guard(cls)

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            raise_unmade(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    __getattr__._knows_slots = True  # type: ignore[attr-defined]


def is_wrapper(value: Any) -> TypeGuard[Wrapper]:
    """Whether a value is a wrapper. isinstance() would trust the `__class__` of a value such as a mock."""
    return issubclass(type(value), Wrapper)


# Methods of a subclass for its attributes get the program's attributes alone: they could refuse our slots, or use the
# object and recurse without end.


def class_guard(cls: type[Wrapper]) -> None:
    """Keep our slots from the methods `__getattr__`, `__setattr__` and `__getattribute__` that a class defines or
    inherits from a mixin. Called when the class is made, and when it gets such a method."""
    names = _SLOTS if cls._ffi_is_function else _SLOTS_OF_ALL
    for name, make in _GUARDS.items():
        own = getattr(cls, name)
        if own is not getattr(object, name, None) and not hasattr(own, "_knows_slots"):
            guarded: Any = hidden(wraps(own)(make(own, names)))
            guarded._knows_slots = True
            type.__setattr__(cls, name, guarded)


def _lookup(own: Any, names: frozenset[str]) -> Any:
    def __getattr__(self: Wrapper, name: str) -> Any:
        if name in names:  # missing in an object that only object.__new__() made
            raise_unmade(self)
        return own(self, name)

    return __getattr__


def _assignment(own: Any, names: frozenset[str]) -> Any:
    assign = object.__setattr__

    def __setattr__(self: Wrapper, name: str, value: object) -> None:
        if name in names:
            assign(self, name, value)
        else:
            own(self, name, value)

    return __setattr__


def _access(own: Any, names: frozenset[str]) -> Any:
    access = object.__getattribute__

    def __getattribute__(self: Wrapper, name: str) -> Any:
        return access(self, name) if name in names or name[:5] == "_ffi_" else own(self, name)

    return __getattribute__


_GUARDS = {"__getattr__": _lookup, "__setattr__": _assignment, "__getattribute__": _access}


def type_index_in(words: Any) -> int:
    """Return the type index in the header of an object, from its words."""
    index: int = words[1] & 0xFFFFFFFF
    return index


def type_index_at(address: int) -> int:
    """Return the type index in the header of an object."""
    return type_index_in(words_at(address))


ONLY_REFERENCE = 1 << 32 | 1  # one strong reference, and the weak one of all strong ones


def is_shared(address: int) -> bool:
    """Whether native code other than the owner of one reference may have a strong or weak reference."""
    shared: bool = words_at(address)[0] != ONLY_REFERENCE
    return shared


def derives(type_index: int, wanted: int, depth: int) -> bool:
    """Whether a type is another type, which is at `depth` below ffi.Object, or derives from it. An object of the first
    type must exist."""
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
_replaced: dict[int, tuple[type, ...]] = {}  # by type index: the classes that were registered before
_writing = new_lock()


def class_at(type_index: int) -> type | None:
    """The class registered for a type, None if there is none."""
    return _classes[type_index] if 0 <= type_index < len(_classes) else None


def fits(cls: type, type_index: int) -> bool:
    """Whether wrappers of a class may be registered for objects of a type: it is the class of the type, or a subclass
    of that class or of one that was replaced."""
    mro = cls.__mro__  # issubclass() may run foreign code
    return class_at(type_index) in mro or any(base in mro[1:] for base in _replaced.get(type_index, ()))


def class_set(type_index: int, cls: type, replaces: bool = True) -> type:
    """Register a class for a type; unless `replaces`, only if it has none. Returns the type's class."""
    with _writing:
        found = class_at(type_index)
        if found is not None and not replaces:
            return found
        while len(_classes) <= type_index:
            _classes.extend([None] * 256)
        _classes[type_index] = cls
        if found is not None:
            _replaced[type_index] = (*_replaced.get(type_index, ()), found)
        if found is not None and issubclass(found, Wrapper):
            found._ffi_has_state = not found._ffi_is_function  # objects get the other class from now on
        cls._ffi_has_state = _declares_state(cls)  # type: ignore[attr-defined]
        return cls


def _declares_state(cls: type) -> bool:
    """Whether wrappers of a class have attributes, weak references or a finalizer."""
    return getattr(cls, "__del__", None) is not getattr(Wrapper, "__del__", None) or _declares(cls)


def _declares(cls: type) -> bool:
    if issubclass(cls, Wrapper):
        return cls._ffi_declares
    return any(_has_slots(base) for base in cls.__mro__ if base is not object)


def _has_slots(cls: type) -> bool:
    slots = vars(cls).get("__slots__", ("__dict__",))
    named = (slots,) if isinstance(slots, str) else slots
    return "_ffi_weak_references" in vars(cls) or not _SLOTS.issuperset(named)


builtins: dict[int, Callable[[int], Any]] = {}
"""For types without a class: functions that steal an object and return its value."""


# --- wrappers -----------------------------------------------------------------------------------------------------


def _fill(wrapper: Any, type_index: int, address: int) -> None:
    wrapper._ffi_listing = UNLISTED
    wrapper._ffi_is_repeated = False
    wrapper._ffi_uses = None
    if type_index == FUNCTION:
        wrapper._about = 0
        wrapper._call = cast(SAFE_CALL, words_at(address)[3])
        wrapper._first = first_overload(address)
        wrapper._name = ""
        wrapper._keeps_gil = None
        wrapper._kept = None
    wrapper._ffi_address = address  # last, so that a wrapper whose creation a signal interrupts owns nothing


def _wrap_unregistered(type_index: int, address: int, shared: bool) -> Any:
    """Return the value of an object whose type has no class: another value, or a wrapper of the class that the package
    makes."""
    read = builtins.get(type_index)
    if read is not None:
        return read(address)
    try:
        cls = hooks.class_for_type_index(type_index)
    except BaseException:
        core.decref(address)
        raise
    return _wrap_as(cls, type_index, address, shared)


def _wrap_new(address: int, shared: bool) -> Any:
    type_index = type_index_at(address)
    cls = class_at(type_index)
    if cls is None:
        return _wrap_unregistered(type_index, address, shared)
    return _wrap_as(cls, type_index, address, shared)


def _wrap_as(cls: type, type_index: int, address: int, shared: bool) -> Any:
    try:
        wrapper: Any = new_handle(cls)
    except BaseException:
        core.decref(address)
        raise
    _fill(wrapper, type_index, address)  # not in the try block: after a signal both would release it
    if hooks.object_made is not None:
        record(wrapper)
    if shared:
        other = share(wrapper)
    elif wrapper._ffi_is_findable:
        other = let_be_found(wrapper, address)
    else:
        return wrapper
    if other is wrapper:
        return wrapper
    other._ffi_is_repeated = True
    if address_in(other) != address:  # another thread has just moved it away
        return wrapper
    wrapper._ffi_is_finalized = True  # no code has seen it, so its `__del__` must not run
    return other


def let_find(wrapper: Any) -> Any:
    """Register a wrapper that is not kept, so that the object's address leads to the wrapper. Returns the registered
    wrapper of the object."""
    if wrapper._ffi_listing >= NOT_KEPT:
        return wrapper
    # a call that leaves the object with other owners keeps a wrapper with state
    return register(wrapper, NOT_KEPT if wrapper._ffi_has_state else LISTED)


def let_wait(wrapper: Any) -> None:
    """Mark the object of a wrapper that is its only owner, or let_find() the wrapper."""
    if wrapper._ffi_is_late:
        wrapper._ffi_listing = WAITING  # before the mark, with which another thread finds and registers the wrapper
        if mark(wrapper._ffi_address):
            return
    let_find(wrapper)


def let_be_found(wrapper: Any, address: int) -> Any:
    """let_wait() for a new wrapper of an object that native code finds by the address of its value. Returns the
    registered wrapper: another thread may have found the object, and have looked for a wrapper before the mark was
    set."""
    let_wait(wrapper)
    return share(wrapper) if is_shared(address) else wrapper


def record(wrapper: Any) -> None:
    """Tell the package about a wrapper that has got its object, for the leak report, and let the report find the
    wrapper."""
    let_find(wrapper)
    hooks.object_made(wrapper._ffi_address)


def wrap(address: int) -> Any:
    """Return the wrapper of an object, which is stolen: the registered wrapper, or a new one of the type's class."""
    # A registered wrapper owns a reference. So an object whose only reference is the caller's has no registered
    # wrapper.
    if not is_shared(address):
        return _wrap_new(address, False)
    found = wrapper_of(address)
    if found is None:
        return _wrap_new(address, True)
    found._ffi_is_repeated = True
    if found._ffi_address == address:  # from now on it cannot be moved away (identity.take_out)
        core.decref(address)
        return found
    if found._ffi_has_state and not found._ffi_address and put_back(found, address):  # it was moved away
        return found
    return _wrap_new(address, True)


def every_wrapper() -> Iterator[Any]:
    """The wrappers with an object that the program can reach. Takes several times as long as a collection."""
    for value in gc.get_objects():
        if is_wrapper(value):
            try:
                has_object = value._ffi_address != 0
            except (AttributeError, TypeError, ValueError):
                continue  # object.__new__() made it, or another thread is making it
            if has_object:
                yield value


_MOST_SEARCHES = 4
_n_searches: dict[type, int] = {}
"""How often each class needed a search among all objects."""


def wrapper_of(address: int) -> Any:
    """Return the wrapper of an object that may have one, registered or not; None if there is none."""
    found = find(address)
    return _find_marked(address) if found is None and is_marked(address) else found


def _find_marked(address: int) -> Any:
    """Return the wrapper of a marked object, and register it; None if the program has dropped it."""
    for wrapper in used_by_calls():
        if wrapper._ffi_address == address:
            return let_find(wrapper)
    for wrapper in every_wrapper():  # at the price of the search, all marked objects
        own = address_in(wrapper)
        if own and is_marked(own):
            let_find(wrapper)
    found = find(address)
    if found is not None:
        cls = type(found)
        _n_searches[cls] = n = _n_searches.get(cls, 0) + 1
        if n == _MOST_SEARCHES:
            cls._ffi_is_late = False
    return found


def wrap_apart(address: int) -> Any:
    """Return a new wrapper of an object, which is stolen. The wrapper is not registered for the object."""
    return _wrap_new(address, False)


# --- a missing handle ---------------------------------------------------------------------------------------------


def raise_no_handle(wrapper: Any) -> NoReturn:
    """ValueError: the handle was moved away or never set."""
    raise ValueError(messages.NO_HANDLE % type(wrapper).__name__)


def complete(wrapper: Any) -> None:
    """Let the package give a wrapper without an object one, before a use of the wrapper begins."""
    if hooks.object_lacking is not None and not at_rest(wrapper):
        hooks.object_lacking(wrapper)


def address_in(wrapper: Any) -> int:
    """Return the address of a wrapper's object, 0 if it has none."""
    return wrapper._ffi_address or at_rest(wrapper)


@hidden
def settled(wrapper: Any) -> int:
    """Return the address of a wrapper that read as 0, because another thread may be replacing it. ValueError if it has
    none."""
    address = at_rest(wrapper)
    if not address:
        raise_no_handle(wrapper)
    return address


def check_wrapper(value: Any) -> None:
    """TypeError if a value is not a wrapper. A C method never runs with another type as its `self`, but a Python method
    can, and an object that answers to any attribute name would pass a number as an address."""
    if not is_wrapper(value):
        raise TypeError(f"expected an object with a native handle, got {type(value).__name__}")


def expect(wrapper: Any, type_index: int, depth: int) -> int:
    """Return the address of a wrapper's object, which the caller uses. ValueError if it has none, TypeError if its type
    is not `type_index`, which is at `depth` below ffi.Object, and does not derive from that."""
    check_wrapper(wrapper)
    address: int = wrapper._ffi_address or settled(wrapper)
    own = type_index_at(address)
    if own != type_index and not derives(own, type_index, depth):
        raise TypeError(messages.OTHER_TYPE % (type(wrapper).__name__, own))
    return address
