"""Fields that one thread assigns while others read the object in every way; the program is field_torture.py."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_OWN_DEBUG, PROGRAM_SECONDS, needs_threads

TORTURE = Path(__file__).with_name("field_torture.py")

pytestmark = [
    needs_threads,
    pytest.mark.skipif(IS_OWN_DEBUG, reason="debug mode takes its lock for each handle, and minutes for this"),
    pytest.mark.thread_unsafe,  # the program starts its own threads
]


def torture(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(TORTURE), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS,
    )
    assert done.returncode == 0, f"status {done.returncode} after {done.stdout[-200:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.same_everywhere
def test_every_operation_reads_every_kind_of_field_while_it_is_assigned() -> None:
    lines = torture("--seconds", "0.005").splitlines()
    assert lines[-1] == f"{len(lines) - 1} combinations"
    assert len(lines) > 400
    assert sum("'worked'" in line for line in lines) > 0.8 * len(lines)  # some combinations copy or compare functions


def test_a_field_is_assigned_for_a_long_time_while_its_object_is_printed() -> None:
    line = torture("--seconds", "1", "--only", "python/repr/v_str/shared").splitlines()[0]
    assert int(re.findall(r"'worked': (\d+)", line)[0]) >= 40
