"""Runs the quick packages of projects.py, tvm_ffi_clients.py and nanobind_clients.py on cp311, with ffi_hpy only.

Each test must pass, except the tests that projects.py lists as failing.
"""

from __future__ import annotations

import argparse

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS
from ci.lib.messages import say, table
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.clients import nanobind_clients, run, tvm_ffi_run
from ci.suites.clients.projects import PROJECTS
from ci.suites.clients.tvm_ffi_clients import CLIENTS

INTERPRETER = "cp311"


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("--short", action="store_true", required=True)
    _, extra = parse_with_rest(parser)
    wheel, pythons = build_wheel(), find_interpreters([INTERPRETER])
    if INTERPRETER not in pythons:
        say(f"ci/clients: ci/interpreters cannot provide {INTERPRETER}, see above")
        return 1
    python = pythons[INTERPRETER]
    LOGS.mkdir(parents=True, exist_ok=True)
    found: dict[str, tuple[int, int, str]] = {}  # by name: the numbers of passed and failed tests, and the problem
    for project in PROJECTS:
        if project.is_quick:
            outcome = run.run(INTERPRETER, python, wheel, project, fetch_sdist(run.RELEASE, "hpy-suite"), extra)
            found[project.name] = outcome.passed, outcome.failed, outcome.problem
    for client in CLIENTS:
        if client.is_quick:
            ours = tvm_ffi_run.run(INTERPRETER, python, client, wheel, extra)
            problem = ours.problem or " ".join(sorted(ours.wrong))
            found[client.name] = ours.passed, len(ours.wrong), problem
    for package in nanobind_clients.CLIENTS:
        if package.is_quick:
            ours = nanobind_clients.run(INTERPRETER, python, package, wheel, extra)
            found[package.name] = ours.passed, len(ours.wrong), ours.problem or " ".join(sorted(ours.wrong))
    print(table([["package", "passed", "failed"], *([name, *counts[:2]] for name, counts in found.items())]))
    for name, (_, _, problem) in found.items():
        if problem:
            print(f"PROBLEM: {name}: {problem}")
    passed, failed = (sum(counts[i] for counts in found.values()) for i in (0, 1))
    print(f"ci/clients: {passed} passed, {failed} failed")
    return 1 if any(problem or not passed for passed, _, problem in found.values()) else 0
