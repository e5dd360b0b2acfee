"""Messages to the user: progress, missing requirements, tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Missing(Exception):
    """A requirement of a command is missing. The message is one line: the missing thing, the reason, and the remedy."""


def say(message: str) -> None:
    """Print a progress message to stderr. Standard output is for results."""
    print(message, file=sys.stderr, flush=True)


def last_line(text: str) -> str:
    """Return the last line of `text` that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the first of which is the heading, as aligned columns."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def markdown_table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the first of which is the heading, as a Markdown table."""
    heading, *rest = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *rest])
