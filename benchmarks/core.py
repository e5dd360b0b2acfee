#!/usr/bin/env python3
"""The cost of the core: our libtvm_ffi.so against the libtvm_ffi.so of apache-tvm-ffi's wheel, through the same C
functions.

One program (core_rows.c) runs twice, once with each library. The two processes time the same row in turn, so that a
change of the machine's speed affects both. Times are CPU time of the working threads. The output has medians over the
rounds; a ratio is the median of the rounds' ratios. Rows that measure memory run in separate processes; MB is the
largest growth of the process. This program sets up its inputs (the wheel of this checkout, the PyPI wheel of
apache-tvm-ffi, a C compiler).

    python benchmarks/core.py [--rounds N] [ROW ...]

Exit status: 0 if all goals are met, 1 if not or if a row could not be measured.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.compilers import find_c_compiler  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

LIBRARY = "libtvm_ffi.so"
PARITY = 1.1
FASTER = 1 / 1.5


@dataclass(frozen=True)
class Row:
    """One line of the table: core_rows gets `name` and `size`; one measurement is `n` iterations."""

    label: str
    name: str
    size: int
    n: int
    goal: float = PARITY  # the largest ratio
    with_memory: bool = False


ROWS = (
    Row("object, created and dropped", "object", 0, 200_000),
    Row("function call, 3 ints", "function", 0, 1_000_000),
    Row("text of 5 bytes", "string", 5, 500_000),
    Row("text of 20 bytes", "string", 20, 200_000),
    Row("map insert, 10", "insert", 10, 5_000),
    Row("map insert, 10^4", "insert", 10_000, 5),
    Row("map insert, 10^6", "insert", 1_000_000, 1),
    Row("map insert of texts, 10^4", "insert_text", 10_000, 5),
    Row("map lookup, 10", "lookup", 10, 300_000),
    Row("map lookup, 10^4", "lookup", 10_000, 300_000),
    Row("map lookup, 10^6", "lookup", 1_000_000, 300_000),
    Row("map lookup of texts, 10^4", "lookup_text", 10_000, 200_000),
    Row("list append, 1000", "append", 1_000, 200),
    Row("array of 100, per item", "array", 100, 5_000),
    Row("type key to index", "type", 0, 300_000),
    Row("global function by name", "global", 1, 200_000),
    Row("global function by name, 2 threads", "global", 2, 200_000),
    Row("JSON read, 10 MB", "json_parse", 10, 1, FASTER, True),
    Row("JSON written, 10 MB", "json_write", 10, 1, FASTER, True),
    Row("deep copy, 10^6 nodes", "deep_copy", 1_000_000, 1, FASTER, True),
    Row("structural hash, 10^6 nodes", "structural_hash", 1_000_000, 1, FASTER, True),
    Row("structural equality, 10^6 nodes", "structural_equal", 1_000_000, 1, FASTER, True),
    Row("to a JSON graph, 10^6 nodes", "to_graph", 1_000_000, 1, FASTER, True),
    Row("from a JSON graph's text, 10^6 nodes", "from_graph", 1_000_000, 1, FASTER, True),
)
SCALING_GOAL = 1.9
MEMORY_ROUNDS = 9


class Side:
    """A process of core_rows with one library."""

    def __init__(self, program: Path, library: Path) -> None:
        self.process = subprocess.Popen(
            [str(program), str(library)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self.answer() != ["ready"]:
            raise Missing(f"{library} could not be loaded (see above)")

    def answer(self) -> list[str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Missing(f"{' '.join(map(str, self.process.args))} died (see above)")  # type: ignore[arg-type]
        return line.split()

    def measure(self, row: Row) -> tuple[float, float] | None:
        """Return ns per operation and MB; None if the library lacks the row's functions."""
        assert self.process.stdin is not None
        print(row.name, row.size, row.n, file=self.process.stdin, flush=True)
        words = self.answer()
        return None if words == ["missing"] else (float(words[0]), float(words[1]) / 1024)

    def close(self) -> None:
        self.process.communicate()


