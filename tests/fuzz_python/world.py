"""The state of a worker: its random numbers, its pool of values, and the limits of the current call."""

from __future__ import annotations

import math
import random
import sys
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from journal import Journal

N_SLOTS = 96
MISCHIEFS_PER_CALL = 60  # ends recursion through a container
QUESTIONS_PER_CALL = 20_000  # a walk of a value that contains itself calls each of a million levels
DEEPEST_CALL = 3
IS_PYPY_8 = getattr(sys, "pypy_version_info", (0,)) >= (8,)


class Planned(BaseException):
    """Raised on purpose. This class is not an Exception, and must come out of native code unchanged."""


class World:
    """The state of one thread.

    The random numbers of a call depend only on the seed and the call's number, and so does the slot for its result. So
    a call does the same in a replay without some other calls, as long as it does not use their results.
    """

    def __init__(self, seed: int, journal: Journal, pool: list[Any]) -> None:
        self.seed = seed
        self.journal = journal
        self.pool = pool
        self._random = random.Random(0)
        self.below_one = self._random.random
        self.mischiefs_left = 0
        self.questions_left = math.inf
        self.depth = 0
        self.is_planned = False  # a BaseException was raised on purpose in this call
        self.is_big = False  # a large integer was used, so a MemoryError is allowed
        self.dangerous: Callable[[], Any] = lambda: None  # calls something at random

    def begin(self, call: int) -> None:
        """Start a call."""
        self.journal.begin(call)
        self._random.seed(self.seed << 32 | call)
        self.mischiefs_left = MISCHIEFS_PER_CALL
        self.questions_left = QUESTIONS_PER_CALL
        self.depth = 0
        self.is_planned = False
        self.is_big = False

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        return int(self.below_one() * n)

    def pick(self, choices: Sequence[Any]) -> Any:
        """Return one of the choices."""
        return choices[int(self.below_one() * len(choices))]

    def one_in(self, n: int) -> bool:
        """Return True once in n times."""
        return self.below_one() * n < 1

    def note_question(self) -> None:
        """Count a call to a hostile object or callback. Raises an exception at the limit."""
        self.questions_left -= 1
        if self.questions_left < 0:
            raise RuntimeError("enough")

    def may_go_wild(self) -> bool:
        """Return whether a hostile object may do mischief now."""
        if self.mischiefs_left <= 0:
            return False
        self.mischiefs_left -= 1
        return True


class _Current(threading.local):
    world: World


_current = _Current()


def set_world(world: World) -> None:
    """Set the world of this thread."""
    _current.world = world


def here() -> World:
    """Return the world of this thread; without one, a tame world in which hostile objects are harmless."""
    try:
        return _current.world
    except AttributeError:
        _current.world = _tame
        return _tame


def is_tame() -> bool:
    """Return whether hostile objects are harmless now."""
    return here() is _tame


@contextmanager
def tame() -> Iterator[None]:
    """Make hostile objects harmless, for code that the interpreter runs at any time: it must not use the random numbers
    of a call."""
    before = here()
    _current.world = _tame
    try:
        yield
    finally:
        _current.world = before


class Silent:
    call = -1

    def begin(self, call: int) -> None: ...
    def write(self, text: str) -> None: ...


_tame = World(0, Silent(), [None] * N_SLOTS)  # type: ignore[arg-type]


def shown(value: Any) -> str:
    """Return a short text for a value. Runs no code of the value's class."""
    cls = type(value)
    if value is None or cls in (bool, int, float, complex):
        try:
            return repr(value)[:40]
        except ValueError:  # an int with too many digits
            return "<int>"
    if cls in (str, bytes, bytearray):
        return repr(value[:24]) + ("" if len(value) <= 24 else f"[:{len(value)}]")
    if cls in (list, tuple) and len(value) <= 4:
        return f"{cls.__name__}({', '.join(shown_flat(item) for item in value)})"
    return shown_flat(value)


def shown_flat(value: Any) -> str:
    cls = type(value)
    if cls is type or issubclass(cls, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    if cls in (bool, int, float):
        return shown(value)
    return f"<{type.__dict__['__name__'].__get__(cls)}>"
