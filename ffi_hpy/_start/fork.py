"""What a child of fork needs: locks that are free, and modules that are whole.

Other threads do not go on in a child, so a lock that one of them holds would never be given up there, and a module that
one of them imports would never be complete. Whoever forks first waits for such imports, then takes all locks of the
package, and gives them up afterwards, in the parent and in the child. What C code locks has handlers of its own
(src/core/platform/fork.h). Python knows of forks by os.fork() only.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from threading import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["at_fork_in_child", "import_whole", "new_lock"]

_locks: list[RLock] = []
_taken: list[RLock] = []  # those that the fork in progress has taken
_to_put_right: list[Callable[[], object]] = []


def new_lock() -> RLock:
    """A lock of the package. While it is held no other of them is taken and no module imported; its holder may take it
    again, as a finalizer does that the collector runs in between."""
    lock = RLock()
    _locks.append(lock)
    return lock


_importing = new_lock()  # the first, as what is imported may make and take others


def import_whole(name: str) -> ModuleType:
    """The module of a full name, for imports within functions: no fork happens while one of these is going on. The
    module must be of the standard library, or ours."""
    with _importing:
        return import_module(name)


def at_fork_in_child(put_right: Callable[[], object]) -> None:
    """Have a child of fork call a function, on its only thread, with all locks held."""
    _to_put_right.append(put_right)


def _is_being_imported(module: object) -> bool:
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _before() -> None:
    package = (__package__ or "").partition(".")[0]
    for name, module in list(sys.modules.items()):
        if (name == package or name.startswith(f"{package}.")) and _is_being_imported(module):
            try:
                import_module(name)  # waits for the thread that imports it
            except Exception:
                pass  # that thread is told; the module is gone then, which the child can bear
    for lock in list(_locks):
        lock.acquire()
        _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _after_in_child() -> None:
    for put_right in _to_put_right:
        put_right()
    _after()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
