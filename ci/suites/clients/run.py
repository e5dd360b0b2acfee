"""Installs the projects of projects.py on each interpreter, and runs their tests."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS, REQUIREMENTS, ROOT
from ci.lib.matrix import MATRIX, names
from ci.lib.messages import Missing, say, table
from ci.lib.process import clean_environ, closing_line, output_of, run_logged
from ci.provision.envs import install, make_env, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import build_wheel, hpy_include
from ci.suites.clients.projects import PROJECTS, Project

RELEASE = "hpy==0.9.0"
DEFAULT = [i.name for i in MATRIX if i.joined]


@dataclass(frozen=True)
class Outcome:
    """One line of the table."""

    interpreter: str
    project: str
    passed: int = 0
    failed: int = 0
    problem: str = ""


def make_hpy_wheel(env: Path, folder: Path) -> Path:
    """Return the folder with the wheel that replaces hpy."""
    headers = {"FFI_HPY_HPY_DIR": str(hpy_include().parent)}
    output_of([python_of(env), "-m", "ffi_hpy.dropin", "-m", "hpy.devel.wheel", folder], headers, cwd=env)
    return folder


def run(name: str, python: Path, wheel: Path, project: Project, suite: Path, extra: list[str]) -> Outcome:
    """Install one project into a fresh environment and run its tests."""
    log = LOGS / f"clients-{name}-{project.name}.log"
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
        work, env = Path(scratch, "work"), Path(scratch, "env")
        try:
            make_env(env, python)
            install(env, "-r", REQUIREMENTS / "clients.txt", wheel)
            links = make_hpy_wheel(env, Path(scratch, "wheels"))  # for the environments in which pip builds
            output_of([python_of(env), "-m", "ffi_hpy.dropin", "install", "hpy"], {}, cwd=env)
            for folder in project.folders:
                copied = shutil.copytree(suite / folder, work / folder)
                install(env, "--find-links", links, copied)
        except Missing as reason:
            return Outcome(name, project.name, problem=str(reason))
        tests = Path(scratch, "tests")
        shutil.copytree(suite / project.tests, tests, ignore=shutil.ignore_patterns("*.c", "setup.py"))
        for module in project.substitutes:
            (tests / f"{module}.py").touch()
        command = [str(python_of(env)), "-m", "pytest", "-v", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, "--rootdir", str(tests), project.file]  # not the configuration of this repository
        status = run_logged([*command, *extra], log, clean_environ({}), tests)
    text = log.read_text(errors="replace")
    found = re.search(r"(\d+) passed", closing_line(text, status))
    failed = set(re.findall(r"::(\w+) (?:FAILED|ERROR)", text))
    wrong = sorted(failed ^ project.fails.keys())
    problem = f"not as listed: {' '.join(wrong)}" if wrong else ""
    return Outcome(name, project.name, int(found[1]) if found else 0, len(failed), problem)


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("names", nargs="*", metavar="NAME")
    options, extra = parse_with_rest(parser)
    wanted = list(names(options.names or DEFAULT))
    wheel, suite = build_wheel(), fetch_sdist(RELEASE, "hpy-suite")
    pythons = find_interpreters(wanted)
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for name in wanted:
        for project in PROJECTS:
            if name in pythons:
                outcomes.append(run(name, pythons[name], wheel, project, suite, extra))
            else:
                outcomes.append(Outcome(name, project.name, problem="ci/interpreters cannot provide it, see above"))
            say(f"{name}: {project.name}: {outcomes[-1].passed} passed {outcomes[-1].problem}")
    rows: list[list[object]] = [["NAME", "project", "passed", "failed as listed"]]
    rows += [[o.interpreter, o.project, o.passed, o.failed] for o in outcomes]
    print(table(rows))
    for project in PROJECTS:
        for test, reason in project.fails.items():
            print(f"{project.name}: {test} fails: {reason}")
    for o in outcomes:
        if o.problem:
            print(f"{o.interpreter}: {o.project}: PROBLEM: {o.problem}")
    return 1 if any(o.problem or not o.passed for o in outcomes) else 0
