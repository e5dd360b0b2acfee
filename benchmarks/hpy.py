#!/usr/bin/env python3
"""The cost of HPy on our runtime: against hpy 0.9.0's own runtime, and against the CPython C API, on CPython 3.11.

Our runtime and hpy.universal load one universal binary, benchmarks/hpy_rows.c; benchmarks/capi_rows.c has the same
functions. Each side is a separate process, and the processes time the same row in turn. The output has medians over the
rounds; a ratio is the median of the rounds' ratios. This program sets up its environments.

    python benchmarks/hpy.py [--rounds N]

Exit status 0 if against hpy 0.9.0 the geometric mean is at most 1.0 and no row is above 1.2.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from hpy_side import ROWS  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.messages import Missing, table  # noqa: E402
from ci.lib.process import output_of  # noqa: E402
from ci.provision.compilers import find_c_compiler  # noqa: E402
from ci.provision.envs import cached_env, install_wheel  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel, hpy_include  # noqa: E402

UPSTREAM = ["hpy==0.9.0", "setuptools<81"]
ROUND_SECONDS = 0.02
MEAN_BOUND, ROW_BOUND = 1.0, 1.2


def compile_rows(folder: Path, python: Path) -> tuple[Path, Path]:
    """Return the universal module and the extension module of `python`."""
    compiler = [*find_c_compiler(), "-std=gnu11", "-O2", "-DNDEBUG", "-fPIC", "-shared"]
    universal, extension = folder / "rows.hpy0.so", folder / "rows.so"
    include = output_of([python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"]).strip()
    hpy_flags = ["-DHPY_ABI_UNIVERSAL", "-isystem", hpy_include()]
    output_of([*compiler, *hpy_flags, HERE / "hpy_rows.c", "-o", universal])
    output_of([*compiler, "-isystem", include, HERE / "capi_rows.c", "-o", extension])
    return universal, extension


def bench(sides: list[Side], rounds: int) -> bool:
    """Print the table; return whether ours, the first side, is within the bounds against the second side."""
    heading = ("row", *(f"{side.kind} ns" for side in sides), *(f"to {side.kind}" for side in sides[1:]), "")
    rows: list[tuple[object, ...]] = [heading]
    ratios: list[list[float]] = [[] for _ in sides[1:]]
    for row in ROWS:
        n = max(1000, int(ROUND_SECONDS / (max(sides[1].ns(row, 2000), 5.0) * 1e-9)))
        measured = [[side.ns(row, n) for side in sides] for _ in range(rounds)]
        medians = [statistics.median(values) for values in zip(*measured)]
        for i, found in enumerate(ratios, 1):
            found.append(statistics.median(values[0] / values[i] for values in measured))
        last = [found[-1] for found in ratios]
        mark = "above" if last[0] > ROW_BOUND else ""
        rows.append((row, *(f"{m:.1f}" for m in medians), *(f"{ratio:.2f}" for ratio in last), mark))
    means = [statistics.geometric_mean(found) for found in ratios]
    within = means[0] <= MEAN_BOUND and max(ratios[0]) <= ROW_BOUND
    mark = "above" if means[0] > MEAN_BOUND else ""
    rows.append(("geometric mean", *("" for _ in sides), *(f"{mean:.2f}" for mean in means), mark))
    print(table(rows))
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the cost of HPy on our runtime.")
    parser.add_argument("--rounds", type=int, default=75)
    options = parser.parse_args()
    wheel = build_wheel()
    pythons = find_interpreters(["cp311"])
    if "cp311" not in pythons:
        raise Missing("no interpreter for cp311")
    upstream = cached_env("bench-hpy-upstream", pythons["cp311"], UPSTREAM)
    ours = cached_env("bench-hpy", pythons["cp311"], ["typing-extensions"])
    install_wheel(ours, wheel)
    with tempfile.TemporaryDirectory() as folder:
        universal, extension = compile_rows(Path(folder), pythons["cp311"])
        what = (("ffi_hpy", ours, universal), ("hpy", upstream, universal), ("capi", ours, extension))
        sides = [Side(env, "hpy_side.py", kind, module) for kind, env, module in what]
        within = bench(sides, options.rounds)
        for side in sides:
            side.close()
    return 0 if within else 1


if __name__ == "__main__":
    run_main(main, "benchmarks/hpy.py")
