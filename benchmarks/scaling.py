#!/usr/bin/env python3
"""How calls scale with threads on free-threaded CPython: ours, apache-tvm-ffi, nanobind, pybind11, and plain Python.

Each row is timed with 1, 2, 4, ... up to as many threads as there are cores, on private objects of each thread and on
shared objects (scaling_rows.py). Plain Python, the same statement on a Python class, shows the limit of the
interpreter. The output has ns per call of one thread, including the loop's own cost (the row `loop alone`), and the
ratio of the calls per second of all threads to those of one (`-`: a side has no such row, or its process died during
the row, which standard error reports). A side that died is started again for its other rows; a side that does not start
again is left out. The file of --csv has all results, and is written after each row. When the minutes are over, or
SIGTERM arrives, the program prints the tables of the rows that it has timed.

Effects of a busy machine, and remedies:
- Threads start and stop apart, and other processes take cores. Only time in which all threads run counts: each
  records, between batches of 0.2 ms, the time and whether it has lost its core (overlap.py).
- The machine's speed changes. A round times all rows, and for each row all sides and thread counts in turn, so that
  the rounds of a row are half a minute apart if all rows are timed; a ratio is the median of the rounds' ratios.
- A hypervisor changes the cores' speed invisibly. An empty loop is timed next to each measurement: rounds in which two
  threads did not run that loop twice as fast as one are left out, and times are scaled to its usual speed (steady.py).
- If the threads hardly run together, they try again, up to ten times; a round that still fails is left out. `?` marks
  a row without any round: CPython's own lock yields before it waits, and on a machine with other work it loses its
  core each time.

Each side is a separate process. "ours, bound" is nanobind's source, compiled with our headers by nanobind's names.
Without --keep-gil functions have their defaults: ffi_hpy and tvm_ffi detach the thread state while native code runs,
bound functions do not. One more table has the time of making a class next to busy threads, in ms.

    python benchmarks/scaling.py [ROW ...] [--on cp314t|cp313t] [--sides SIDE ...] [--threads N ...] [--rounds N]
                                 [--minutes N] [--before WHEEL] [--csv FILE] [--svg FILE [--dark]]
    python benchmarks/scaling.py --publish FILE

--publish times nothing: from a file of --csv it prints the table of docs/performance.md and draws the plots of
docs/plots. --pack ARCHIVE puts the sides into an archive and times nothing; --packed ARCHIVE times the sides of an
archive, on a machine with more cores and only Python. --before WHEEL adds a side, an earlier wheel of ours, and the
goal that one thread takes at most 1.05 times as long as with that wheel.

The verdict on ours checks the goal for two threads. If ours is not linear, it also reports a peer with a better ratio,
and whether the peer's threads make more calls per second.

Exit status: 0 if every goal is met (the goals are for two threads), 1 if not or if a measurement failed.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # appended, because ffi_hpy is not built there

from scaling_pack import pack, unpack  # noqa: E402
from scaling_rows import CLASS_MADE_BUSY, CLASS_MADE_GOAL_MS, ROWS  # noqa: E402
from scaling_sides import KINDS, LABELS, PEERS, Place, find_places  # noqa: E402
from scaling_table import read_lines, table_of  # noqa: E402
from sides import Side, ask  # noqa: E402
from steady import Timed, at_usual_speed, speedup  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import Missing, markdown_table, say, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.envs import cached_env, python_of  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

if TYPE_CHECKING:
    from typing import Callable, NoReturn

PLOTS = HERE.parent / "docs" / "plots"
LOOP = "loop alone"
SECONDS, LOOP_SECONDS = 0.04, 0.015
CLASSES_MADE = 10
SLOWER = 1.05
NOISE = 0.95  # a ratio within 5 % of the best peer's is equal

RowMode = tuple[str, str]
"""A row's name and its mode."""

Rounds = dict[int, list[Timed]]
"""The rounds of one row of one side, by the number of threads."""


class Ended(BaseException):
    """The time is over, or SIGTERM arrived: the program times no further row. The message is the reason."""


class Result(NamedTuple):
    """One side's result of a row."""

    ns: float  # per call in one thread
    speedup: dict[int, float]  # by the number of threads
    one: list[float]  # the calls per second of one thread in each round; 0 for a round that is left out


Table = dict[RowMode, dict[str, Result]]
"""The results of all rows, by the side."""


