"""The functions behind `hpy.debug`, over ffi_hpy.hpy_debug.

HPy numbers generations of handles; ffi_hpy numbers the handles: a generation is the number of the last handle before
it.
"""

from __future__ import annotations

import os
import sys

from ._runtime import _hpy, hpy_debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ffi_hpy.hpy_debug import ClosedHandle, OpenHandle


class DebugHandle:
    """A handle of an object, in the state at the time of the listing."""

    def __init__(self, handle: OpenHandle | ClosedHandle) -> None:
        self._handle = handle
        self.id = handle.word
        self.obj = getattr(handle, "value", None)
        n_bytes = getattr(handle, "n_text_bytes", 0)
        self.raw_data_size = n_bytes or -1

    @property
    def is_closed(self) -> bool:
        return all(handle.word != self.id for handle in hpy_debug.open_handles(self._handle.serial - 1))

    def _force_close(self) -> None:
        hpy_debug.close(self._handle)  # type: ignore[arg-type]  # by the word, which both classes have

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, DebugHandle) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        what = "CLOSED" if self.is_closed else f"for {self.obj!r}"
        stack = self._handle.stack or "not recorded: hpy.debug.set_handle_stack_trace_limit(16) asks for it"
        title = f"<DebugHandle 0x{self.id:x} {what}>"
        return "\n".join([title, f"opened by {self._handle.opener}", "Allocation stacktrace:", stack])


# ---- lists ----


def new_generation() -> int:
    return int(_hpy.debug_serial())


def get_open_handles(generation: int = 0) -> list[DebugHandle]:
    return [DebugHandle(handle) for handle in hpy_debug.open_handles(generation)]


def get_closed_handles(generation: int = 0) -> list[DebugHandle]:
    return [DebugHandle(handle) for handle in hpy_debug.closed_handles(generation)]


# ---- limits ----


def _set(name: str, value: int) -> None:
    hpy_debug.set_limits(hpy_debug.limits()._replace(**{name: value}))


def get_closed_handles_queue_max_size() -> int:
    return hpy_debug.limits().n_closed


def set_closed_handles_queue_max_size(size: int) -> None:
    _set("n_closed", size)


def get_protected_raw_data_max_size() -> int:
    return hpy_debug.limits().n_text_bytes


def set_protected_raw_data_max_size(size: int) -> None:
    _set("n_text_bytes", size)


def set_handle_stack_trace_limit(limit: int | None) -> None:
    _set("n_frames", limit or 0)


# ---- hooks: HPy has one for handles and one for builders, without arguments ----

_hooks: dict[str, Callable[[], object] | None] = {"handle": None, "builder": None}


def set_on_invalid_handle(hook: Callable[[], object] | None) -> None:
    _hooks["handle"] = hook


def set_on_invalid_builder_handle(hook: Callable[[], object] | None) -> None:
    _hooks["builder"] = hook


def _on_mistake(text: str) -> None:
    kind = "builder" if " builder #" in text else "handle"
    hook = _hooks[kind]
    if hook is not None:
        hook()
        return
    print(f"Invalid usage of already closed {kind}: {text}", file=sys.stderr, flush=True)
    os.abort()


hpy_debug.set_on_invalid_handle(_on_mistake)
