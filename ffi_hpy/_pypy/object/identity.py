"""The instance map: finds the wrapper of a live native object, so that `a.x is a.x`.

The map has a weak reference to each registered wrapper (names in the code say "listed"). A wrapper is registered when
its object may have other owners: at creation if the reference count says so, otherwise after the first call that leaves
the object with other owners, or when its address is requested. An object with one owner costs nothing here: on PyPy a
weak reference costs more than everything else in a short life.

Native code may still return such an object: during the call, or because it finds an instance of a bound class by the
address of its value, which a constructor or a method of C++ has stored. So an object is marked while its wrapper is not
registered, and `objects.wrap` looks for the wrapper of a marked object: first in the calls in progress, and then among
all objects. A class whose objects need the second search often registers its wrappers early (`_ffi_is_late`).

A wrapper with state (`_ffi_has_state`) is kept while its object may have other owners: `kept` has a strong reference,
so that the object returns to Python as the same wrapper. `preservation` removes the reference.

The entry of a dead wrapper stays until its finalizer removes it, or until a new wrapper replaces it.
"""

from __future__ import annotations

from weakref import ref

from ..._start.fork import new_lock
from ..context.backend import WORDS, cast, core, new_words
from ..context.numbers import BIND_UNLISTED
from ..context.py_owners import weak_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "LISTED",
    "NOT_KEPT",
    "UNLISTED",
    "WAITING",
    "OwnRef",
    "Usable",
    "at_rest",
    "changing",
    "find",
    "find_all",
    "has_entry",
    "held_by_calls",
    "is_marked",
    "is_used",
    "keep",
    "kept",
    "mark",
    "move",
    "moved",
    "new_pin",
    "pinned",
    "put_back",
    "register",
    "replace",
    "restore",
    "share",
    "take_out",
    "unlist",
    "unmark",
    "used_by_calls",
    "uses_of",
]

UNLISTED, WAITING, NOT_KEPT, LISTED = range(4)
"""The values of `_ffi_listing`. UNLISTED: the wrapper is not in the map. WAITING: it is not in the map, and its object
is marked. NOT_KEPT: it is in the map, has state, and is not kept. LISTED: it is in the map, or must not be."""

_table: dict[int, ref[Any]] = {}
held_by_calls: list[list[Any]] = []
"""The lists `held` of all call buffers. The wrappers that a call uses are items of such a list."""
changing = new_lock()
"""Held while an entry is added, replaced or removed, and while a wrapper's address changes. No foreign code runs under
this lock."""


kept: dict[int, list[Any]] = {}
"""Wrappers with state, by the address of their objects. Each list has one item and is emptied when it is removed:
PyPy's dict keeps removed objects alive after it has compacted its entries."""

moved: set[int] = set()
"""Objects that were moved away from a wrapper with state, to each of which the package has a weak reference. `kept` has
the wrapper: it gets the object back if the object returns to Python."""


def find(address: int) -> Any:
    """Return the wrapper that is registered for an object, None if there is none."""
    entry = _table.get(address)
    return None if entry is None else entry()


def find_all() -> list[Any]:
    """Return the registered wrappers."""
    found = (entry() for entry in list(_table.values()))
    return [wrapper for wrapper in found if wrapper is not None]


def share(wrapper: Any) -> Any:
    """Register a wrapper that has an object, and keep it if it has state. Returns the registered wrapper of the object:
    this one, unless there is another."""
    listed = register(wrapper)
    if listed._ffi_has_state:
        keep(listed)
    return listed


def has_entry(address: int) -> bool:
    """Whether there is an entry for an object, even if its wrapper is dead."""
    return address in _table


def keep(wrapper: Any) -> None:
    """Keep a wrapper alive if it is registered."""
    with changing:
        address = wrapper._ffi_address
        if find(address) is wrapper:
            there = kept.get(address)
            if not there or there[0] is not wrapper:
                kept[address] = [wrapper]
            wrapper._ffi_listing = LISTED


