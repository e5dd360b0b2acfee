"""The speed of several threads while all of them ran, computed from the stamps of each thread between its batches of
calls.

Threads start and stop at different times. On a busy machine another process takes the core of one thread, and the other
threads continue without contention, too fast. Neither time counts. Between two batches a thread records the time and
how often the system has taken its core away (ru_nivcsw, which excludes waits for locks). The counted time begins with
the last thread's start and ends with the first thread's end, minus each batch in which a thread lost its core. A batch
counts if it is completely inside the counted time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEAST_NS = 4_000_000


class Stamp(NamedTuple):
    """A thread's record between two batches."""

    at: int  # ns
    taken: int  # how often the thread has lost its core so far


class Part(NamedTuple):
    """A thread's work during counted time."""

    batches: int
    ns: int

    def plus(self, other: Part) -> Part:
        return Part(self.batches + other.batches, self.ns + other.ns)


Span = tuple[int, int]


def common_spans(threads: Sequence[Sequence[Stamp]]) -> list[Span]:
    """Return the spans in which all threads ran, in order. Each thread has at least two stamps."""
    start = max(stamps[0].at for stamps in threads)
    end = min(stamps[-1].at for stamps in threads)
    lost = sorted(
        (before.at, after.at)
        for stamps in threads
        for before, after in zip(stamps, stamps[1:])
        if before.taken != after.taken
    )
    spans = []
    for lost_from, lost_until in lost:
        if start < min(lost_from, end):
            spans.append((start, min(lost_from, end)))
        start = max(start, lost_until)
    if start < end:
        spans.append((start, end))
    return spans


def part_inside(stamps: Sequence[Stamp], spans: Sequence[Span]) -> Part:
    """Return the work of a thread in batches that are inside one of the spans."""
    n, ns, i = 0, 0, 0
    for before, after in zip(stamps, stamps[1:]):
        while i < len(spans) and spans[i][1] < after.at:
            i += 1
        if i == len(spans):
            break
        if spans[i][0] <= before.at:
            n += 1
            ns += after.at - before.at
    return Part(n, ns)


def parts_together(threads: Sequence[Sequence[Stamp]]) -> list[Part]:
    """Return the work of each thread while all ran."""
    if any(len(stamps) < 2 for stamps in threads):
        return [Part(0, 0) for _ in threads]
    spans = common_spans(threads)
    return [part_inside(stamps, spans) for stamps in threads]


def is_enough(parts: Sequence[Part], least_ns: int = LEAST_NS) -> bool:
    """Return whether each thread worked for at least `least_ns` while all ran."""
    return all(part.ns >= least_ns and part.batches > 0 for part in parts)


def rate_together(parts: Sequence[Part], calls_per_batch: int) -> float | None:
    """Return the calls per second of all threads together, or None if they worked too little."""
    if not is_enough(parts):
        return None
    return sum(part.batches * calls_per_batch / part.ns * 1e9 for part in parts)
