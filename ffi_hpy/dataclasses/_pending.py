"""Classes whose fields wait for names that other classes define.

A class is first registered as a type, so that annotations can name it. The class is completed when all its annotations
can be resolved: at once, after another class was completed, or when its first instance is created. One thread completes
a class; others that need it wait. No lock is held while annotations and hooks run.
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

    `attempt` completes the class and returns an empty set. Or it changes nothing and returns the reasons to wait: names
    that are not defined yet, or Definitions that are not complete. An exception from it ends the definition, after
    `undo`. `failure` then contains the reason.
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
        """Try to complete the class, and return whether it is complete. Raises the exception that makes the definition
        fail; TypeError if it failed before; RuntimeError if completing the class needs the class itself."""
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
        """Complete the classes that waited for the name of this class, then the classes that waited for a class that is
        now complete, and so on. If this class is complete, also try a few waiting classes of its module, because names
        may be defined by other statements than a class. A failing class is not an error here: creating an instance of
        it raises the error."""
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
        """Begin to wait for the missing names. The caller has the lock."""
        self._missing = missing
        _waiting[self.key] = self
        _turns.setdefault(self.cls.__module__, {})[self] = None
        for wanted in missing:
            _wanting.setdefault(wanted, {})[self] = None

    def _end_wait(self) -> bool:
        """Stop waiting, and return whether it waited. The caller has the lock."""
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
        """Whether the definition depends on a thread: that thread completes it, or completes a definition that its
        worker waits for."""
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
        """Wait until no thread completes the definition. The caller has the lock."""
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
_turns: dict[str, dict[Definition, None]] = {}  # by module: waiting definitions; the one tried longest ago comes first
_wanting: dict[Any, dict[Definition, None]] = {}  # by name or Definition: the definitions that wait for it
_free: deque[Definition] = deque()  # definitions that wait for nothing any more and can be tried
_waits_for: dict[int, Definition] = {}  # by waiting thread: the definition that another thread completes


def _forget_other_threads() -> None:
    """Run in a child of fork: any thread can complete a definition that another thread was completing."""
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
    """Record that a name or Definition is there now: definitions that waited only for it can be tried. The caller has
    the lock."""
    for definition in _wanting.pop(there, ()):
        definition._missing.discard(there)
        if not definition._missing:
            _free.append(definition)


_MOST_OTHERS = 8


def _look_at_others(module: str) -> None:
    """Find, among a few waiting classes of a module, the classes that can be tried because a missing name is defined
    now. The caller has the lock. Only one name is looked up per class, so that many classes, and classes with many
    fields, may wait."""
    turns = _turns.get(module, {})
    for definition in list(islice(turns, _MOST_OTHERS)):
        turns[definition] = turns.pop(definition)
        name = next(iter(definition._missing), None)
        if isinstance(name, str) and is_defined(definition.cls, name):
            _free.append(definition)


def give_up(key: str) -> None:
    """End the definition that waits under a type key, so that another class can use the key."""
    definition = _waiting.get(key)
    if definition is not None:
        definition.end("it was replaced before its fields were complete")
