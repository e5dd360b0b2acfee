"""Shared code of the benchmarks of the C++ headers: one program, compiled with either project's headers, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import say, table
from core import Row, Side, line_of, measure

if TYPE_CHECKING:
    from collections.abc import Iterable

LABELS = ("ours", "upstream")
HEADING: list[object] = ["row", *LABELS, "ratio", "goal", ""]
NEVER_SLOWER = 1.05  # 5 % are noise
FLAGS = ("-std=c++17", "-O3", "-falign-functions=64", "-falign-loops=64")
"""Compiler flags of both sides. Without alignment the start of a short loop is random, which may double its time."""


def run_rows(rows: Iterable[Row], programs: list[Path], wanted: list[str], rounds: int) -> list[list[object]]:
    """Return the lines of the wanted rows, or of all rows."""
    sides = [Side(program, Path(label)) for program, label in zip(programs, LABELS)]
    lines = []
    for row in rows:
        if wanted and row.name not in wanted:
            continue
        say(row.label)
        pairs = measure(row, sides, [], rounds)
        assert not isinstance(pairs, str)  # both have every row
        line, _ = line_of(row, pairs)
        lines.append([*line[:5], line[-1]])
    for side in sides:
        side.close()
    return lines


def report(lines: list[list[object]]) -> int:
    """Print the table and return the exit status."""
    print(table([HEADING, *lines]))
    is_good = not any(line[-1] == "missed" for line in lines)
    say("every goal met" if is_good else "some goals not met: see the table")
    return 0 if is_good else 1
