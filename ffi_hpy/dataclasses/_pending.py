"""Classes whose fields wait for names that other classes define.

A class is first registered as a type, so that annotations can name it. It is completed when all its annotations can be
resolved: at once, or after another class was completed, or when its first instance is made. One thread completes a
class; others that need it wait. No lock is held while annotations and hooks run.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice

from .._start.fork import at_fork_in_child, new_lock
from ._annotations import is_defined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Definition", "give_up"]


class Definition:
    """The definition of one class, from its decorator until its type is complete.

    `attempt` completes the class and returns nothing that it waits for, or changes nothing and returns names that are
    not there yet, or Definitions that are not complete. An exception that it raises ends the definition, after `undo`.
    `failure` then tells the reason.
    """

    def __init__(self, cls: type, key: str, attempt: Callable[[], set[Any]], undo: Callable[[], None]) -> None:
        self.cls = cls
        self.key = key
        self.failure: str | None = None
        self.is_done = False
        self._attempt = attempt
        self._undo = undo
        self._missing: set[Any] = set()
        self._worker: int | None = None  # the thread that is completing it

    def complete(self) -> bool:
        """Whether the class is complete; tries to complete it first. Raises the exception that makes the definition
        fail, and TypeError if it has failed before; RuntimeError if completing the class needs the class itself."""
        with _changed:
            self._wait_for_worker()
            if self.failure is not None:
                raise TypeError(f"{self.cls.__qualname__} has no type, its definition failed: {self.failure}")
            if self.is_done:
                return True
            self._worker = threading.get_ident()
            _in_progress.add(self)
        missing, failure = set(), None
        try:
            missing = self._attempt()
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"
            self._undo()
            raise
        finally:
            with _changed:
                self._worker = None
                _in_progress.discard(self)
                self._end_wait()
                self.is_done, self.failure = not missing and failure is None, failure
                if missing:
                    self._begin_wait(missing)
                else:
                    _set_free(self)
                _changed.notify_all()
        return self.is_done

    def complete_others(self) -> None:
        """Complete the classes that waited for the name of this one, those that wait for a class that is complete now,
        and so on. If this one is complete, a few others of its module are looked at, because names come by other ways
        than a class. A class that fails is not an error here: making an instance of it raises the error."""
        with _changed:
            _set_free(self.cls.__name__)
            if self.is_done:
                _look_at_others(self.cls.__module__)
        while _free:
            try:
                definition = _free.popleft()
            except IndexError:  # another thread has taken it
                return
            if definition._worker is None and definition.failure is None:
                try:
                    definition.complete()
                except Exception:
                    pass

    def _begin_wait(self, missing: set[Any]) -> None:
        """Wait, under the lock, for what is missing."""
        self._missing = missing
        _waiting[self.key] = self
        _turns.setdefault(self.cls.__module__, {})[self] = None
        for wanted in missing:
            _wanting.setdefault(wanted, {})[self] = None

    def _end_wait(self) -> bool:
        """Wait, under the lock, no longer. Whether it waited."""
        if _waiting.get(self.key) is not self:
            return False
        del _waiting[self.key], _turns[self.cls.__module__][self]
        for wanted in self._missing:
            others = _wanting[wanted]
            del others[self]
            if not others:
                del _wanting[wanted]
        return True

    def _needs(self, thread: int) -> bool:
        """Whether the definition depends on a thread: that thread works on it, or on a definition that its worker waits
        for."""
        definition: Definition | None = self
        while definition is not None and definition._worker is not None:
            if definition._worker == thread:
                return True
            definition = _waits_for.get(definition._worker)
        return False

    def end(self, failure: str) -> None:
        """End a definition that waits. Does nothing if it does not wait."""
        with _changed:
            self._wait_for_worker()
            if not self._end_wait():
                return
            self.failure = failure
        self._undo()

    def _wait_for_worker(self) -> None:
        """Wait, under the lock, until no thread works on the definition."""
        me = threading.get_ident()
        while self._worker is not None:
            if self._needs(me):
                raise RuntimeError(f"{self.cls.__qualname__} is used while it is being defined")
            _waits_for[me] = self
            try:
                _changed.wait()
            finally:
                del _waits_for[me]


_changed = threading.Condition(new_lock())
_in_progress: set[Definition] = set()  # definitions that have a worker
_waiting: dict[str, Definition] = {}  # by type key
_turns: dict[str, dict[Definition, None]] = {}  # by module: those that wait; looked at longest ago comes first
_wanting: dict[Any, dict[Definition, None]] = {}  # by name or Definition: those that wait for it
_free: deque[Definition] = deque()  # those whose last missing name is there: to be tried
_waits_for: dict[int, Definition] = {}  # by waiting thread: the definition that another thread works on


def _forget_other_threads() -> None:
    """In a child of fork: a definition that another thread was completing can be completed anew by any thread."""
    me = threading.get_ident()
    for definition in list(_in_progress):
        if definition._worker != me:
            definition._worker = None
            _in_progress.discard(definition)
    for thread in list(_waits_for):
        if thread != me:
            del _waits_for[thread]


at_fork_in_child(_forget_other_threads)


def _set_free(there: Any) -> None:
    """Note, under the lock, that a name or Definition is there: what waited for nothing else can be tried."""
    for definition in _wanting.pop(there, ()):
        definition._missing.discard(there)
        if not definition._missing:
            _free.append(definition)


_MOST_OTHERS = 8


def _look_at_others(module: str) -> None:
    """Note, under the lock, which of a few classes of a module that wait can be tried: one of the names that they lack
    is there. A single name is looked up for each, so that many classes, and classes with many fields, may wait."""
    turns = _turns.get(module, {})
    for definition in list(islice(turns, _MOST_OTHERS)):
        turns[definition] = turns.pop(definition)
        name = next(iter(definition._missing), None)
        if isinstance(name, str) and is_defined(definition.cls, name):
            _free.append(definition)


def give_up(key: str) -> None:
    """End the definition that waits under a type key, so that another class can have it."""
    definition = _waiting.get(key)
    if definition is not None:
        definition.end("it was replaced before its fields were complete")
