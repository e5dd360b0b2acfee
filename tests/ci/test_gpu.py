"""The steps of ci/gpu, without a GPU: nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.lib.folders import ROOT
from ci.suites.gpu.steps import FAILS_A_LAUNCH, steps_of

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
