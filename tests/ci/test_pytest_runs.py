"""Every test is part of some run on CPython with a GIL, on CPython without a GIL, and on PyPy. Options that leave out a
test name an existing test."""

from __future__ import annotations

import pytest

from ci.jobs.elsewhere import EXCEPTIONS
from ci.jobs.pytest_runs import MARKS, PYTEST_RUNS
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
