"""Debug mode of the HPy runtime: detects handles that are closed twice, used after closing, or never closed.

`FFI_HPY_DEBUG=1` in the environment loads ffi_hpy's own binding in debug mode, and every module that `ffi_hpy.hpy`
loads or imports; `ffi_hpy.hpy.load(name, path, debug=True)` loads one module in it. Misusing a handle then ends the
process; stderr names the handle, its opener and its closer. `set_on_invalid_handle` sets a function that is called
instead. Reading a `char *` after its handle was closed, or writing to it, ends the process with SIGSEGV.
`LeakDetector`, or in tests the fixture `leak_detector`, finds handles that stay open:

    from ffi_hpy.hpy_debug import leak_detector  # in conftest.py

Functions of extensions are named as in their definitions: module.function, package.Type.method, package.Type.tp_new.

Debug mode works on CPython, with and without the GIL, and on PyPy. On PyPy 7.3 it does not cover ffi_hpy's own binding,
because that runs on the interpreter's HPy runtime.
"""

from __future__ import annotations

from typing import NamedTuple

from . import _hpy  # type: ignore[attr-defined,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any

__all__ = [
    "ClosedHandle",
    "LeakDetector",
    "LeakedHandles",
    "Limits",
    "OpenHandle",
    "close",
    "closed_handles",
    "limits",
    "open_handles",
    "set_limits",
    "set_on_invalid_handle",
]

_SHOWN = 20  # handles in the text of an exception


class OpenHandle(NamedTuple):
    """A handle that an extension has opened and not closed. Arguments of running calls are excluded."""

    serial: int
    """The serial number of the handle in the process."""
    opener: str
    """The extension function that ran when the handle was opened."""
    value: object
    """The object. For a builder, the type that the builder creates; for a tracker, None."""
    kind: str
    """"handle", "builder" or "tracker"; builders and trackers are treated like handles."""
    word: int
    """The handle's value in the extension: `h._i` in a debugger."""
    stack: str
    """The native stack at the opening, if `set_limits` asked for it: a line for each frame, the innermost first."""

    def __str__(self) -> str:
        of = {"handle": f" of {type(self.value).__name__!r} object", "builder": f" of {self.value}"}.get(self.kind, "")
        return "\n    ".join([f"{self.kind} #{self.serial}{of}, opened by {self.opener}", *self.stack.splitlines()])


class ClosedHandle(NamedTuple):
    """A closed handle that is still remembered. The class has the members of OpenHandle, except for two."""

    serial: int
    opener: str
    closer: str
    """The extension function that ran when the handle was closed."""
    kind: str
    word: int
    stack: str
    n_text_bytes: int
    """The number of bytes kept of strings that `HPyUnicode_AsUTF8AndSize` and similar functions returned, so that
    reading them is detected."""


class LeakedHandles(AssertionError):
    """Raised if handles are open where none should be."""

    def __init__(self, handles: list[OpenHandle]) -> None:
        lines = [str(handle) for handle in handles[:_SHOWN]]
        if len(handles) > _SHOWN:
            lines.append(f"and {len(handles) - _SHOWN} more")
        super().__init__(f"{len(handles)} open handles:\n  " + "\n  ".join(lines))
        self.handles = handles
        """All open handles, in the order of opening. The list keeps their objects alive."""


def open_handles(since: int = 0) -> list[OpenHandle]:
    """Return the open handles, in the order of opening.

    Args:
        since: a serial number; only handles with greater numbers are returned.
    """
    rows = _hpy.debug_open(since)
    return [
        OpenHandle(serial, opener, value, kind, word, stack) for serial, kind, word, opener, _, value, _, stack in rows
    ]


def closed_handles(since: int = 0) -> list[ClosedHandle]:
    """Return the closed handles that are remembered, in the order of closing.

    Args:
        since: a serial number; only handles with greater numbers are returned.
    """
    rows = _hpy.debug_closed(since)
    return [
        ClosedHandle(serial, opener, closer, kind, word, stack, n_bytes)
        for serial, kind, word, opener, closer, _, n_bytes, stack in rows
    ]


def close(handle: OpenHandle) -> None:
    """Close a leaked handle.

    Args:
        handle: one of open_handles().

    Raises:
        ValueError: if the handle is not open.
    """
    _hpy.debug_close(handle.word)


class Limits(NamedTuple):
    """Limits on the data that debug mode remembers."""

    n_closed: int
    """The number of closed handles that are remembered; the oldest are forgotten first."""
    n_text_bytes: int
    """The number of bytes kept of strings of closed handles, so that reading them is detected."""
    n_frames: int
    """The number of frames of the native stack that are recorded when a handle is opened. The default is 0, because
    recording is slow."""


def limits() -> Limits:
    """Return the current limits."""
    return Limits(*_hpy.debug_limits())


def set_limits(new: Limits) -> Limits:
    """Set the limits: `set_limits(limits()._replace(n_frames=16))`.

    Args:
        new: the limits.

    Returns:
        The previous limits.
    """
    return Limits(*_hpy.debug_limits(*new))


class LeakDetector:
    """Finds handles that were opened between `start` and `stop`, on any thread, and that are still open.

    As a context manager it raises LeakedHandles, unless the block itself raised.
    """

    def __init__(self) -> None:
        self._since: int | None = None

    def start(self) -> None:
        """Begin. Handles that are open now do not count."""
        if self._since is not None:
            raise RuntimeError("this LeakDetector has been started already")
        self._since = _hpy.debug_serial()

    def stop(self) -> None:
        """Raise LeakedHandles if handles opened since `start` are still open."""
        if self._since is None:
            raise RuntimeError("this LeakDetector has not been started")
        since, self._since = self._since, None
        handles = open_handles(since)
        if handles:
            raise LeakedHandles(handles)

    def __enter__(self) -> LeakDetector:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
        else:
            self._since = None


def set_on_invalid_handle(hook: Callable[[str], object] | None) -> Callable[[str], object] | None:
    """Set the function that is called when a handle is misused.

    The extension continues after the call: a handle that is not open counts as None, and closing a handle that must not
    be closed has no effect.

    Args:
        hook: a function that is called with a str. Exceptions of the function are reported as unraisable. None, the
            default, ends the process instead.

    Returns:
        The previous hook.
    """
    previous: Callable[[str], object] | None = _hpy.debug_set_hook(hook)
    return previous


def _leak_detector() -> Iterator[LeakDetector]:
    """Fixture: fails a test that leaves a handle open."""
    detector = LeakDetector()
    with detector:
        yield detector


def __getattr__(name: str) -> Any:
    if name != "leak_detector":  # created on demand, because it needs pytest
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pytest

    fixture = globals()[name] = pytest.fixture(name=name)(_leak_detector)
    return fixture
