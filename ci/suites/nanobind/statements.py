"""Leaves statements out of nanobind's C++ sources that call CPython's API, by the list removed.txt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ci.lib.messages import Missing

LIST = Path(__file__).resolve().with_name("removed.txt")


@dataclass(frozen=True)
class Removal:
    """Statements of a file: those whose first line contains a text."""

    file: str
    text: str
    reason: str


def read_removals(path: Path = LIST) -> list[Removal]:
    """Return the entries of the list: FILE | TEXT | REASON each. An indented line continues the previous line, and #
    begins a comment."""
    text = re.sub(r"\n[ \t]+(?=\S)", " ", path.read_text())
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [Removal(*(part.strip() for part in line.split("|", 2))) for line in lines]


def remove(source: str, removals: list[Removal]) -> str:
    """Return a source without the statements of its entries; the numbers of the other lines stay. Raises Missing if an
    entry fits no line."""
    lines = source.split("\n")
    for removal in removals:
        starts = [n for n, line in enumerate(lines) if removal.text in line]
        if not starts:
            raise Missing(f"removed.txt: no line of {removal.file} contains: {removal.text}")
        for start in starts:
            _blank(lines, start)
    return "\n".join(lines)


def _blank(lines: list[str], start: int) -> None:
    """Empty the lines of the statement that begins in a line. The semicolon stays, which may end a chain of calls."""
    is_link = lines[start].lstrip().startswith(".")
    depth = 0
    for number in range(start, len(lines)):
        code = _code_of(lines[number])
        end = len(code)
        for place, letter in enumerate(code):
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0:  # the bracket around the statement
                end = place
                break
        code, rest = code[:end].rstrip(), lines[number][end:] if end < len(code) else ""
        is_over = depth < 0 or (depth == 0 and code.endswith((";", "}", ")") if is_link else (";", "}")))
        lines[number] = (";" if is_over and code.endswith(";") else "") + rest
        if is_over:
            return


def _code_of(line: str) -> str:
    """Return a line with blanks in the place of its texts and comments."""
    return re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'|//.*|/\*.*?\*/", lambda found: " " * len(found[0]), line)
