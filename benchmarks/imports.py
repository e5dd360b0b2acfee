#!/usr/bin/env python3
"""The cost of imports: ffi_hpy against apache-tvm-ffi on CPython 3.11, and alone on the other interpreters.

Each measurement is a separate process; both sides and an empty interpreter take turns, so that a change of the
machine's speed affects all. The output has medians over the rounds; a ratio is the median of the rounds' ratios. Time
is processor time of the statement; memory is the peak of the process minus the peak of an empty interpreter; modules
counts the modules that the statement adds.

    python benchmarks/imports.py [--rounds N] [--profile] [NAME...]

NAME is an interpreter of the matrix, for the second table (default: all). --profile also prints the most expensive
modules. apache-tvm-ffi imports torch if torch is installed; here torch is not installed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from calls import our_env  # noqa: E402
from scaling_sides import PEERS  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.matrix import names  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.lib.process import clean_environ, output_of  # noqa: E402
from ci.provision.envs import cached_env, python_of  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

# The timed statements: a label, and a statement in which X is the package.
ROWS = {
    "the package": "import X",
    "and a first call": "import X; X.get_global_func('ffi.GetRegisteredTypeKeys')()",
    "and an Array": "import X; X.Array([1, 2, 3])[0]",
    "and structural_equal": "import X; X.structural_equal([1], [1])",
    "and dataclasses": "import X.dataclasses",
}
GOALS = {"ms": 0.3, "MB": 0.5}

_PROGRAM = """
import sys, time
modules, start = len(sys.modules), time.process_time()
{statement}
seconds = time.process_time() - start
peak = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(seconds * 1e3, peak / 1024, len(sys.modules) - modules)
"""


@dataclass(frozen=True)
class Cost:
    """The cost of a statement: milliseconds, MB of the process's peak memory, added modules."""

    ms: float
    mb: float
    modules: int


def cost(env: Path, statement: str) -> Cost:
    # -I keeps the checkout's package out. Bytecode may be written, as in a usual environment.
    command = [python_of(env), "-I", "-c", _PROGRAM.format(statement=statement)]
    ms, mb, modules = output_of(command, {"PYTHONDONTWRITEBYTECODE": ""}).splitlines()[-1].split()
    return Cost(float(ms), float(mb), int(modules))


def compare(ours: Path, upstream: Path, rounds: int) -> bool:
    """Print the table of both sides; return whether the first row meets its goals."""
    heading = ("import", "ffi_hpy ms", "tvm_ffi ms", "ratio", "ffi_hpy MB", "tvm_ffi MB", "ratio", "modules")
    rows: list[tuple[object, ...]] = [heading]
    within = True
    for label, statement in ROWS.items():
        runs = []
        for _ in range(rounds + 1):
            mine = cost(ours, statement.replace("X", "ffi_hpy"))
            theirs = cost(upstream, statement.replace("X", "tvm_ffi"))
            runs.append((mine, theirs, cost(ours, "pass").mb, cost(upstream, "pass").mb))
        del runs[0]  # this run may have written the bytecode
        ms = [statistics.median(run[side].ms for run in runs) for side in (0, 1)]
        mb = [statistics.median(run[side].mb - run[2 + side] for run in runs) for side in (0, 1)]
        time_ratio = statistics.median(run[0].ms / run[1].ms for run in runs)
        if label == "the package":
            within = time_ratio <= GOALS["ms"] and mb[0] / mb[1] <= GOALS["MB"]
        modules = f"{runs[-1][0].modules} / {runs[-1][1].modules}"
        texts = [f"{value:.1f}" for value in (*ms, *mb)]
        rows.append((label, *texts[:2], f"{time_ratio:.2f}", *texts[2:], f"{mb[0] / mb[1]:.2f}", modules))
    print(table(rows), end="\n\n")
    return within


def alone(pythons: dict[str, Path], wheel: Path, rounds: int) -> None:
    """Print the cost of importing ffi_hpy on each interpreter."""
    rows: list[tuple[object, ...]] = [("interpreter", "ms", "MB", "modules")]
    for name, python in pythons.items():
        env = our_env(name, python, wheel)
        runs = [(cost(env, "import ffi_hpy"), cost(env, "pass")) for _ in range(rounds + 1)][1:]
        ms = statistics.median(run.ms for run, _ in runs)
        mb = statistics.median(run.mb - empty.mb for run, empty in runs)
        rows.append((name, f"{ms:.1f}", f"{mb:.1f}", runs[-1][0].modules))
    print(table(rows), end="\n\n")


def profile(env: Path) -> None:
    """Print the modules with the most own time, as the interpreter reports it."""
    command = [str(python_of(env)), "-I", "-X", "importtime", "-c", "import ffi_hpy"]
    said = subprocess.run(command, capture_output=True, text=True, env=clean_environ()).stderr
    own = {m[2]: int(m[1]) for m in re.finditer(r"(?m)^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", said)}
    first = next(i for i, name in enumerate(own) if name.startswith("ffi_hpy"))
    found = sorted(list(own.items())[first:], key=lambda item: -item[1])
    print(table([("module", "us"), *found[:20], ("all", sum(us for _, us in found))]), end="\n\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    wheel = build_wheel()
    pythons = find_interpreters(list(dict.fromkeys(["cp311", *names(options.names)])))
    if "cp311" not in pythons:
        raise Missing("no interpreter for the comparison")
    ours = our_env("cp311", pythons["cp311"], wheel)
    upstream = cached_env("bench-import-upstream", pythons["cp311"], [PEERS["tvm_ffi"]])
    within = compare(ours, upstream, options.rounds)
    alone(pythons, wheel, max(3, options.rounds // 3))
    if options.profile:
        profile(ours)
    say("every goal met" if within else "some goals not met: see the tables")
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/imports.py")
