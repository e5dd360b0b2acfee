"""Detects, with an empty loop next to each measurement, whether the machine gave several threads as much as it gave
one.

The processors of a virtual machine are often halves of cores, and another guest has the other halves: suddenly one
thread runs up to 1.8 times as fast and two do not, or the reverse. A process cannot see this. So an empty loop is timed
right after each measurement, with the same number of threads. If the loops of n threads are not n times as fast as the
loop of one thread, the measurement next to them is not valid either.
"""

from __future__ import annotations

import statistics
from typing import NamedTuple

SLACK = 0.1
LEAST = 1 / 3


class Timed(NamedTuple):
    """A measurement, in calls per second; 0 if the threads never ran together."""

    rate: float
    loop: float  # of the empty loop, right afterwards

    @property
    def counts(self) -> bool:
        return self.rate > 0 and self.loop > 0


Pair = tuple[Timed, Timed]
"""Measurements with one thread and with several, one right after the other."""


def is_steady(pair: Pair, n: int) -> bool:
    """Return whether n threads ran n times as many empty loops as one."""
    one, several = pair
    return abs(several.loop / one.loop / n - 1) <= SLACK


def speedup(one: list[Timed], several: list[Timed], n: int) -> float | None:
    """Return the ratio of the calls of n threads to the calls of one: the median of the rounds in which the machine was
    steady.

    If these are less than a third, because the machine has no n whole cores, all rounds count. None without a round.
    """
    pairs = [pair for pair in zip(one, several) if pair[0].counts and pair[1].counts]
    steady = [pair for pair in pairs if is_steady(pair, n)]
    chosen = steady if len(steady) > LEAST * len(pairs) else pairs
    return statistics.median(b.rate / a.rate for a, b in chosen) if chosen else None


def at_usual_speed(timed: list[Timed], usual: float) -> list[float]:
    """Return the rates of a machine on which the loop always takes its usual time; 0 for a round without a
    measurement."""
    return [each.rate * usual / each.loop if each.counts else 0.0 for each in timed]
