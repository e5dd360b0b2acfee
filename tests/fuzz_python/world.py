"""The state of a worker: its dice, its pool of values, and what the call that runs may still do."""

from __future__ import annotations

import math
import random
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from journal import Journal

N_SLOTS = 96
MISCHIEFS_PER_CALL = 60  # so that what calls itself through a container ends
QUESTIONS_PER_CALL = 20_000  # a walk of what contains itself asks about each of a million levels
DEEPEST_CALL = 3
IS_PYPY_8 = getattr(sys, "pypy_version_info", (0,)) >= (8,)


class Planned(BaseException):
    """Raised on purpose, and no Exception: it must come out of native code as itself."""


class World:
    """One for each thread.

    A call draws from dice of its own, which the seed and its number make, and its result goes into a slot that its
    number gives. So a call does the same in a replay that leaves out others, as long as it does not use their results.
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
        self.is_big = False  # a large integer was used: running out of memory is no wonder
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
        """A number from 0 to n - 1."""
        return int(self.below_one() * n)

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of them."""
        return choices[int(self.below_one() * len(choices))]

    def one_in(self, n: int) -> bool:
        """True once in n times."""
        return self.below_one() * n < 1

    def note_question(self) -> None:
        """Count what the call asks of hostile objects and callbacks. Raises when it is enough."""
        self.questions_left -= 1
        if self.questions_left < 0:
            raise RuntimeError("enough")

    def may_go_wild(self) -> bool:
        """Whether a hostile object may do something now."""
        if self.mischiefs_left <= 0:
            return False
        self.mischiefs_left -= 1
        return True


class _Current(threading.local):
    world: World


_current = _Current()


def set_world(world: World) -> None:
    """Make it that of this thread."""
    _current.world = world


def here() -> World:
    """That of this thread; a thread that has none gets a tame one, which does nothing."""
    try:
        return _current.world
    except AttributeError:
        _current.world = _tame
        return _tame


class Silent:
    call = -1

    def begin(self, call: int) -> None: ...
    def write(self, text: str) -> None: ...


_tame = World(0, Silent(), [None] * N_SLOTS)  # type: ignore[arg-type]


def shown(value: Any) -> str:
    """A value in a few characters. Runs nothing of the value's own."""
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
