"""Locks that a child of fork finds free: every lock of the package is made here.

Other threads do not go on in a child, so a lock that one of them holds would never be given up there. Whoever forks
takes all of them first and gives them up afterwards, in the parent and in the child. What C code locks has handlers of
its own (src/core/fork.h). Python knows of forks by os.fork() only.
"""

from __future__ import annotations

import os
from threading import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_fork_in_child", "new_lock"]

_register = getattr(os, "register_at_fork", None)  # not on Windows


def new_lock() -> RLock:  # type: ignore[valid-type]  # a function, as type checkers see it
    """A lock of the package. No other of them may be taken while it is held; its holder may take it again, as a
    finalizer does that the collector runs in between."""
    lock = RLock()
    if _register is not None:
        _register(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def at_fork_in_child(put_right: Callable[[], object]) -> None:
    """Have a child of fork call a function, on its only thread."""
    if _register is not None:
        _register(after_in_child=put_right)