def build(folder: Path) -> Path:
    program = folder / "core_rows"
    command = [*find_c_compiler(), "-std=c11", "-D_GNU_SOURCE", "-O2", f"-I{ROOT / 'include'}"]
    output_of([*command, HERE / "core_rows.c", "-o", program, "-ldl", "-lpthread"])
    return program


def our_library(folder: Path) -> Path:
    with zipfile.ZipFile(build_wheel()) as wheel:
        found = [name for name in wheel.namelist() if name.endswith(f"/{LIBRARY}")]
        if len(found) != 1:
            raise Missing(f"expected one {LIBRARY} in our wheel but found {len(found)}")
        return Path(wheel.extract(found[0], folder))


def upstream_library() -> Path:
    unpacked = output_of([sys.executable, ROOT / "ci" / "upstream"]).strip()
    return Path(unpacked, "tvm_ffi", "lib", LIBRARY)


Pair = tuple[tuple[float, float], tuple[float, float]]


def measure(row: Row, sides: list[Side], fresh: list[tuple[Path, Path]], rounds: int) -> list[Pair] | str:
    """Return the answers of both sides, round by round; or the side that lacks the row."""
    pairs = []
    for _ in range(MEMORY_ROUNDS if row.with_memory else rounds):
        answers = []
        for side in [Side(*words) for words in fresh] if row.with_memory else sides:
            answers.append(side.measure(row))
            if row.with_memory:
                side.close()
        mine, theirs = answers
        if mine is None or theirs is None:
            return "ours lacks it" if mine is None else "upstream lacks it"
        pairs.append((mine, theirs))
    return pairs


def shown(ns: float) -> str:
    return f"{ns:.1f} ns" if ns < 1e5 else f"{ns / 1e6:.1f} ms"


def line_of(row: Row, pairs: list[Pair]) -> tuple[list[object], bool]:
    """Return a row of the table, and whether it meets its goals."""
    times = [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]
    ratio = statistics.median(mine[0] / theirs[0] for mine, theirs in pairs)
    good = ratio <= row.goal
    memory = ["", ""]
    if row.with_memory:
        megabytes = [statistics.median(pair[side][1] for pair in pairs) for side in (0, 1)]
        good = good and megabytes[0] <= megabytes[1]
        memory = [f"{value:.0f} MB" for value in megabytes]
    line = [row.label, shown(times[0]), shown(times[1]), f"{ratio:.2f}", f"{row.goal:.2f}", *memory]
    return [*line, "" if good else "missed"], good


def scaling_of(results: dict[str, list[Pair]]) -> bool:
    """Print the speedup of lookups with two threads over one; return whether it meets the goal."""
    one, two = (results.get(row.label) for row in ROWS if row.name == "global")
    if not one or not two:
        return True
    mine, theirs = (
        statistics.median(a[side][0] / b[side][0] for a, b in zip(one, two, strict=True)) for side in (0, 1)
    )
    print(f"global lookups, 2 threads against 1: ours {mine:.2f}, upstream {theirs:.2f}, goal {SCALING_GOAL:.2f}")
    return mine >= SCALING_GOAL


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--library", type=Path, help="ours, in place of the wheel's")
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"names: {' '.join(dict.fromkeys(r.name for r in ROWS))}"
    )
    options = parser.parse_args()
    lines: list[list[object]] = [["row", "ours", "upstream", "ratio", "goal", "ours", "upstream", ""]]
    results: dict[str, list[Pair]] = {}
    all_good = True
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        libraries = [options.library or our_library(Path(folder)), upstream_library()]
        fresh = [(program, library) for library in libraries]
        sides = [Side(*words) for words in fresh]
        for row in ROWS:
            if options.rows and row.name not in options.rows:
                continue
            say(row.label)
            pairs = measure(row, sides, fresh, options.rounds)
            if isinstance(pairs, str):
                lines.append([row.label, pairs])
                all_good = False
                continue
            results[row.label] = pairs
            line, good = line_of(row, pairs)
            lines.append(line)
            all_good = all_good and good
        for side in sides:
            side.close()
    width = len(lines[0])
    print(table([[*line, *[""] * (width - len(line))] for line in lines]), end="\n\n")
    all_good = scaling_of(results) and all_good
    say("every goal met" if all_good else "some goals not met: see the table")
    return 0 if all_good else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/core.py")