def median_or_none(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def result_of(rounds: Rounds, usual: float) -> Result | None:
    """Return the medians, or None if this side has no valid round. `usual` is the loop's usual rate in one thread."""
    one = at_usual_speed(rounds[1], usual)
    rate = median_or_none([each for each in one if each > 0])
    if rate is None:
        return None
    ratios = {n: speedup(rounds[1], several, n) for n, several in rounds.items()}
    return Result(1e9 / rate, {n: ratio for n, ratio in ratios.items() if ratio is not None}, one)


def slowdown(before: Result, after: Result) -> float:
    """Return the ratio of one thread's time now to its time before."""
    return median_or_none([a / b for a, b in zip(before.one, after.one) if a > 0 and b > 0]) or 1.0


def measure(
    rows: list[RowMode],
    sides: dict[str, Side],
    counts: list[int],
    rounds: int,
    ends: float = math.inf,
    keep: Callable[[Table], None] = lambda found: None,
) -> Table:
    """Return the result of each side that has the row. `keep` receives the results so far after each row.

    Raises Ended instead of timing a row after `ends`, a time of time.monotonic().
    """
    timed: dict[tuple[RowMode, str], Rounds] = {}
    lacking = set()
    found: Table = {row: {} for row in rows}
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        for n_done, row in enumerate(rows):
            if time.monotonic() > ends:
                raise Ended(f"the time was over after {n_done} of {len(rows)} rows of round {i + 1}")
            for kind in [kind for kind in sides if (row, kind) not in lacking]:
                once = time_once(sides, kind, row, counts)
                if not once:
                    lacking.add((row, kind))
                for n, each in once.items():
                    timed.setdefault((row, kind), {}).setdefault(n, []).append(each)
            found = results_of(rows, timed)
            keep(found)
    return found


def results_of(rows: list[RowMode], timed: dict[tuple[RowMode, str], Rounds]) -> Table:
    """Return the results of the rounds that were timed. A row without any has no side."""
    usual = median_or_none([each.loop for of_counts in timed.values() for each in of_counts[1] if each.counts]) or 1.0
    found: Table = {row: {} for row in rows}
    for (row, kind), rounds_of in timed.items():
        result = result_of(rounds_of, usual)
        if result:
            found[row][kind] = result
    return found


def time_once(sides: dict[str, Side], kind: str, row: RowMode, counts: list[int]) -> dict[int, Timed]:
    """Return one round of a side's row, by the number of threads; empty if the side has no such row or dies of it."""
    found = {}
    for n in counts:
        rate = ask(sides, kind, *row, n, SECONDS)
        loop = ask(sides, kind, LOOP, "own", n, LOOP_SECONDS) if rate >= 0 else -1
        if loop < 0:
            return {}
        found[n] = Timed(rate, loop)
    return found


def rate_of_two(result: Result) -> float:
    """Return the calls per second that two threads make together."""
    return result.speedup[2] * 1e9 / result.ns


def judge(row: str, mode: str, results: dict[str, Result]) -> tuple[str, str]:
    """Return the goal for two threads as str, and the part of the goal that ours misses."""
    goal = ROWS[row].goal(mode)
    ours, before = results.get("ffi_hpy"), results.get("before")
    if ours is None or 2 not in ours.speedup:
        return "-", ""
    mine, lines = ours.speedup[2], []
    if goal is not None and mine < goal:
        lines.append("not met")
    # A row that meets the goal for private objects is linear, so a higher ratio of a peer is luck. A peer is better if
    # its threads scale better and also make more calls per second together, because slow calls scale easily.
    peers = [kind for kind in PEERS if kind in results and 2 in results[kind].speedup]
    scales = [kind for kind in peers if mine < min(NOISE * results[kind].speedup[2], 1.9)]
    better = [kind for kind in scales if rate_of_two(ours) < NOISE * rate_of_two(results[kind])]
    if better:
        lines.append(f"below {max(better, key=lambda kind: rate_of_two(results[kind]))}")
    elif scales:
        best = max(scales, key=lambda kind: results[kind].speedup[2])
        lines.append(f"scales less than {best}, makes more calls")
    if before and slowdown(before, ours) > SLOWER:
        lines.append(f"{slowdown(before, ours):.2f} of the time before")
    return ("-" if goal is None else f"{goal:.1f}"), ", ".join(lines) or "met"


def label(kind: str) -> str:
    return LABELS.get(kind, kind)


def line_of(row: str, mode: str, results: dict[str, Result], kinds: list[str], n: int) -> list[object]:
    cells: list[object] = [row, mode]
    cells += [f"{results[kind].ns:.1f}" if kind in results else "-" for kind in kinds]
    cells += [speedup_text(results[kind], n) if kind in results else "-" for kind in kinds]
    return [*cells, *(judge(row, mode, results) if n == 2 else ())]


def speedup_text(result: Result, n: int) -> str:
    """Return the speedup, or `?` if the threads never ran together for long enough, on a busy machine."""
    return f"{result.speedup[n]:.2f}" if n in result.speedup else "?"


def class_lines(sides: dict[str, Side], rounds: int) -> tuple[list[list[object]], bool]:
    """Return the table of classes made next to busy threads, and whether ours meets the goal."""
    kinds = list(sides)
    lines: list[list[object]] = [["class made beside busy threads, ms", *map(label, kinds), "goal", ""]]
    is_good = True
    for n_busy in CLASS_MADE_BUSY:
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind in [kind for kind in sides if -1 not in times[kind]]:
                times[kind].append(ask(sides, kind, "class made", n_busy, CLASSES_MADE))
        medians = {kind: -1 if -1 in found or not found else statistics.median(found) for kind, found in times.items()}
        is_last = n_busy == CLASS_MADE_BUSY[-1]
        is_met = not is_last or medians.get("ffi_hpy", 0) <= CLASS_MADE_GOAL_MS
        is_good = is_good and is_met
        verdict = [f"{CLASS_MADE_GOAL_MS:.1f}", "met" if is_met else "not met"] if is_last else ["-", ""]
        shown = ["-" if medians[kind] < 0 else f"{medians[kind]:.3f}" for kind in kinds]
        lines.append([f"beside {n_busy}", *shown, *verdict])
    return lines, is_good


def thread_counts() -> list[int]:
    cores = len(os.sched_getaffinity(0))
    powers = [1 << i for i in range(cores.bit_length()) if 1 << i <= cores]
    return powers if powers[-1] == cores else [*powers, cores]


def open_sides(places: dict[str, Place], keeps_gil: bool) -> dict[str, Side]:
    """Start a process for each side; report why a peer cannot be timed. `before` is ours from another wheel."""
    extra = ["--keep-gil"] if keeps_gil else []
    sides = {}
    for kind, (env, file, more) in places.items():
        module = "ffi_hpy" if kind == "before" else kind
        arguments = [*extra, *([f"--more={more}"] if more else [])]
        try:
            sides[kind] = Side(env, "scaling_side.py", module, file, arguments=arguments, threads=True)
        except Missing as reason:
            if kind not in PEERS:
                raise
            say(str(reason))
    return sides


def write_csv(file: Path, found: Table) -> None:
    """Replace the file at once: this program may be killed at any time."""
    scratch = file.with_name(f"{file.name}.new")
    with scratch.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["row", "mode", "side", "threads", "ns_of_one_thread", "speedup", "goal_for_two"])
        for (row, mode), results in found.items():
            goal = ROWS[row].goal(mode)
            for kind, result in results.items():
                for n, speedup in result.speedup.items():
                    cells = [
                        row,
                        mode,
                        label(kind),
                        n,
                        f"{result.ns:.1f}",
                        f"{speedup:.3f}",
                        "" if goal is None else goal,
                    ]
                    writer.writerow(cells)
    scratch.replace(file)


