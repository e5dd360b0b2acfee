"""The steps of ci/gpu, without a GPU: nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.lib.folders import ROOT
from ci.suites.gpu.run import run_step
from ci.suites.gpu.steps import FAILS_A_LAUNCH, command_of, steps_of

STEPS = {step.name: step for step in steps_of(Path("prepared"), "python3")}


def test_the_sanitizer_skips_the_test_that_fails_a_launch_on_purpose():
    assert f"--deselect={FAILS_A_LAUNCH}" in STEPS["compute-sanitizer"].command
    assert f"--deselect={FAILS_A_LAUNCH}" not in STEPS["our tests"].command


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_each_test_that_a_step_leaves_out_exists(step):
    for option in step.command:
        if option.startswith("--deselect="):
            file, _, name = option.partition("=")[2].partition("::")
            assert f"def {name}(" in (ROOT / file).read_text()


def test_a_step_gets_the_minutes_that_are_left():
    assert "--minutes=1.25" in command_of(STEPS["scaling"], 120, Path("report.xml"))
    assert command_of(STEPS["launches"], 120, Path("report.xml")) == [*STEPS["launches"].command]
    assert command_of(STEPS["our tests"], 120, Path("report.xml"))[-1] == "--junitxml=report.xml"


def test_a_step_with_too_little_time_is_not_run():
    assert run_step(STEPS["scaling"], {}, set(), 62).problems == ["not run: 62 s were left, and it needs 90 s"]
    assert run_step(STEPS["launches"], {}, set(), -3).problems == ["not run: 0 s were left, and it needs 10 s"]
