"""References to native objects without a wrapper."""

from __future__ import annotations

from ..context.backend import address_of, core, new_words
from ..context.py_owners import end_at, finish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Owned", "Reference"]


class Owned:
    """Owner of a reference to a native object. The constructor steals the reference."""

    __slots__ = ("_word", "address")

    def __init__(self, address: int) -> None:
        self._word: Any = new_words(1)
        self._word[0] = self.address = address

    def __del__(self) -> None:
        try:
            _end(self)
        except BaseException as interruption:  # a signal handler raised
            finish(_end, self, interruption)

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        """TypeError: two copies would both release the same reference."""
        raise TypeError(f"cannot copy or pickle a {type(self).__name__!r} object")


class Reference(Owned):
    """Keeps a native object alive during its own life."""

    __slots__ = ()

    def __init__(self, address: int) -> None:
        core.incref(address)
        super().__init__(address)


def _end(owned: Owned) -> None:
    if hasattr(owned, "_word"):  # missing if the stack was exhausted before __init__ set it
        end_at(address_of(owned._word))
