"""Names that a misspelt one may have meant. Nothing is imported or compared until there is an error to be explained."""

from __future__ import annotations

import sys

from .fork import import_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["did_you_mean", "not_said_again"]


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """The end of a message, ". Did you mean 'x'?", with the one of `names` that is most like `name`; "" if none is. The
    message must not be that of an error which programs ask for on purpose: the comparison takes up to milliseconds."""
    if not isinstance(name, str) or name.startswith("__"):
        return ""
    similar = import_whole("difflib").get_close_matches(name, _likely(name, set(names) - {name}), 1)
    return f". Did you mean {similar[0]!r}?" if similar else ""


_MOST_COMPARED = 100


def _likely(name: str, names: Iterable[str]) -> list[str]:
    """The names that may be most like `name`, not too many to compare: those that share their beginning or their end
    with it, and as much of it as is needed."""
    likely = list(names)
    for n_shared in range(len(name) // 3, len(name)):
        if len(likely) <= _MOST_COMPARED:
            break
        start, end = name[:n_shared], name[len(name) - n_shared :]
        likely = [other for other in likely if other[:n_shared] == start or other[-n_shared:] == end] or likely
    return likely if len(likely) <= _MOST_COMPARED else sorted(likely)[:_MOST_COMPARED]


def not_said_again(name: str) -> dict[str, Any]:
    """The options of an AttributeError whose message has a suggestion already: without them CPython completes the error
    by the object and, where it prints a traceback, by a suggestion of its own."""
    return {"name": name, "obj": None} if sys.version_info >= (3, 10) else {}
