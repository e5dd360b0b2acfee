"""How fast several threads went while all of them ran, from what each noted between its batches of calls.

Threads start and stop apart, and on a busy machine another process takes the core of one of them while the others go
on undisturbed, and faster than they should. Neither time counts. A thread notes between two batches what time it is and
how often the system has taken its core away (ru_nivcsw: a thread that waits for a lock is not among these). What counts
is the time from when the last thread began until the first one ended, less each batch in which a thread lost its core;
and of that the batches that lie in it whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

LEAST_SHARE = 0.05


class Stamp(NamedTuple):
    """What a thread notes between two batches."""

    at: int  # ns
    taken: int  # how often its core was taken away so far


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


def batches_inside(stamps: Sequence[Stamp], spans: Sequence[Span]) -> tuple[int, int]:
    """Return how many batches of a thread lie in one of the spans, and the ns that they took."""
    n, ns, i = 0, 0, 0
    for before, after in zip(stamps, stamps[1:]):
        while i < len(spans) and spans[i][1] < after.at:
            i += 1
        if i == len(spans):
            break
        if spans[i][0] <= before.at:
            n += 1
            ns += after.at - before.at
    return n, ns


def rate_together(threads: Sequence[Sequence[Stamp]], calls_per_batch: int) -> Optional[float]:
    """Return the calls per second of all threads together while all ran.

    None if that was less than LEAST_SHARE of the time between the first stamp and the last, or too short for one of
    them to end a batch.
    """
    if any(len(stamps) < 2 for stamps in threads):
        return None
    spans = common_spans(threads)
    whole = max(stamps[-1].at for stamps in threads) - min(stamps[0].at for stamps in threads)
    if sum(end - start for start, end in spans) < LEAST_SHARE * whole:
        return None
    rate = 0.0
    for stamps in threads:
        n, ns = batches_inside(stamps, spans)
        if n == 0:
            return None
        rate += n * calls_per_batch / ns * 1e9
    return rate
