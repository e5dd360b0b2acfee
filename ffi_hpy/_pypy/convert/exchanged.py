"""Containers that were returned by a call with arrays of a library with a DLPack C exchange API among its arguments.

Such containers return their tensors as arrays of that library, and a call with such a container as an argument uses the
library's stream. The C binding implements both: its wrapper of each of these containers is kept here, and reads go
through that wrapper.
"""

from __future__ import annotations

from weakref import ref

from ..context import bridge
from ..context.binding import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["find", "from_binding", "marked"]


class _Mark(ref):  # type: ignore[type-arg]
    """A weak reference to the wrapper here, with the binding's wrapper."""

    __slots__ = ("address", "theirs")

    address: int
    theirs: Any


marked: dict[int, _Mark] = {}
"""By pointer. Empty in programs without such libraries, so that the test on hot paths is cheap."""


def _forget(mark: _Mark) -> None:
    if marked.get(mark.address) is mark:
        del marked[mark.address]
    mark.theirs = None  # PyPy's dict may keep removed values alive


def find(wrapper: Any) -> Any:
    """Return the binding's wrapper of a container that was returned so, None for all others."""
    mark = marked.get(wrapper._ffi_address)
    return None if mark is None or mark() is not wrapper else mark.theirs


def from_binding(value: Any) -> Any:
    """Unwrap the result of such a call, or an item of such a container."""
    if not isinstance(value, (binding.CSequence, binding.CMapping)):
        return bridge.from_binding(value)
    ours = bridge.copy_from_binding(value)
    mark = _Mark(ours, _forget)
    mark.address = ours._ffi_address
    mark.theirs = value  # it has a reference, so the pointer is not reused
    marked[mark.address] = mark
    return ours
