"""Whether the machine itself gave several threads as much as it gave one, from an empty loop beside what is timed.

The processors of a virtual machine are often halves of cores whose other halves belong to someone else: one thread runs
up to 1.8 times as fast as the moment before, and two do not, or the other way round. Nothing tells a process of that.
So an empty loop is timed right after each measurement, with as many threads. Where the loops of several threads are not
as many times as fast as that of one, neither is what was timed beside them, whatever it is.
"""

from __future__ import annotations

import statistics
from typing import NamedTuple

SLACK = 0.1
LEAST = 1 / 3


class Timed(NamedTuple):
    """A measurement, in calls per second; 0 where the threads never ran together."""

    rate: float
    loop: float  # the empty loop, right after it

    @property
    def counts(self) -> bool:
        return self.rate > 0 and self.loop > 0


Pair = tuple[Timed, Timed]
"""One thread and several, one right after the other."""


def is_steady(pair: Pair, n: int) -> bool:
    """Return whether n threads went through n times as many empty loops as one."""
    one, several = pair
    return abs(several.loop / one.loop / n - 1) <= SLACK


def speedup(one: list[Timed], several: list[Timed], n: int) -> float | None:
    """Return how many times as many calls n threads made, by the median of the rounds in which the machine was steady.

    If those are less than a third, because the machine has no n whole cores, all rounds count. None: none does.
    """
    pairs = [pair for pair in zip(one, several) if pair[0].counts and pair[1].counts]
    steady = [pair for pair in pairs if is_steady(pair, n)]
    chosen = steady if len(steady) > LEAST * len(pairs) else pairs
    return statistics.median(b.rate / a.rate for a, b in chosen) if chosen else None


def at_usual_speed(timed: list[Timed], usual: float) -> list[float]:
    """Return the rates that a machine would show on which the loop always took its usual time; 0 is a round without."""
    return [each.rate * usual / each.loop if each.counts else 0.0 for each in timed]
