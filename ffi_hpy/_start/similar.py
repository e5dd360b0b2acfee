"""Suggestions for a misspelt name. Nothing is imported or compared until an error needs an explanation."""

from __future__ import annotations

import sys

from .fork import importing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["did_you_mean", "not_said_again"]


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return the end of a message, ". Did you mean 'x'?", with the item of `names` that is most similar to `name`; ""
    if none is. Do not use it for errors that programs cause on purpose: the comparison takes up to milliseconds."""
    if not isinstance(name, str) or name.startswith("__"):
        return ""
    with importing:
        from difflib import get_close_matches
    similar = get_close_matches(name, _likely(name, set(names) - {name}), 1)
    return f". Did you mean {similar[0]!r}?" if similar else ""


_MOST_COMPARED = 100


def _likely(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that may be most similar to `name`, few enough to compare: names with the same beginning or end,
    as long as necessary."""
    likely = list(names)
    for n_shared in range(len(name) // 3, len(name)):
        if len(likely) <= _MOST_COMPARED:
            break
        start, end = name[:n_shared], name[len(name) - n_shared :]
        likely = [other for other in likely if other[:n_shared] == start or other[-n_shared:] == end] or likely
    return likely if len(likely) <= _MOST_COMPARED else sorted(likely)[:_MOST_COMPARED]


def not_said_again(name: str) -> dict[str, Any]:
    """Return the options of an AttributeError whose message has a suggestion already. Without them CPython adds the
    object to the error and, in a printed traceback, its own suggestion."""
    return {"name": name, "obj": None} if sys.version_info >= (3, 10) else {}
