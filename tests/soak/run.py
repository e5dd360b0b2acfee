"""Repeats one operation and measures the memory that each repetition leaks.

    run.py OPERATION SECONDS [ITERATIONS]
    run.py --list

Prints as JSON the number of `iterations`, the `growth` of memory in bytes per iteration, the `bound` for that number of
iterations, and the `excuse` of an operation whose growth the interpreter causes. Ends after ITERATIONS (default 10^6)
or about SECONDS, whichever is first.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
import time
from pathlib import Path

from operations import INTERPRETERS_OWN, OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# This share of the repetitions warms up. The rest is split into four quarters; memory is read between them.
WARM_UP, QUARTERS = 0.2, 4
# Memory that allocators and interpreters take in large steps is not growth.
NOISE_BYTES = (2 << 20) if sys.implementation.name == "pypy" else (768 << 10)
MOST_BYTES_EACH = 2.0


def resident() -> int:
    """Return the resident bytes of the process, after releasing all memory that can be released."""
    for _ in range(3):
        gc.collect()
    if _trim is not None:
        _trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


def repeat(work: Callable[[], object], n: int) -> None:
    for _ in range(n):
        work()


def repetitions_for(work: Callable[[], object], seconds: float, most: int) -> int:
    """Return the number of repetitions that fit into the time.

    PyPy compiles the operation during the first seconds, so a shorter trial would estimate a tenth of its speed.
    """
    work()
    n, spent = 1, 0.0
    while spent < seconds / 20 and n < most / 10:
        n *= 2
        started = time.perf_counter()
        repeat(work, n)
        spent = time.perf_counter() - started
    return max(8, min(most, int(n * seconds / spent)))


def measure(work: Callable[[], object], seconds: float, most: int) -> dict[str, float]:
    n = repetitions_for(work, seconds, most)
    repeat(work, int(n * WARM_UP))
    quarter = max(1, int(n * (1 - WARM_UP) / QUARTERS))
    marks = [resident()]
    for _ in range(QUARTERS):
        repeat(work, quarter)
        marks.append(resident())
    # A leak grows in both halves; memory that is allocated only once, such as a cache, grows in one half.
    growth = max(0, min(marks[2] - marks[0], marks[4] - marks[2])) / (2 * quarter)
    return {"iterations": n, "growth": growth, "bound": MOST_BYTES_EACH + NOISE_BYTES / (2 * quarter)}


def main(arguments: list[str]) -> None:
    if arguments == ["--list"]:
        print(json.dumps(list(OPERATIONS)))
        return
    work, seconds = OPERATIONS[arguments[0]], float(arguments[1])
    measured = measure(work, seconds, int(arguments[2]) if len(arguments) > 2 else 10**6)
    print(json.dumps({**measured, "excuse": INTERPRETERS_OWN.get(arguments[0], "")}))


if __name__ == "__main__":
    main(sys.argv[1:])
