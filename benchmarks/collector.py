#!/usr/bin/env python3
"""Instructions of gc.collect() for each live object outside of cycles, counted by callgrind.

    python benchmarks/collector.py [--on NAME] [--objects N] [--wheel FILE] [--before WHEEL] [--markdown] [ROW ...]

The columns: ours; ours without the search for cycles (FFI_HPY_COLLECT=0); an earlier wheel of ours, with --before;
apache-tvm-ffi; nanobind, whose classes are not tracked by the collector unless they ask for it; and array.array, a type
of C that the collector tracks and that refers to its type only. The program subtracts the count of a collection without
the objects. The last row is the whole cost of 100,000 objects of Python that are made and dropped beside N objects with
int fields, minus the cost without these, per object with int fields; it has collections of all generations. The program
needs valgrind with its headers and a C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from collector_side import ROWS, YOUNG, YOUNG_ALONE  # noqa: E402
from instructions import build_marks, count_side  # noqa: E402
from scaling_sides import find_place  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import BY_NAME  # noqa: E402
from ci.lib.messages import Missing, markdown_table, say, table  # noqa: E402
from ci.provision.envs import python_of  # noqa: E402
from ci.provision.interpreters import provide  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

OFF = "without the search"
SIDES = ("ffi_hpy", OFF, "before", "tvm_ffi", "nanobind", "plain")
SWITCH = "FFI_HPY_COLLECT"


def count(side: str, options: argparse.Namespace, wheel: Path, marks: Path, folder: Path) -> dict[str, float]:
    """Return the instructions per object by row. Raises Missing."""
    kind = "ffi_hpy" if side == OFF else side
    place = find_place(kind, options.on, provide(BY_NAME[options.on]), wheel, "calls")
    package = "ffi_hpy" if kind == "before" else kind
    words = [package, place.file, marks, str(options.objects), *options.rows]
    os.environ[SWITCH] = "0" if side == OFF else "1"
    counts = count_side(python_of(place.env), words, None, folder, "collector_side.py")
    alone = counts.pop(YOUNG_ALONE, 0.0)
    if YOUNG in counts:
        counts[YOUNG] -= alone
    return {row: each / options.objects for row, each in counts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", default="cp311", choices=sorted(name for name in BY_NAME if name.startswith("cp")))
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--wheel", type=Path, help="a wheel of ours, instead of building one")
    parser.add_argument("--before", type=Path, help="an earlier wheel of ours")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of collector_side.py; none: all")
    options = parser.parse_args()
    options.rows = options.rows or [*ROWS, YOUNG]
    wheels = {"before": options.before, "ffi_hpy": options.wheel or build_wheel()}
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        marks = build_marks(Path(scratch))
        for side in SIDES:
            if side == "before" and not options.before:
                continue
            say(f"{options.on}: {side} ...")
            wheel = wheels.get(side, wheels["ffi_hpy"])
            try:
                found[side] = count(side, options, wheel, marks, Path(scratch, side.replace(" ", "-")))
            except Missing as reason:
                if side == "ffi_hpy":
                    raise
                say(f"{side} is left out: {reason}")
    lines = [[f"{options.on}: instructions per object", *found]]
    for row in options.rows:
        lines.append([row, *(f"{counts[row]:.0f}" if row in counts else "" for counts in found.values())])
    print((markdown_table if options.markdown else table)(lines))
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/collector.py")
