"""The check that a tree's README names every file, and names it after the files that it includes."""

from __future__ import annotations

import re
from fnmatch import fnmatch

_NAME = re.compile(r"`([a-z_0-9*]+)(?:\.[a-z]+)?`")


def find_reading_violations(readme: str, uses: dict[str, dict[str, str]]) -> list[str]:
    """Return the problems, one sentence each. `uses` maps each file (folder/name) to the files that it includes.

    A folder's paragraph begins with its name in bold, and ends before the next such name or heading. A README names the
    files in backticks, or patterns (`ctx_*`) for files that do not include each other.
    """
    found = []
    for folder in sorted({file.partition("/")[0] for file in uses}):
        paragraph = re.search(rf"^\*\*{folder}\*\*.*?(?=^\*\*|^#|\Z)", readme, re.MULTILINE | re.DOTALL)
        if paragraph is None:
            found.append(f"{folder}: the README has no paragraph for it")
            continue
        named = list(dict.fromkeys(_NAME.findall(paragraph[0])))
        places = {}
        for file in uses:
            name = file.partition("/")[2]
            matching = [i for i, pattern in enumerate(named) if fnmatch(name, pattern)]
            if file.startswith(f"{folder}/") and matching:
                places[file] = named.index(name) if name in named else matching[0]
            elif file.startswith(f"{folder}/"):
                found.append(f"{file}: the README does not name it")
        found += [
            f"{user} includes {used}, which the README has after it"
            for user in sorted(places)
            for used in sorted(uses[user])
            if used in places and places[used] > places[user]
        ]
    return found


_PLANTED_README = """
**low** has

| `a`, `c.h` | and the rest |
| `x_*` | |

**high** has `b`.
"""
_PLANTED = {
    "low/a": {"low/c": "the header c.h"},
    "low/c": {},
    "low/x_one": {"low/a": "the header a.h"},
    "high/b": {"low/x_one": "the header low/x_one.h"},
    "high/d": {},
    "other/e": {},
}
PLANTED = (_PLANTED_README, _PLANTED)
"""Planted input of the check."""
PLANTED_VIOLATIONS = [
    "high/d: the README does not name it",
    "low/a includes low/c, which the README has after it",
    "other: the README has no paragraph for it",
]
