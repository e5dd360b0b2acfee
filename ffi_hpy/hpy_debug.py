"""Debug mode of the HPy runtime: handles that are closed twice, used after they were closed, or forgotten.

`FFI_HPY_DEBUG=1` in the environment loads ffi_hpy's own binding in it, and every module that `ffi_hpy.hpy` loads or
imports; `ffi_hpy.hpy.load(name, path, debug=True)` one module. A handle that is misused then ends the process, and
stderr says which, who opened it, and who closed it; `set_on_invalid_handle` has a function called instead. Reading a
`char *` after its handle was closed, or writing to it, ends the process with SIGSEGV. Handles that stay open are found
by `LeakDetector`, or in tests by the fixture `leak_detector`:

    from ffi_hpy.hpy_debug import leak_detector  # in conftest.py

Functions of extensions are named as in their definitions: module.function, package.Type.method, package.Type.tp_new.
Works on CPython, with the GIL and without, and on PyPy; on PyPy 7.3 not for ffi_hpy's own binding, which runs on the
interpreter's HPy runtime there.
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
    """A handle that an extension has opened and not closed. Arguments of running calls are not among them."""

    serial: int
    """The serial number of the handle in the process."""
    opener: str
    """The extension's function that ran when the handle was opened."""
    value: object
    """The object. For a builder, the type that it builds; for a tracker, None."""
    kind: str
    """"handle", "builder" or "tracker"; the latter two are treated like handles."""
    word: int
    """The word that the extension has: `h._i` in a debugger."""
    stack: str
    """The native stack of the opening, if `set_limits` asked for it: a line for each frame, the innermost first."""

    def __str__(self) -> str:
        of = {"handle": f" of {type(self.value).__name__!r} object", "builder": f" of {self.value}"}.get(self.kind, "")
        return "\n    ".join([f"{self.kind} #{self.serial}{of}, opened by {self.opener}", *self.stack.splitlines()])


class ClosedHandle(NamedTuple):
    """A handle that was closed and is still remembered. Its members are those of OpenHandle, except for two."""

    serial: int
    opener: str
    closer: str
    """The extension's function that ran when the handle was closed."""
    kind: str
    word: int
    stack: str
    n_text_bytes: int
    """How many bytes of the texts are kept that `HPyUnicode_AsUTF8AndSize` and the like returned, so that reading them
    is noticed."""


class LeakedHandles(AssertionError):
    """Raised when handles are open where none should be."""

    def __init__(self, handles: list[OpenHandle]) -> None:
        lines = [str(handle) for handle in handles[:_SHOWN]]
        if len(handles) > _SHOWN:
            lines.append(f"and {len(handles) - _SHOWN} more")
        super().__init__(f"{len(handles)} open handles:\n  " + "\n  ".join(lines))
        self.handles = handles
        """All of them, in the order of opening. Keeps their objects alive."""


def open_handles(since: int = 0) -> list[OpenHandle]:
    """Return the open handles, in the order of opening.

    Args:
        since: a serial number; only handles with greater ones are returned.
    """
    rows = _hpy.debug_open(since)
    return [
        OpenHandle(serial, opener, value, kind, word, stack) for serial, kind, word, opener, _, value, _, stack in rows
    ]


def closed_handles(since: int = 0) -> list[ClosedHandle]:
    """Return the closed handles that are remembered, in the order of closing.

    Args:
        since: a serial number; only handles with greater ones are returned.
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
        ValueError: if there is no such open handle.
    """
    _hpy.debug_close(handle.word)


class Limits(NamedTuple):
    """How much is remembered."""

    n_closed: int
    """Closed handles that are remembered; the oldest are forgotten first."""
    n_text_bytes: int
    """Bytes of texts of closed handles that are kept, so that reading them is noticed."""
    n_frames: int
    """Frames of the native stack that are recorded when a handle is opened. 0 at first, because that takes much
    time."""


def limits() -> Limits:
    """Return how much is remembered."""
    return Limits(*_hpy.debug_limits())


def set_limits(new: Limits) -> Limits:
    """Set how much is remembered: `set_limits(limits()._replace(n_frames=16))`.

    Args:
        new: the limits.

    Returns:
        Those before.
    """
    return Limits(*_hpy.debug_limits(*new))


class LeakDetector:
    """Finds handles that were opened between `start` and `stop`, on any thread, and are still open.

    As a context manager it raises LeakedHandles, unless the block itself raised.
    """

    def __init__(self) -> None:
        self._since: int | None = None

    def start(self) -> None:
        """Handles that are open now do not count."""
        if self._since is not None:
            raise RuntimeError("this LeakDetector has been started already")
        self._since = _hpy.debug_serial()

    def stop(self) -> None:
        """Raise LeakedHandles if handles that were opened since `start` are open."""
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
    """Have a function called when a handle is misused.

    After it the extension continues: a handle that is not open counts as None, and closing one that must not be closed
    has no effect.

    Args:
        hook: what is called with a text. Its exceptions are reported as unraisable. None ends the process instead, as
            at first.

    Returns:
        The hook before.
    """
    previous: Callable[[str], object] | None = _hpy.debug_set_hook(hook)
    return previous


def _leak_detector() -> Iterator[LeakDetector]:
    """Fixture: fails a test that leaves a handle open."""
    detector = LeakDetector()
    with detector:
        yield detector


def __getattr__(name: str) -> Any:
    if name != "leak_detector":  # made on demand, because it needs pytest
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pytest

    fixture = globals()[name] = pytest.fixture(name=name)(_leak_detector)
    return fixture
