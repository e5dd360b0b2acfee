"""Runs the steps of ci/gpu within its minutes, and reports each result."""

from __future__ import annotations

import argparse
import re
import shutil
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ci.lib.folders import LOGS
from ci.lib.messages import Missing, say, table
from ci.lib.process import clean_environ, closing_line, run_logged
from ci.suites.gpu.prepare import SITE, prepare
from ci.suites.gpu.steps import Step, command_of, environ_of, find_lacking, steps_of


@dataclass
class StepResult:
    """The result of a step. An entry in `problems` makes ci/gpu fail."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[object]:
        return [self.name, *(self.counts[word] for word in ("passed", "failed", "skipped")), f"{self.seconds:.0f} s"]


def count_tests(report: Path, result: StepResult) -> None:
    """Add the counts of pytest's report; list each skip reason once, with the number of its tests."""
    skipped: Counter[str] = Counter()
    for case in ET.parse(report).getroot().iter("testcase"):
        kinds = {child.tag: child for child in case}
        if "failure" in kinds or "error" in kinds:
            result.counts["failed"] += 1
            result.problems.append(f"failed: {case.get('classname')}.{case.get('name')}")
        elif "skipped" in kinds:
            result.counts["skipped"] += 1
            skipped[(kinds["skipped"].get("message") or "no reason").splitlines()[0]] += 1
        else:
            result.counts["passed"] += 1
    result.problems += [f"{n} skipped: {reason}" for reason, n in skipped.items()]


def run_step(step: Step, environ: dict[str, str], lacking: set[str], seconds: float) -> StepResult:
    """Run a step for at most `seconds`, if the machine meets its requirements."""
    result = StepResult(step.name)
    lacks = [need for need in step.needs if need in lacking]
    if lacks:
        result.problems.append(f"not run: this machine lacks {', '.join(lacks)}")
        return result
    if seconds < step.least:
        result.problems.append(f"not run: {max(0, seconds):.0f} s were left, and it needs {step.least:g} s")
        return result
    name = "gpu-" + re.sub(r"\W+", "-", step.name)
    log, report = LOGS / f"{name}.log", LOGS / f"{name}.xml"
    report.unlink(missing_ok=True)
    say(f"{step.name} ...")
    begun = time.monotonic()
    command = command_of(step, seconds, report)
    status = run_logged(command, log, {**clean_environ(), **environ, **step.environ}, step.cwd, seconds)
    result.seconds = time.monotonic() - begun
    if step.is_pytest and report.exists():
        count_tests(report, result)
    if not step.is_pytest:
        print(log.read_text(errors="replace"))
    if status != 0 and not result.counts["failed"]:
        last = closing_line(log.read_text(errors="replace"), status)
        result.problems.append(f"exit status {status}: {last} ({log})")
    return result


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER")
    parser.add_argument("--python-version", default="3.12", help="of the other machine's CPython")
    parser.add_argument("--python", default=shutil.which("python3"), help="here; its PyTorch is used")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    if (options.folder is None) == (options.prepare is None):
        parser.error("either --prepare FOLDER, or the FOLDER that was prepared")
    if options.prepare:
        prepare(options.prepare.absolute(), options.python_version)
        return 0
    ends = time.monotonic() + 60 * options.minutes - 10
    folder = options.folder.absolute()
    if not (folder / SITE).is_dir():
        raise Missing(f"{folder} was not filled by ci/gpu --prepare")
    LOGS.mkdir(parents=True, exist_ok=True)
    environ, lacking = environ_of(folder, options.python), find_lacking(options.python)
    results = []
    for step in steps_of(folder, options.python):
        left = ends - time.monotonic()
        results.append(run_step(step, environ, lacking, min(step.seconds, left)))
    print(table([["step", "passed", "failed", "skipped", "time"], *(result.cells for result in results)]))
    problems = [f"{result.name}: {problem}" for result in results for problem in result.problems]
    print("\n".join(problems) or "all ran and passed")
    return 1 if problems else 0
