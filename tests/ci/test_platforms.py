"""The table of platforms in docs/platforms.md: each wheel has a row, and no grade is better than the tests that run."""

from __future__ import annotations

import re
import runpy

from ci.jobs.pytest_runs import PYTEST_RUNS
from ci.lib.folders import CI, ROOT
from tools.build.targets import TARGETS

PAGE = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Tested systems\n")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in row] for row in re.findall(r"^\|(.+)\|(.+)\|(.+)\|(.+)\|$", SECTION, re.M)][2:]
SELECT = runpy.run_path(str(CI / "test"))["select"]


def test_every_wheel_has_a_row_and_a_line_that_says_when_to_take_it():
    files = {target.platform_tag.partition(".")[0] for target in TARGETS}
    assert {row[1].strip("`") for row in ROWS if row[1].startswith("`")} == files
    assert [target.name for target in TARGETS if f"`{target.platform_tag}.whl`" not in PAGE] == []


def test_the_runs_that_a_row_names_exist():
    default = set(SELECT([]))
    for system, _, grade, by in ROWS:
        jobs = re.findall(r"`([\w-]+)`", by)
        if grade.startswith("tested emulated"):
            assert jobs, system
            SELECT(jobs)
            assert bool(default.intersection(jobs)) == ("on each change" in grade), system
        else:
            assert grade in ("tested on each change", "built and inspected"), system
            assert not any(plan.name in jobs for plan in PYTEST_RUNS), system
