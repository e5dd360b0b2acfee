"""Rate of calls from two threads against one, sharing one callable and with one each. Usage: threads.py LIBRARY"""

from __future__ import annotations

import ctypes
import statistics
import sys
import threading
import time
from typing import Callable

import ffi_hpy

N = 300_000


def get_nop() -> ffi_hpy.Function:
    return ffi_hpy.get_global_func("testing.nop")


def work(barrier: threading.Barrier, get: Callable[[], ffi_hpy.Function]) -> None:
    nop = get()
    barrier.wait()
    for _ in range(N):
        nop(1, 2, 3)


def rate(n_threads: int, get: Callable[[], ffi_hpy.Function]) -> float:
    """Calls per second of all threads together."""
    barrier = threading.Barrier(n_threads + 1)
    threads = [threading.Thread(target=work, args=(barrier, get)) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return n_threads * N / (time.perf_counter() - start)


def report(callables: str, get: Callable[[], ffi_hpy.Function]) -> None:
    pairs = [(rate(1, get), rate(2, get)) for _ in range(9)]
    one, two = (statistics.median(side) / 1e6 for side in zip(*pairs))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{callables}: one {one:.1f} M calls/s, two {two:.1f} M calls/s, two against one {ratio:.2f}")


def main() -> None:
    ctypes.CDLL(sys.argv[1])
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"threads on {sys.version.split()[0]}, GIL {'on' if gil else 'off'}")
    shared = get_nop()
    report("one callable for all", lambda: shared)
    report("a callable for each", get_nop)


if __name__ == "__main__":
    main()
