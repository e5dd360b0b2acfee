"""Which wrapper stands for a native object while it lives, so that `a.x is a.x`.

The table has a weak reference to each listed wrapper. A wrapper is listed when others may have references to its
object: when it is made, if the reference count says so, else when the object is first passed to native code or asked
for its address. An object that stays with its maker costs nothing here.

The entry of a wrapper that has died stays until its finalizer takes it out, or a new wrapper takes its place.
"""

from __future__ import annotations

from weakref import ref

from ..._start.fork import new_lock
from ..context.backend import new_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["find", "is_used", "new_pin", "share", "take_out", "unlist", "uses_of"]

_table: dict[int, ref[Any]] = {}
_lock = new_lock()  # held while an entry is replaced or taken out


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
    with _lock:
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
        with _lock:
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


def take_out(wrapper: Any, is_lent: bool) -> int:
    """Take the address out of a wrapper; -1 if a call uses it. If it is lent, the taker uses it from then on, and a
    wrapper that was given out again meanwhile (objects.wrap) counts as used. One thread at a time: of two that had read
    the address, the later one would put back what the first has taken."""
    uses = uses_of(wrapper)
    with _lock:
        address: int = wrapper._ffi_address
        try:
            wrapper._ffi_address = 0  # whoever begins a use from now on finds none
            if is_used(wrapper, address) or (is_lent and wrapper._ffi_is_repeated):
                wrapper._ffi_address = address
                return -1
            if address and is_lent:
                uses.append(None)
        except BaseException:  # the stack has ended, or a signal has come
            wrapper._ffi_address = address
            raise
    return address


def unlist(address: int, wrapper: Any) -> None:
    """Take an entry out if it is that of `wrapper`, or of a wrapper that has died. For None: whoever is listed."""
    with _lock:
        entry = _table.get(address)
        if entry is None:
            return
        listed = entry()
        if listed is None or listed is wrapper or wrapper is None:
            del _table[address]
            if listed is not None:
                listed._ffi_is_listed = False
