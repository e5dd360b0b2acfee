"""A user's program for tally, input of type checkers: `mypy --strict` must report no error.

Each deliberate error has a comment with its error code: if mypy misses that error, it reports the unused comment.
"""

from __future__ import annotations

from typing import assert_type

import tally

import ffi_hpy


def doubled(values: ffi_hpy.Tensor) -> ffi_hpy.Tensor:
    tally.scale(values)
    return values


def mean_of_all(groups: list[list[float]]) -> float:
    merged = tally.Tally()
    for group in groups:
        merged = tally.merge(merged, tally.Tally.of(group))
    return merged.mean()


assert_type(tally.Tally.of([1, 2.5]), tally.Tally)
assert_type(tally.Tally().count, int)
assert_type(tally.Tally().mean(), float)
tally.Tally().add(value=1)

tally.Tally().count = 1  # type: ignore[misc]
tally.Tally(1)  # type: ignore[call-arg]
tally.Tally().add("1")  # type: ignore[arg-type]
tally.scale([1.0])  # type: ignore[arg-type]
tally.scale(doubled, factor="2")  # type: ignore[arg-type]
tally.scale(values=1, by=2)  # type: ignore[call-arg, arg-type]
print(tally.TYPE_CHECKING)  # type: ignore[attr-defined]