_MARK = BIND_UNLISTED << 32
"""The mark in the padding of a TVMFFIObject, which shares a word with the type index."""


def mark(address: int) -> bool:
    """Mark an object whose wrapper is not registered. False if its padding has another meaning."""
    header = cast(WORDS, address)
    word = header[1]
    if word >> 32:
        return bool(word >> 32 == BIND_UNLISTED)
    header[1] = word | _MARK
    return True


def unmark(address: int) -> None:
    """Remove the mark of mark()."""
    header = cast(WORDS, address)
    word = header[1]
    if word >> 32 == BIND_UNLISTED:
        header[1] = word & 0xFFFFFFFF


def is_marked(address: int) -> bool:
    """Whether an object has the mark of mark()."""
    return bool(cast(WORDS, address)[1] >> 32 == BIND_UNLISTED)


def register(wrapper: Any, listing: int = LISTED) -> Any:
    """Like share(), but do not keep the wrapper, whose `_ffi_listing` becomes NOT_KEPT on request."""
    entry = ref(wrapper)
    if entry() is None:  # `__del__` has resurrected the wrapper
        entry = OwnRef(wrapper)
    with changing:  # a thread that finds neither the entry nor the mark would make another wrapper
        address = wrapper._ffi_address
        if not address:  # moved away in the meantime
            return wrapper
        # PyPy, like CPython, has one weak reference without a callback for each object.
        there = _table.setdefault(address, entry)
        if there is not entry:
            other = there()
            if other is not None and other is not wrapper and other._ffi_address == address:
                wrapper._ffi_listing = UNLISTED
                return other
            _table[address] = entry
        wrapper._ffi_listing = listing
        unmark(address)
    return wrapper


class OwnRef(ref[Any] if TYPE_CHECKING else ref):  # type: ignore[misc]
    """A weak reference apart from others: ref() of a resurrected object returns its old reference, which is dead."""

    __slots__ = ()


def restore(wrapper: Any) -> None:
    """Register a wrapper again that the collector has taken for dead."""
    with changing:
        address = wrapper._ffi_address
        if address and find(address) is None:
            _table[address] = OwnRef(wrapper)
            wrapper._ffi_listing = LISTED


class Usable:
    """Base of all wrappers."""

    __slots__ = ()


def used_by_calls() -> Iterator[Any]:
    """The wrappers that calls in progress use."""
    for held in held_by_calls:
        for item in held:  # other threads append items and remove the last ones
            if issubclass(type(item), Usable):
                yield item


def uses_of(wrapper: Any) -> list[None]:
    """Return the uses of a wrapper by code without a call buffer: a list with an item for each use in progress. A list,
    because append and pop are atomic and counting is not. While it has items the handle is never moved away."""
    uses: list[None] | None = wrapper._ffi_uses
    if uses is None:
        with changing:
            uses = wrapper._ffi_uses
            if uses is None:
                uses = wrapper._ffi_uses = []
    return uses


_pins: list[Any] = []


def new_pin() -> Any:
    """Return a pin: three words, the last of which is the pointer to an object in use, or 0. A pin is cheaper than an
    item in a list of uses. Pins are reused and never freed."""
    words = new_words(3)
    _pins.append(words)
    return words


def pinned() -> set[int]:
    """Return the pointers to the objects that pins are on, and to the objects that calls use."""
    return {pin[2] for pin in _pins if pin[2]}.union(wrapper._ffi_address for wrapper in used_by_calls())


def is_used(wrapper: Any, address: int) -> bool:
    """Whether a call uses a wrapper, or its object at the given address."""
    if wrapper._ffi_uses or any(used is wrapper for used in used_by_calls()):
        return True
    return address != 0 and any(pin[2] == address for pin in _pins)