def draw(csv_file: Path, svg_file: Path, is_dark: bool) -> None:
    env = cached_env("bench-plot", sys.executable, ["matplotlib"])
    output_of([python_of(env), HERE / "scaling_plot.py", csv_file, svg_file, *(["--dark"] if is_dark else [])])


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows that contain this text; none: all")
    parser.add_argument("--on", default="cp314t", metavar="NAME", help="an interpreter of the matrix (cp314t)")
    parser.add_argument("--sides", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--threads", nargs="+", type=int, default=thread_counts())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--minutes", type=float, default=60, help="no row is timed after them (60)")
    parser.add_argument("--keep-gil", action="store_true", help="our functions and tvm_ffi's stay attached")
    parser.add_argument("--wheel", type=Path, help="ours, in place of this checkout's")
    parser.add_argument("--before", type=Path, metavar="WHEEL")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--svg", type=Path, help="needs --csv")
    parser.add_argument("--publish", type=Path, metavar="FILE", help="the table and the plots of docs, of such a file")
    parser.add_argument("--pack", type=Path, metavar="ARCHIVE")
    parser.add_argument("--packed", type=Path, metavar="ARCHIVE")
    parser.add_argument("--dark", action="store_true", help="the plot for a dark page")
    options = parser.parse_args()
    if options.svg and not options.csv:
        parser.error("--svg draws the rows that --csv has written")
    return options


