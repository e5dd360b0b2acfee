"""Preservation: a wrapper with state lives as long as its object.

A wrapper has state if its class is a subclass of the class registered for its type, declares slots (`__dict__` and
`__weakref__` too), or has `__del__`. Any other wrapper may be created again, because a program cannot observe the
difference.

No reference count shows when a program drops a wrapper. So a wrapper is kept (`identity.kept` refers to it) while
native code may own references to its object, whether the program has dropped it or not. After each full collection,
`_release_sole_owners` looks at the counts of the objects, and stops keeping each wrapper that is the only owner. If the
program has dropped that wrapper, the next collection ends it, and it releases the object. A wrapper owns a reference
all the time, so native code sees the same counts as without preservation.
"""

from __future__ import annotations

import sys

from ..context.backend import n_owners
from ..context.py_owners import finish, weak_end
from .cycles import search
from .identity import LISTED, NOT_KEPT, changing, is_used, keep, kept, moved, unlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

__all__ = ["look_after"]


def look_after(wrapper: Any, address: int) -> None:
    """Keep a wrapper whose object a call was offered and may have stolen, as long as the object lives elsewhere. Steals
    a weak reference to the object."""
    with changing:
        is_moved = not wrapper._ffi_address and n_owners(address) != 0
        if is_moved:
            moved.add(address)
            kept[address] = [wrapper]
        elif wrapper._ffi_address != address:
            unlist(address, wrapper)
    if is_moved:
        return
    if wrapper._ffi_address == address and n_owners(address) != 1:
        keep(wrapper)
    weak_end(address)


# --- after a collection -------------------------------------------------------------------------------------------


def _forget_moved() -> None:
    """Stop keeping wrappers without an object for an object that was destroyed, or that has another wrapper."""
    for address in list(moved):
        with changing:
            strong = kept.get(address)
            wrapper = strong[0] if strong else None
            if address not in moved or (wrapper is not None and not wrapper._ffi_address and n_owners(address)):
                continue
            moved.discard(address)
            unlist(address, wrapper)
        weak_end(address)


def _release_sole_owners() -> None:
    """Stop keeping the wrappers that are the only owners of their objects.

    Another thread may be passing such a wrapper to a call at this moment. The call begins a use before it reads
    `_ffi_listing`, and this function changes `_ffi_listing` before it looks for uses: either the use is seen here,
    or the call registers the wrapper again.
    """
    for address, strong in list(kept.items()):
        released = None
        with changing:
            if not strong:
                continue
            wrapper = strong[0]
            if wrapper._ffi_address != address or n_owners(address) != 1:
                continue
            wrapper._ffi_listing = NOT_KEPT
            if is_used(wrapper, address) or n_owners(address) != 1:
                wrapper._ffi_listing = LISTED
                continue
            if kept.get(address) is strong:
                del kept[address]
            released = strong.pop()
        del released, wrapper  # CPython may destroy the wrapper here, outside of the lock


def _release_unneeded() -> None:
    _release_sole_owners()
    if moved:
        _forget_moved()


class _Sentinel:
    """Ends with each full collection: PyPy runs its finalizer, in the function that calls gc.collect()."""

    __slots__ = ("is_explicit",)

    def __del__(self) -> None:
        try:
            self.is_explicit = _calls_collect(sys._getframe().f_back)  # None on a thread of native code
            _look(self)
        except BaseException as interruption:  # a signal handler raised: another collection searches
            finish(_look_shortly, self, interruption)
        finally:
            _watch()


_N_CALLERS = 4


def _calls_collect(frame: FrameType | None) -> bool:
    """Whether the function that PyPy has interrupted for finalizers seems to call gc.collect(). Finalizers interrupt
    each other, as do callbacks of weak references, so a few callers are asked."""
    n_left = _N_CALLERS
    while frame is not None and n_left:
        code = frame.f_code
        if "collect" in code.co_names + code.co_varnames:
            return True
        n_left -= code.co_name != "__del__"
        frame = frame.f_back
    return False


def _look(sentinel: Any) -> None:
    _release_unneeded()
    if search(sentinel.is_explicit):
        _release_unneeded()


def _look_shortly(_sentinel: Any) -> None:
    _release_unneeded()


def _watch() -> None:
    _Sentinel()


def _collecting(phase: str, info: dict[str, int]) -> None:
    if phase == "start" and info["generation"] == 2:
        _release_unneeded()


if TYPE_CHECKING or sys.implementation.name == "pypy":
    _watch()
else:
    import gc

    gc.callbacks.append(_collecting)
