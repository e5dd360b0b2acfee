"""Only time in which all threads ran counts in benchmarks/scaling.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from overlap import Stamp, batches_inside, common_spans, rate_together

MS = 1_000_000


def stamps_of(*milliseconds, taken=()):
    """Stamps at these times; in `taken` are those before which the core was taken away."""
    count, stamps = 0, []
    for at in milliseconds:
        count += at in taken
        stamps.append(Stamp(at * MS, count))
    return stamps


def test_one_thread_alone_counts_whole():
    assert rate_together([stamps_of(0, 10, 20)], 1000) == pytest.approx(100_000)


def test_threads_that_run_side_by_side_add_up():
    assert rate_together([stamps_of(0, 10, 20), stamps_of(0, 5, 10, 15, 20)], 1000) == pytest.approx(300_000)


def test_what_a_thread_does_before_another_begins_does_not_count():
    early = stamps_of(0, 1, 2, 3, 4, 10, 20, 30)  # four fast batches while it is alone
    assert rate_together([early, stamps_of(10, 20, 30)], 1000) == pytest.approx(200_000)


def test_what_a_thread_does_after_another_has_ended_does_not_count():
    late = stamps_of(0, 10, 20, 21, 22, 23, 24)
    assert rate_together([late, stamps_of(0, 10, 20)], 1000) == pytest.approx(200_000)


def test_a_batch_that_sticks_out_counts_in_no_part():
    long_first = stamps_of(0, 12, 22, 32)
    n, ns = batches_inside(long_first, [(10 * MS, 30 * MS)])
    assert (n, ns) == (1, 10 * MS)


def test_while_one_thread_has_no_core_the_others_do_not_count():
    robbed = stamps_of(0, 10, 20, 60, 70, 80, taken={60})
    undisturbed = stamps_of(0, 10, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80)  # faster while it is alone
    assert common_spans([robbed, undisturbed]) == [(0, 20 * MS), (60 * MS, 80 * MS)]
    assert rate_together([robbed, undisturbed], 1000) == pytest.approx(200_000)


def test_batches_in_which_cores_were_taken_may_overlap():
    first = stamps_of(0, 10, 40, 50, 60, taken={40})
    second = stamps_of(0, 20, 30, 50, 60, taken={30, 50})
    assert common_spans([first, second]) == [(0, 10 * MS), (50 * MS, 60 * MS)]


def test_a_batch_without_a_core_outside_the_common_time_changes_nothing():
    early = stamps_of(0, 5, 10, 20, 30, taken={5})
    assert common_spans([early, stamps_of(10, 20, 30)]) == [(10 * MS, 30 * MS)]


def test_threads_that_never_ran_together_have_no_rate():
    assert rate_together([stamps_of(0, 10, 20), stamps_of(30, 40, 50)], 1000) is None


def test_too_little_time_together_is_no_rate():
    assert rate_together([stamps_of(0, 10, 1000), stamps_of(0, 10, 1000)], 1000) is not None
    robbed = stamps_of(0, 10, 1000, taken={1000})
    assert rate_together([robbed, robbed], 1000) is None


def test_a_thread_without_a_batch_of_its_own_in_the_common_time_is_no_rate():
    assert rate_together([stamps_of(0, 10, 20, 30), stamps_of(5, 95)], 1000) is None


def test_a_thread_that_made_no_batch_is_no_rate():
    assert rate_together([stamps_of(0, 10), stamps_of(0)], 1000) is None
