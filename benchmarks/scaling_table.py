"""The table of docs/performance.md, made from a file of scaling.py --csv: ours, the best peer, and plain Python."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

MODES = ("own", "shared")
OURS, BOUND, PLAIN, BEFORE = "ours", "ours, bound", "Python", "before"  # the sides that are not peers


class Line(NamedTuple):
    """A line of the file: one side of a row, with a number of threads."""

    row: str
    mode: str
    side: str
    threads: int
    ns: float
    speedup: float

    @property
    def is_peer(self) -> bool:
        return self.side not in (OURS, BOUND, PLAIN, BEFORE)


def read_lines(file: Path) -> list[Line]:
    """Return the lines of the largest number of threads."""
    with file.open(newline="") as stream:
        lines = [
            Line(
                line["row"],
                line["mode"],
                line["side"],
                int(line["threads"]),
                float(line["ns_of_one_thread"]),
                float(line["speedup"]),
            )
            for line in csv.DictReader(stream)
        ]
    most = max((line.threads for line in lines), default=0)
    return [line for line in lines if line.threads == most]


def table_of(lines: list[Line]) -> list[list[object]]:
    """Return the table, the heading first: a line for each row, with the ratios of its modes next to each other."""
    n = lines[0].threads if lines else 2
    heading: list[object] = ["row", "ns", "fastest peer"]
    for mode in MODES:
        heading += [f"{mode} x{n}", "best peer", "Python"]
    rows = dict.fromkeys(line.row for line in lines)
    return [heading, *(cells_of(row, [line for line in lines if line.row == row]) for row in rows)]


def cells_of(row: str, lines: list[Line]) -> list[object]:
    # For a row with two modes, the times are those of private objects: one thread takes the same time in both modes.
    first = [line for line in lines if line.mode == lines[0].mode]
    ours = next((f"{line.ns:.0f}" for line in first if line.side == OURS), "-")
    fastest = min((line for line in first if line.is_peer), key=lambda line: line.ns, default=None)
    cells: list[object] = [row, ours, "-" if fastest is None else f"{fastest.ns:.0f} {fastest.side}"]
    for mode in MODES:
        found = [line for line in lines if line.mode == mode]
        by_side = {line.side: f"{line.speedup:.2f}" for line in found}
        best = max((line for line in found if line.is_peer), key=lambda line: line.speedup, default=None)
        peer = "-" if best is None else f"{best.speedup:.2f} {best.side}"
        cells += [by_side.get(OURS, "-"), peer, by_side.get(PLAIN, "-")]
    return cells
