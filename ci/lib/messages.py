"""What a person is told: progress, what is missing, tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Missing(Exception):
    """Something that a command needs cannot be had. The message is one line: what, why, and what to do about it."""


def say(message: str) -> None:
    """Tell the person who watches. Standard output is left to results."""
    print(message, file=sys.stderr, flush=True)


def last_line(text: str) -> str:
    """Return the last line of `text` that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the first of which is the heading, as columns of text."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def markdown_table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the first of which is the heading, as a table of a page."""
    heading, *rest = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *rest])
