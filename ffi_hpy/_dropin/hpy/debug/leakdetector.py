"""Finds handles that an extension in debug mode has opened and not closed."""

from __future__ import annotations

from ..universal import _debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from .._debug import DebugHandle

__all__ = ["HPyDebugError", "HPyLeakError", "LeakDetector"]


class HPyDebugError(Exception):
    """The base class for errors that debug mode finds."""


class HPyLeakError(HPyDebugError):
    """Handles that are still open: `leaks`, in the order of opening."""

    def __init__(self, leaks: list[DebugHandle]) -> None:
        super().__init__()
        self.leaks = leaks

    def __str__(self) -> str:
        n = len(self.leaks)
        return "\n".join([f"{n} unclosed handle{'' if n == 1 else 's'}:", *(f"    {leak!r}" for leak in self.leaks)])


class LeakDetector:
    """Raises HPyLeakError from `stop` for handles that were opened since `start` and are still open. A `with` statement
    calls both."""

    def __init__(self) -> None:
        self.generation: int | None = None

    def start(self) -> None:
        if self.generation is not None:
            raise ValueError("LeakDetector already started")
        self.generation = _debug.new_generation()

    def stop(self) -> None:
        if self.generation is None:
            raise ValueError("LeakDetector not started yet")
        leaks = _debug.get_open_handles(self.generation)
        if leaks:
            raise HPyLeakError(leaks)

    def __enter__(self) -> LeakDetector:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
