"""Containers that came back from a call among whose arguments were arrays of a library with an exchange table.

They give out their tensors as arrays of that library, and bring its stream when they are arguments themselves. The
binding in C does both: its wrapper of each of these containers is kept here, and reading goes through that.
"""

from __future__ import annotations

from weakref import ref

from ..context import bridge
from ..context.binding import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["find", "lower", "marked"]


class _Mark(ref):  # type: ignore[type-arg]
    """A weak reference to the wrapper here, with the binding's."""

    __slots__ = ("address", "theirs")

    address: int
    theirs: Any


marked: dict[int, _Mark] = {}
"""By address. Empty in programs without such libraries, which is what a hot path asks."""


def _forget(mark: _Mark) -> None:
    if marked.get(mark.address) is mark:
        del marked[mark.address]
    mark.theirs = None  # PyPy's dict may keep what was taken out of it


def find(wrapper: Any) -> Any:
    """The binding's wrapper of a container that was returned so, None for all others."""
    mark = marked.get(wrapper._ffi_address)
    return None if mark is None or mark() is not wrapper else mark.theirs


def lower(value: Any) -> Any:
    """What such a call returned, or such a container gave out, as it is here."""
    if not isinstance(value, (binding.CSequence, binding.CMapping)):
        return bridge.lower(value)
    ours = bridge.lower_copy(value)
    mark = _Mark(ours, _forget)
    mark.address = ours._ffi_address
    mark.theirs = value  # has a reference: nobody else gets the address
    marked[mark.address] = mark
    return ours