# A thread that changes a wrapper's address does so under the lock, and sets it to 0 first: a reader that finds 0 waits
# for the lock and reads again. A use is registered before the address is read. So a use that was registered before is
# seen here and prevents the change, and a use that is registered later reads the new address. The lock admits one
# thread: if two threads had read the address, the later one would put back an address that the first has stolen.


def at_rest(wrapper: Any) -> int:
    """Return the address of a wrapper under the lock, for a thread that read 0: no other thread is changing it then."""
    with changing:
        address: int = wrapper._ffi_address
        return address


def take_out(wrapper: Any) -> int:
    """Take the address out of a wrapper, and register a use for the caller. Returns -1 if a call uses the wrapper, or
    if the wrapper was returned again in the meantime (objects.wrap)."""
    uses = uses_of(wrapper)
    with changing:
        address = left = wrapper._ffi_address
        try:
            wrapper._ffi_address = 0
            if is_used(wrapper, address) or wrapper._ffi_is_repeated:
                return -1
            if address:
                uses.append(None)
            left = 0
        finally:  # the stack may be exhausted, or a signal handler may have raised
            wrapper._ffi_address = left
    return address  # type: ignore[no-any-return]


def put_back(wrapper: Any, address: int) -> bool:
    """Give a wrapper the object that was moved away from it, and that it steals. Returns False if it has another
    object, or this one again."""
    with changing:
        if wrapper._ffi_address:
            return False
        wrapper._ffi_is_repeated = False
        wrapper._ffi_address = address
        if address in moved:
            moved.discard(address)
            wrapper._ffi_listing = LISTED
            weak_end(address)  # not the last one
        return True


def _settle(wrapper: Any, old: int, is_listable: bool) -> None:
    """Update the flags of a wrapper whose old address is being replaced. The caller has the lock."""
    if wrapper._ffi_listing >= NOT_KEPT:
        unlist(old, wrapper)
    wrapper._ffi_listing = UNLISTED if is_listable else LISTED
    wrapper._ffi_is_repeated = False


def replace(wrapper: Any, new: int, is_listable: bool) -> int:
    """Replace the address of a wrapper. Returns the old address, which the caller then owns. Returns -1 and changes
    nothing if a call uses the wrapper. A wrapper that is not listable is never registered for its object."""
    uses_of(wrapper)
    with changing:
        old = given = wrapper._ffi_address
        try:
            wrapper._ffi_address = 0
            if is_used(wrapper, old):
                return -1
            _settle(wrapper, old, is_listable)
            given = new
        finally:
            wrapper._ffi_address = given
    return old  # type: ignore[no-any-return]


def move(source: Any, target: Any) -> int:
    """Move the address of a wrapper to another one, which is not listable until the caller registers it. Returns the
    result of replace(). A source that was returned more than once keeps its address, and the target gets a new
    reference."""
    uses_of(source)
    uses_of(target)
    with changing:
        old = given = target._ffi_address
        address = left = source._ffi_address
        try:
            target._ffi_address = source._ffi_address = 0
            if is_used(target, old) or is_used(source, address):
                return -1
            if address:
                unlist(address, None)  # any registered wrapper: from now on the target is the one to register
            _settle(target, old, False)
            if not source._ffi_is_repeated:
                source._ffi_listing = UNLISTED
                left = 0
            elif address:
                core.incref(address)
            given = address
        finally:
            target._ffi_address = given
            source._ffi_address = left
    return old  # type: ignore[no-any-return]


def unlist(address: int, wrapper: Any) -> bool:
    """Remove an entry if it belongs to `wrapper` or to a dead wrapper. With None, remove any entry. Returns whether an
    entry was removed."""
    with changing:
        entry = _table.get(address)
        if entry is None:
            return False
        listed = entry()
        if listed is None or listed is wrapper or wrapper is None:
            del _table[address]
            strong = kept.pop(address, None)
            if strong is not None:
                strong.clear()
            if listed is not None:
                listed._ffi_listing = UNLISTED
            return True
        return False
