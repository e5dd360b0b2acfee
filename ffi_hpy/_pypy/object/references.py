"""References to native objects that no wrapper stands for."""

from __future__ import annotations

from ..context.backend import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Reference", "raise_uncopied"]


def raise_uncopied(value: Any) -> NoReturn:
    """TypeError: what owns a reference by its address cannot be copied or pickled, or two would drop that."""
    raise TypeError(f"cannot copy or pickle a {type(value).__name__!r} object")


class Reference:
    """Keeps a native object as long as it lives."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        core.incref(address)
        self.address = address

    def __del__(self) -> None:
        if hasattr(self, "address"):  # it has not where the stack ended before __init__ did
            core.decref(self.address)

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise_uncopied(self)
