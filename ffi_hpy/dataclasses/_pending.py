"""Classes whose fields wait for names that other classes define.

A class is first registered as a type, so that annotations can name it. It is completed when all its annotations can be
resolved: at once, or after another class was completed, or when its first instance is made. One thread completes a
class; others that need it wait. No lock is held while annotations and hooks run.
"""

from __future__ import annotations

import threading

from .._start.fork import at_fork_in_child, new_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Definition", "complete_others", "give_up"]


class Definition:
    """The definition of one class, from its decorator until its type is complete.

    `attempt` completes the class and returns True, or changes nothing and returns False while names are missing. An
    exception that it raises ends the definition, after `undo`. `failure` then tells the reason.
    """

    def __init__(self, cls: type, key: str, attempt: Callable[[], bool], undo: Callable[[], None]) -> None:
        self.cls = cls
        self.key = key
        self.failure: str | None = None
        self.is_done = False
        self._attempt = attempt
        self._undo = undo
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
        done, failure = False, None
        try:
            done = self._attempt()
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"
            self._undo()
            raise
        finally:
            with _changed:
                self._worker = None
                _in_progress.discard(self)
                self.is_done, self.failure = done, failure
                if done or failure is not None:
                    _waiting.pop(self.cls, None)
                else:
                    _waiting[self.cls] = self
                _changed.notify_all()
        return done

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
            if _waiting.pop(self.cls, None) is None:
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
_waiting: dict[type, Definition] = {}
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


def complete_others() -> None:
    """Try all classes that wait, until none of them can be completed any more. A class that fails is not an error here:
    making an instance of it raises the error."""
    progress = True
    while progress:
        progress = False
        for definition in list(_waiting.values()):
            if definition._worker is not None:  # that thread completes the others itself
                continue
            try:
                progress = definition.complete() or progress
            except Exception:
                progress = True


def give_up(key: str) -> None:
    """End the definition that waits under a type key, so that another class can have it."""
    for definition in list(_waiting.values()):
        if definition.key == key:
            definition.end("it was replaced before its fields were complete")
