"""Every test is part of some run on CPython with a GIL, on CPython without a GIL, and on PyPy. Options that leave out a
test name an existing test."""

from __future__ import annotations

import pytest

from ci.jobs.elsewhere import EXCEPTIONS
from ci.jobs.pytest_runs import MARKS, PYTEST_RUNS, Part, parts_of, result_of
from ci.lib.folders import ROOT
from ci.lib.matrix import BY_NAME


@pytest.mark.parametrize("mark", MARKS)
def test_tests_that_some_runs_deselect_are_in_other_runs(mark):
    plain = [plan for plan in PYTEST_RUNS if plan.is_default and plan.name == plan.interpreter]
    having = [BY_NAME[plan.interpreter] for plan in plain if f"not {mark}" not in " ".join(plan.arguments)]
    assert f'"{mark}: ' in (ROOT / "pyproject.toml").read_text()
    kinds = {("cpython", False), ("cpython", True), ("pypy", False)}
    expected = {("cpython", False)} if mark == "once" else kinds
    assert {(each.implementation, each.free_threaded) for each in having} == expected


@pytest.mark.parametrize("test", sorted({test for exception in EXCEPTIONS for test in exception.tests}))
def test_left_out_tests_exist(test):
    file, _, name = test.partition("::")
    name, _, parameter = name.rstrip("]").partition("[")
    text = (ROOT / "tests" / "python" / file).read_text()
    assert not name or f"\ndef {name}(" in text
    assert not parameter or f'"{parameter}"' in text


@pytest.mark.parametrize("plan", [plan for plan in PYTEST_RUNS if plan.in_parts], ids=lambda plan: plan.name)
def test_the_parts_of_a_run_have_each_test_once(plan):
    files = [file for folder in plan.folders for file in find_tests(folder)]
    in_parts = [file for part in parts_of(plan) for folder in part for file in find_tests(folder)]
    assert len(parts_of(plan)) > 3
    assert sorted(in_parts) == sorted(files)


def find_tests(folder):
    path = ROOT / folder
    return [path] if path.is_file() else list(path.rglob("test_*.py"))


OK = Part(0, {"passed": 3, "failed": 0, "skipped": 1, "gil": "on"}, "== 3 passed ==")
EMPTY = Part(5, {"passed": 0, "failed": 0, "skipped": 0, "gil": "on"}, "== no tests ran ==")
BAD = Part(1, {"passed": 2, "failed": 1, "skipped": 0, "gil": "on"}, "== 1 failed, 2 passed ==")
KILLED = Part(-11, {}, "test_a")


@pytest.mark.parametrize(
    ("parts", "outcome", "counts", "closing"),
    [
        ([OK], "ok", (3, 0, 1), "3 passed"),
        ([BAD], "FAILED", (2, 1, 0), "1 failed, 2 passed"),
        ([EMPTY], "FAILED", (0, 0, 0), "no tests ran"),
        ([KILLED], "FAILED", (None, None, None), "test_a [killed by SIGSEGV]"),
        ([OK, EMPTY, OK], "ok", (6, 0, 2), "6 passed, 0 failed, 2 skipped in 3 processes"),
        ([EMPTY, EMPTY], "FAILED", (0, 0, 0), "0 passed, 0 failed, 0 skipped in 2 processes"),
        ([OK, BAD], "FAILED", (5, 1, 1), "5 passed, 1 failed, 1 skipped in 2 processes; 1 failed, 2 passed"),
        ([OK, KILLED], "FAILED", (3, 0, 1), "3 passed, 0 failed, 1 skipped in 2 processes; test_a [killed by SIGSEGV]"),
    ],
)
def test_a_run_passes_only_if_each_part_passes(parts, outcome, counts, closing):
    result = result_of("pp00", parts)
    assert (result.outcome, (result.passed, result.failed, result.skipped), result.closing) == (
        outcome,
        counts,
        closing,
    )
