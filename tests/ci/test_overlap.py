"""Only time in which all threads ran counts in benchmarks/scaling.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from overlap import Part, Stamp, common_spans, is_enough, part_inside, parts_together, rate_together

MS = 1_000_000


def stamps_of(*milliseconds, taken=()):
    """Return stamps at these times; before each time in `taken` the thread has lost its core."""
    count, stamps = 0, []
    for at in milliseconds:
        count += at in taken
        stamps.append(Stamp(at * MS, count))
    return stamps


def rate_of(*threads):
    return rate_together(parts_together(threads), 1000)


def test_one_thread_alone_counts_whole():
    assert rate_of(stamps_of(0, 10, 20)) == pytest.approx(100_000)


def test_threads_that_run_side_by_side_add_up():
    assert rate_of(stamps_of(0, 10, 20), stamps_of(0, 5, 10, 15, 20)) == pytest.approx(300_000)


def test_work_before_another_thread_begins_does_not_count():
    early = stamps_of(0, 1, 2, 3, 4, 10, 20, 30)  # four fast batches while the thread is alone
    assert rate_of(early, stamps_of(10, 20, 30)) == pytest.approx(200_000)


def test_work_after_another_thread_has_ended_does_not_count():
    late = stamps_of(0, 10, 20, 21, 22, 23, 24)
    assert rate_of(late, stamps_of(0, 10, 20)) == pytest.approx(200_000)


def test_a_batch_that_sticks_out_counts_in_no_part():
    long_first = stamps_of(0, 12, 22, 32)
    assert part_inside(long_first, [(10 * MS, 30 * MS)]) == Part(1, 10 * MS)


def test_while_one_thread_has_no_core_the_others_do_not_count():
    robbed = stamps_of(0, 10, 20, 60, 70, 80, taken={60})
    undisturbed = stamps_of(0, 10, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80)  # faster while the thread is alone
    assert common_spans([robbed, undisturbed]) == [(0, 20 * MS), (60 * MS, 80 * MS)]
    assert rate_of(robbed, undisturbed) == pytest.approx(200_000)


def test_batches_in_which_cores_were_taken_may_overlap():
    first = stamps_of(0, 10, 40, 50, 60, taken={40})
    second = stamps_of(0, 20, 30, 50, 60, taken={30, 50})
    assert common_spans([first, second]) == [(0, 10 * MS), (50 * MS, 60 * MS)]


def test_a_batch_without_a_core_outside_the_common_time_changes_nothing():
    early = stamps_of(0, 5, 10, 20, 30, taken={5})
    assert common_spans([early, stamps_of(10, 20, 30)]) == [(10 * MS, 30 * MS)]


def test_threads_that_never_ran_together_have_no_rate():
    assert rate_of(stamps_of(0, 10, 20), stamps_of(30, 40, 50)) is None


def test_runs_that_overlap_too_briefly_have_no_rate():
    assert rate_of(stamps_of(0, 2, 4), stamps_of(0, 1, 4)) is not None
    assert rate_of(stamps_of(0, 2, 4), stamps_of(1, 2, 4)) is None


def test_parts_of_several_runs_add_up():
    runs = [parts_together([stamps_of(0, 2, 4), stamps_of(1, 2, 4)]) for _ in range(2)]
    both = [first.plus(second) for first, second in zip(*runs)]
    assert both == [Part(2, 4 * MS), Part(4, 6 * MS)]
    assert is_enough(both)
    assert not is_enough(both, 5 * MS)


def test_a_thread_without_a_batch_in_the_common_time_gives_no_rate():
    assert rate_of(stamps_of(0, 10, 20, 30), stamps_of(5, 95)) is None


def test_a_thread_without_a_batch_gives_no_rate():
    assert rate_of(stamps_of(0, 10), stamps_of(0)) is None
