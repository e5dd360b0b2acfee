"""Rate of calls from two threads, each with its own callable, against one thread. Usage: threads.py LIBRARY"""

from __future__ import annotations

import ctypes
import statistics
import sys
import threading
import time

import ffi_hpy

N = 300_000


def work(barrier: threading.Barrier) -> None:
    nop = ffi_hpy.get_global_func("testing.nop")
    barrier.wait()
    for _ in range(N):
        nop(1, 2, 3)


def rate(n_threads: int) -> float:
    """Calls per second of all threads together."""
    barrier = threading.Barrier(n_threads + 1)
    threads = [threading.Thread(target=work, args=(barrier,)) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return n_threads * N / (time.perf_counter() - start)


def main() -> None:
    ctypes.CDLL(sys.argv[1])
    pairs = [(rate(1), rate(2)) for _ in range(9)]
    one, two = (statistics.median(side) / 1e6 for side in zip(*pairs))
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"threads on {sys.version.split()[0]}, GIL {'on' if gil else 'off'}:")
    print(f"one {one:.1f} M calls/s, two {two:.1f} M calls/s")
    print(f"two against one {statistics.median(b / a for a, b in pairs):.2f}")


if __name__ == "__main__":
    main()
