"""Costs of Python code: calls are counted, and twice as much work needs about twice as many."""

from __future__ import annotations

import gc
import sys

SIZES = 100, 200


def count_calls(work):
    """Return the number of calls in `work`, of functions in Python and in C."""
    n = 0

    def note(frame, event, argument):
        nonlocal n
        n += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return n


def assert_grows_with_size(prepare):
    """Check that calls grow linearly. `prepare(n)` returns the work for a size. The first run fills the caches."""
    prepare(SIZES[0])()
    few, many = (count_calls(prepare(n)) for n in SIZES)
    if many >= 2.3 * few + 50:  # perhaps finalizers of earlier tests ran in between
        gc.collect()
        few, many = (count_calls(prepare(n)) for n in SIZES)
    assert many < 2.3 * few + 50, (few, many)
