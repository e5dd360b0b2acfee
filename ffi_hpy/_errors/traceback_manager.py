"""TracebackManager: tvm_ffi's class for traceback entries outside Python."""

from __future__ import annotations

from .traceback import extend_traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["TRACEBACK_MANAGER", "TracebackManager"]


class TracebackManager:
    """Creates traceback entries for frames that Python never ran."""

    def append_traceback(self, tb: TracebackType | None, filename: str, lineno: int, func: str) -> TracebackType:
        """Return a traceback that begins with an entry for that place and continues with `tb`."""
        extended = extend_traceback(tb, [(filename, lineno, func)])
        assert extended is not None  # it has at least one entry
        return extended


TRACEBACK_MANAGER = TracebackManager()
