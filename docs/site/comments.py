"""Doxygen's filter for our headers: marks the first comment as the text of the file, and escapes Doxygen's commands.

    python3 comments.py HEADER

Each line keeps its number.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_COMMENT = re.compile(r"/\*\*(<?)(?P<text>.*?)\*/", re.DOTALL)
_INDENTED = re.compile(r"\s*\* {3,}\S")
_BLANK = re.compile(r"\s*\*?\s*$")


def prepare(source: str) -> str:
    """Return a header for Doxygen: in its comments nothing is a tag or a command of Doxygen, and indented lines are
    shown as they are."""
    if source.startswith("/* "):
        source = source.replace("/* ", "/** @file\n * ", 1).replace("\n\n", "\n", 1)
    return _COMMENT.sub(_prepared, source)


def _prepared(comment: re.Match[str]) -> str:
    lines, is_code, is_list = [], False, False
    for line in comment["text"].split("\n"):
        if _BLANK.match(line):
            lines.append(line)
            continue
        text = line.strip(" *")
        is_list = text.startswith("- ") or (is_list and line.startswith(" *  "))
        indented = bool(_INDENTED.match(line)) and not is_list
        if indented and not is_code:
            lines[-1] += " @verbatim"
        elif is_code and not indented:
            last = max(i for i, earlier in enumerate(lines) if not _BLANK.match(earlier))
            lines[last] += " @endverbatim"
        is_code = indented
        lines.append(line if is_code or text == "@file" else re.sub(r"[<>@\\#]", r"\\\g<0>", line))
    ending = "@endverbatim " if is_code else ""
    return f"/**{comment[1]}{chr(10).join(lines)}{ending}*/"


if __name__ == "__main__":
    sys.stdout.write(prepare(Path(sys.argv[1]).read_text()))
