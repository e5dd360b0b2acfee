"""TracebackManager: tvm_ffi's class for tracebacks that name places outside of Python."""

from __future__ import annotations

from .traceback import extend_traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["TRACEBACK_MANAGER", "TracebackManager"]


class TracebackManager:
    """Makes entries of tracebacks for frames that Python never ran."""

    def append_traceback(self, tb: TracebackType | None, filename: str, lineno: int, func: str) -> TracebackType:
        """A traceback that begins with an entry for that place, and goes on with `tb`."""
        extended = extend_traceback(tb, [(filename, lineno, func)])
        assert extended is not None  # it has one entry at least
        return extended


TRACEBACK_MANAGER = TracebackManager()
