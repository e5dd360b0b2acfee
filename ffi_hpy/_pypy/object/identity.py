"""Which wrapper stands for a native object while it lives, so that `a.x is a.x`.

The table has a weak reference to each listed wrapper. A wrapper is listed when others may have references to its
object: when it is made, if the reference count says so, else when the object is first passed to native code or asked
for its address. An object that stays with its maker costs nothing here.

The entry of a wrapper that has died stays until its finalizer takes it out, or a new wrapper takes its place.
"""

from __future__ import annotations

from weakref import ref

from ..._start.fork import new_lock
from ..context.backend import core, new_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "at_rest",
    "changing",
    "find",
    "is_used",
    "move",
    "new_pin",
    "replace",
    "share",
    "take_out",
    "unlist",
    "uses_of",
]

_table: dict[int, ref[Any]] = {}
changing = new_lock()
"""Held while an entry is replaced or taken out, and while a wrapper gets another address. No foreign code runs then."""


def find(address: int) -> Any:
    """The wrapper that stands for an object, None if there is none."""
    entry = _table.get(address)
    return None if entry is None else entry()


def share(wrapper: Any) -> Any:
    """List a wrapper that has an object. Returns the one that stands for the object: this one, unless another is."""
    entry = ref(wrapper)
    address = wrapper._ffi_address
    if not address:  # moved away just now
        return wrapper
    wrapper._ffi_is_listed = True
    there = _table.setdefault(address, entry)
    if there is entry:  # PyPy, as CPython, has one weak reference without a callback for each object
        if wrapper._ffi_address != address:  # moved away meanwhile: who did that may have looked for the entry before
            unlist(address, wrapper)
        return wrapper
    with changing:
        there = _table.get(address, entry)
        other = there()
        if other is None or other is wrapper or other._ffi_address != address:
            _table[address] = entry
            return wrapper
    wrapper._ffi_is_listed = False
    return other


def uses_of(wrapper: Any) -> list[None]:
    """The calls in progress that use the object of a wrapper: a list with an item for each, because adding to a list
    is atomic, and counting is not. Nobody moves the handle away meanwhile."""
    uses: list[None] | None = wrapper._ffi_uses
    if uses is None:
        with changing:
            uses = wrapper._ffi_uses
            if uses is None:
                uses = wrapper._ffi_uses = []
    return uses


_pins: list[Any] = []


def new_pin() -> Any:
    """Three words, of which the last one is the address of an object in use, or 0: that costs less than an item in a
    list. Pins are made once and used again."""
    words = new_words(3)
    _pins.append(words)
    return words


def is_used(wrapper: Any, address: int) -> bool:
    """Whether a call uses a wrapper, or the object at an address, which is its."""
    if wrapper._ffi_uses:
        return True
    return address != 0 and any(pin[2] == address for pin in _pins)


# A wrapper gives its address away, or gets another one, under the lock, and has none meanwhile: whoever reads it then
# waits for the lock and reads again. Whoever begins a use does so before it reads the address. So a use that began
# before is seen here, and refuses the change; one that begins later gets the new address. One thread at a time: of two
# that had read the address, the later one would put back what the first has taken.


def at_rest(wrapper: Any) -> int:
    """The address of a wrapper, for a thread that has found none: while no other thread is changing it."""
    with changing:
        address: int = wrapper._ffi_address
        return address


def take_out(wrapper: Any) -> int:
    """Lend the address of a wrapper, which has none from now on: the taker uses it. -1 if a call uses it, or if the
    wrapper was given out again meanwhile (objects.wrap)."""
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
        finally:  # the stack may have ended, or a signal have come
            wrapper._ffi_address = left
    return address  # type: ignore[no-any-return]


def _settle(wrapper: Any, old: int, is_listable: bool) -> None:
    """Under the lock: what is known of a wrapper that gets another address in place of an old one."""
    if wrapper._ffi_is_listed:
        unlist(old, wrapper)
    wrapper._ffi_is_listed = not is_listable
    wrapper._ffi_is_repeated = False


def replace(wrapper: Any, new: int, is_listable: bool) -> int:
    """Give a wrapper another address. Returns the one that it had, which is the caller's then, or -1, and nothing has
    changed, if a call uses it. If it is not listable, it never stands for its object."""
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
    """Move the address of a wrapper to another one, which is not listable until the caller says so. Returns as
    replace(). A source that was given out again keeps its address, and the other one gets a reference."""
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
                unlist(address, None)  # whichever wrapper is listed: from now on the target is the one to list
            _settle(target, old, False)
            if not source._ffi_is_repeated:
                source._ffi_is_listed = False
                left = 0
            elif address:
                core.incref(address)
            given = address
        finally:
            target._ffi_address = given
            source._ffi_address = left
    return old  # type: ignore[no-any-return]


def unlist(address: int, wrapper: Any) -> None:
    """Take an entry out if it is that of `wrapper`, or of a wrapper that has died. For None: whoever is listed."""
    with changing:
        entry = _table.get(address)
        if entry is None:
            return
        listed = entry()
        if listed is None or listed is wrapper or wrapper is None:
            del _table[address]
            if listed is not None:
                listed._ffi_is_listed = False
