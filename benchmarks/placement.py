"""Random distances between the libraries of a process.

A loop of short calls may take a third longer if branches of two libraries share an entry of the processor's branch
predictor. Address randomization does not help, because libraries that are loaded in the same order have the same
distances in each process. So a timed process calls `scatter` before it imports the timed package, and a benchmark takes
medians over several processes.
"""

from __future__ import annotations

import ctypes
import mmap
import random
from pathlib import Path

MOST_PAGES = 64
MAP_FIXED_NOREPLACE = 0x100000
FAILED = ctypes.c_void_p(-1).value


def gaps() -> list[tuple[int, int]]:
    """Return the start and end of each gap between two mappings of this process."""
    ranges = [line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines()]
    ends = [int(end, 16) for _, end in ranges]
    return list(zip(ends, [int(begin, 16) for begin, _ in ranges[1:]]))


def scatter() -> int:
    """Map up to 64 pages at the top of each larger gap, where the next library would go; return the number of gaps. The
    pages are never touched and not accessible."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
    taken = 0
    for begin, end in gaps():
        size = random.randrange(MOST_PAGES) * mmap.PAGESIZE
        if not size or end - begin <= MOST_PAGES * mmap.PAGESIZE:
            continue
        address = libc.mmap(end - size, size, 0, flags, -1, 0)
        taken += address not in (None, FAILED)
    return taken