def provide_places(options: argparse.Namespace, folder: Path) -> dict[str, Place]:
    """Return the place of each side, inside `folder` if it comes from an archive. Raises Missing."""
    if options.packed:
        packed = unpack(options.packed, folder)
        return {kind: packed[kind] for kind in ("before", *options.sides) if kind in packed}
    wheels = {"ffi_hpy": options.wheel or build_wheel()}
    kinds = [kind for kind in KINDS if kind in options.sides]
    if options.before:
        wheels["before"] = options.before
        kinds.insert(1, "before")
    python = provide(BY_NAME[options.on])
    places = find_places(kinds, options.on, python, wheels)
    if options.pack:
        pack(places, python, options.pack)
    return places


def wanted_rows(words: list[str]) -> list[RowMode]:
    """Return the rows that contain one of the words, or all, each with its modes."""
    names = [row for row in ROWS if not words or any(word in row for word in words)]
    return [(row, mode) for row in names for mode in ROWS[row].modes]


def publish(csv_file: Path) -> int:
    """Print a table of docs/performance.md, and draw its plots: those of two threads, or of more."""
    lines = read_lines(csv_file)
    print(markdown_table(table_of(lines)))
    PLOTS.mkdir(exist_ok=True)
    for name in ("light", "dark"):
        draw(csv_file, PLOTS / f"{plot_name(lines[0].threads)}-{name}.svg", name == "dark")
    return 0


def plot_name(n_threads: int) -> str:
    return "scaling" if n_threads == 2 else f"scaling-x{n_threads}"


def main() -> int:
    options = read_options()
    if options.publish:
        return publish(options.publish)
    with tempfile.TemporaryDirectory() as folder:
        places = provide_places(options, Path(folder))
        return 0 if options.pack else time_all(options, open_sides(places, options.keep_gil))


def end_of_signal(number: int, _frame: object) -> NoReturn:
    """Handle a signal."""
    raise Ended(f"ended by {signal.Signals(number).name}")


def time_all(options: argparse.Namespace, sides: dict[str, Side]) -> int:
    """Time the rows; print, write and draw the results, also if the time ends early; return the exit status."""
    counts, kinds = sorted({1, *options.threads}), list(sides)
    found: Table = {row: {} for row in wanted_rows(options.rows)}
    classes: list[list[object]] = []
    is_good, n_missing = True, 0

    def keep(so_far: Table) -> None:
        found.update(so_far)
        if options.csv:
            write_csv(options.csv, found)

    signal.signal(signal.SIGTERM, end_of_signal)
    ends = time.monotonic() + 60 * options.minutes
    try:
        measure(list(found), sides, counts, options.rounds, ends, keep)
        if not options.rows or "class made" in options.rows:
            classes, is_good = class_lines(sides, options.rounds)
    except Ended as reason:
        n_missing = sum(not results for results in found.values())
        say(f"{reason}; {n_missing} of {len(found)} rows were not timed")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    names = [label(kind) for kind in kinds]
    for n in counts[1:]:
        heading: list[object] = ["row", "", *(f"{name} ns" for name in names), *(f"{name} x{n}" for name in names)]
        lines = [line_of(row, mode, results, kinds, n) for (row, mode), results in found.items() if results]
        if n == 2:
            heading += ["goal", ""]
            is_good = is_good and all(line[-1] in ("met", "") for line in lines)
        print(table([heading, *lines]), end="\n\n")
    if classes:
        print(table(classes), end="\n\n")
    died = [kind for kind in kinds if kind not in sides or sides[kind].n_deaths]
    for side in sides.values():
        side.close()
    if options.svg:
        draw(options.csv, options.svg, options.dark)
    if died:
        say(f"died, and lack the rows that they died of: {', '.join(map(label, died))}")
    say("every goal met" if is_good else "some goals not met: see the tables")
    return 0 if is_good and not n_missing and set(died) <= set(PEERS) else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/scaling.py")
