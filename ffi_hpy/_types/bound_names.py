"""Names of bound classes in the signatures of functions that were defined before these classes.

A library writes such a class as MARK, its C++ name, MARK, a readable name, MARK (FFI_HPY_NAME_MARK in c_bind.h).
Readers of the text replace it, because the class has got its name by then.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["finders", "with_names"]

_MARK = "\ue000"

finders: list[Callable[[str], str | None]] = []
"""Functions that return the name of a bound class by its C++ name, or None. The package adds them with the first bound
library."""


def with_names(text: str) -> str:
    """Return the text with the names of all classes that are bound by now, and readable names of the others."""
    if _MARK not in text:
        return text
    made, *rest = text.split(_MARK)
    for i in range(0, len(rest) - 2, 3):
        found = next(filter(None, (find(rest[i]) for find in finders)), rest[i + 1])
        made += found + rest[i + 2]
    return made
