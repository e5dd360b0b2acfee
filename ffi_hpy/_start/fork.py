"""Locks that are free in a child of fork, and imports that are complete there.

Other threads do not exist in a child: a lock that one of them holds would stay locked there, and a module that one of
them imports would stay incomplete. So a thread that forks first waits for such imports, then takes all locks of the
package, and releases them afterwards, in the parent and in the child. C code has its own handlers for its locks
(src/core/platform/fork.h). Python's handlers run only for os.fork().
"""

from __future__ import annotations

import os
import sys
from threading import Condition, RLock, get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_fork_in_child", "importing", "new_lock"]

_locks: list[RLock] = []
_taken: list[RLock] = []  # the locks that the fork in progress has taken
_to_put_right: list[Callable[[], object]] = []
_names: list[str] = []  # the package's modules, from the first fork on
# pathlib costs 5 ms of import time
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def new_lock() -> RLock:
    """Return a new lock of the package. The holder of the lock must not take another lock of the package nor import a
    module. The holder may take it again: a finalizer does so if the garbage collector runs one at that time."""
    lock = RLock()
    _locks.append(lock)
    return lock


class _Imports:
    """Counts the imports in progress, by thread, so that a fork can wait for them. A lock in place of the count could
    deadlock with Python's locks of modules, which one thread would take before it and another after it."""

    def __init__(self) -> None:
        self._lock = new_lock()  # not held during an import; the first lock, because imported modules may create others
        self._changed = Condition(self._lock)
        self._depths: dict[int, int] = {}  # the threads that import, and the number of imports nested in each

    def __enter__(self) -> None:
        me = get_ident()
        with self._lock:
            self._depths[me] = self._depths.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        me = get_ident()
        with self._lock:
            self._depths[me] -= 1
            if not self._depths[me]:
                del self._depths[me]
                self._changed.notify_all()

    def wait_for_others(self) -> None:
        """Wait until no other thread imports. The calling thread may itself be importing the module that another thread
        waits for, so the time is limited."""
        me = get_ident()
        with self._lock:
            self._changed.wait_for(lambda: not self._depths.keys() - {me}, PATIENCE)

    def forget_others(self) -> None:
        """Forget the threads of the parent, in a child."""
        me = get_ident()
        self._depths = {me: self._depths[me]} if me in self._depths else {}


PATIENCE = 10.0  # seconds
importing = _Imports()
"""Entered by functions while they import a module of this package or of the standard library: no fork happens then."""


def at_fork_in_child(put_right: Callable[[], object]) -> None:
    """Register a function to call in a child of fork, on its only thread, with all locks held."""
    _to_put_right.append(put_right)


def _is_being_imported(module: object) -> bool:
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _find_names() -> list[str]:
    """Return the full names of the package's modules, from its folder."""
    package = (__package__ or "").rpartition(".")[0]
    names = []
    for folder, below, files in os.walk(_HERE):
        if "__init__.py" not in files:
            below.clear()
            continue
        parts = folder[len(_HERE) :].split(os.sep)  # noqa: PTH206
        prefix = ".".join([package, *parts[1:]])
        modules = (os.path.splitext(file) for file in files)  # noqa: PTH122
        names += [prefix if name == "__init__" else f"{prefix}.{name}" for name, kind in modules if kind == ".py"]
    return names


def _before() -> None:
    # One by one: iterating over sys.modules takes the lock of that dict, and CPython without a GIL may pass it to a
    # waiting thread just before the fork. In the child the lock would stay locked.
    if not _names:
        _names.extend(_find_names())
    for name in _names:
        module = sys.modules.get(name)
        if module is not None and _is_being_imported(module):
            try:
                __import__(name)  # waits until the importing thread has finished
            except Exception:
                pass  # the importing thread gets the error and the module is removed; the child imports it again
    lock, *others = _locks
    lock.acquire()
    _taken.append(lock)
    importing.wait_for_others()  # ends with the lock held: no import begins before the fork
    for lock in others:
        lock.acquire()
        _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _after_in_child() -> None:
    importing.forget_others()
    for put_right in _to_put_right:
        put_right()
    _after()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
