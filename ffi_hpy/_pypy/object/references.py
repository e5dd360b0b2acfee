"""References to native objects that no wrapper stands for."""

from __future__ import annotations

from ..context.backend import core

__all__ = ["Reference"]


class Reference:
    """Keeps a native object as long as it lives."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        core.incref(address)
        self.address = address

    def __del__(self) -> None:
        core.decref(self.address)
