"""Doxygen's filter for our headers: prints one with each comment before or behind a declaration marked as its text.

    python3 comments.py HEADER

Our comments are plain, `/* ... */`; Doxygen reads those that begin with `/**`, or `/**<` behind what they are about.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_COMMENT = re.compile(r"/\*(?P<text>[^*-].*?)\*/", re.DOTALL)


def mark(source: str) -> str:
    """A header with Doxygen's comments."""
    return _COMMENT.sub(lambda match: _marked(source, match), source)


def _marked(source: str, match: re.Match[str]) -> str:
    line = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    if match.start() == 0:
        opening = "/** @file\n *"
    elif line.strip() == "":
        opening = "/**"
    elif source[match.end() :].partition("\n")[0].strip() == "" and not line.lstrip().startswith("#"):
        opening = "/**<"
    else:
        return match[0]  # within a line: about an argument
    return f"{opening}{_escaped(match['text'])}*/"


def _escaped(text: str) -> str:
    """Text in which nothing is a tag or a command."""
    return re.sub(r"[<>@\\#]", lambda found: "\\" + found[0], text)


if __name__ == "__main__":
    sys.stdout.write(mark(Path(sys.argv[1]).read_text()))
