"""How fast several threads went while all of them ran, from what each noted between its batches of calls.

Threads start and stop apart, and on a busy machine another process takes the core of one of them while the others go
on undisturbed, and faster than they should. Neither time counts. A thread notes between two batches what time it is and
how often the system has taken its core away (ru_nivcsw: a thread that waits for a lock is not among these). What counts
is the time from when the last thread began until the first one ended, less each batch in which a thread lost its core;
and of that the batches that lie in it whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LEAST_NS = 4_000_000


class Stamp(NamedTuple):
    """What a thread notes between two batches."""

    at: int  # ns
    taken: int  # how often its core was taken away so far


class Part(NamedTuple):
    """What a thread did in time that counts."""

    batches: int
    ns: int

    def plus(self, other: Part) -> Part:
        return Part(self.batches + other.batches, self.ns + other.ns)


Span = tuple[int, int]


def common_spans(threads: Sequence[Sequence[Stamp]]) -> list[Span]:
    """Return when all threads ran, in order. A thread has at least two stamps."""
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
    """Return what a thread did in batches each of which lies in one of the spans."""
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
    """Return what each thread did while all ran."""
    if any(len(stamps) < 2 for stamps in threads):
        return [Part(0, 0) for _ in threads]
    spans = common_spans(threads)
    return [part_inside(stamps, spans) for stamps in threads]


def is_enough(parts: Sequence[Part], least_ns: int = LEAST_NS) -> bool:
    """Return whether each thread did something for so long while all ran."""
    return all(part.ns >= least_ns and part.batches > 0 for part in parts)


def rate_together(parts: Sequence[Part], calls_per_batch: int) -> float | None:
    """Return the calls per second of all threads together, or None where what they did is too little to say."""
    if not is_enough(parts):
        return None
    return sum(part.batches * calls_per_batch / part.ns * 1e9 for part in parts)
