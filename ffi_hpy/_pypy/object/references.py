"""References to native objects that no wrapper stands for."""

from __future__ import annotations

from ..context.backend import address_of, core, new_words
from ..context.holds import end_at, finish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Owned", "Reference"]


class Owned:
    """Owns a reference to a native object, which it is given."""

    __slots__ = ("_word", "address")

    def __init__(self, address: int) -> None:
        self._word: Any = new_words(1)
        self._word[0] = self.address = address

    def __del__(self) -> None:
        try:
            _end(self)
        except BaseException as interruption:  # a signal came
            finish(_end, self, interruption)

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        """TypeError: of two that own one reference, both would give it up."""
        raise TypeError(f"cannot copy or pickle a {type(self).__name__!r} object")


class Reference(Owned):
    """Keeps a native object as long as it lives."""

    __slots__ = ()

    def __init__(self, address: int) -> None:
        core.incref(address)
        super().__init__(address)


def _end(owned: Owned) -> None:
    if hasattr(owned, "_word"):  # it has not where the stack ended before __init__ did
        end_at(address_of(owned._word))
