"""Runs the packages of tvm_ffi_clients.py with apache-tvm-ffi and with ffi_hpy in its place, and compares."""

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
from ci.lib.matrix import names
from ci.lib.messages import Missing, say, table
from ci.lib.process import clean_environ, closing_line, output_of, run_logged
from ci.provision.envs import install, make_env, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import fetch_sdist
from ci.provision.wheel import build_wheel
from ci.suites.clients.tvm_ffi_clients import CLIENTS, Client

_PROGRAMS = Path(__file__).parent / "programs"
_COUNTS = ("passed", "failed", "errors", "skipped")


@dataclass(frozen=True)
class Outcome:
    """The result of a package's tests with one of the runtimes."""

    passed: int = 0
    counts: str = ""  # the names are those in _COUNTS
    wrong: frozenset[str] = frozenset()  # tests that failed or could not be collected
    problem: str = ""


def install_ours(env: Path, client: Client, wheel: Path) -> None:
    """Install ffi_hpy in place of the package's release of apache-tvm-ffi."""
    install(env, wheel)
    output_of([python_of(env), "-m", "ffi_hpy.dropin", "install", "--as", client.runtime], cwd=env)


def install_client(env: Path, client: Client) -> None:
    unused = env / "without.txt"
    unused.write_text("".join(f"{package}; python_version < '3'\n" for package in client.without))
    install(env, "-r", REQUIREMENTS / "clients.txt", *client.packages, "--override", unused)
    install(env, f"{client.name}=={client.version}", *client.packages, "--override", unused)


def read_outcome(text: str, status: int) -> Outcome:
    """Parse pytest's output; output without a closing line is a problem."""
    line = closing_line(text, status)
    found = {name.rstrip("s"): int(n) for n, name in re.findall(r"(\d+) (\w+)", line)}
    if not found.get("passed"):
        return Outcome(problem=line)
    counts = "/".join(str(found.get(name.rstrip("s"), 0)) for name in _COUNTS)
    wrong = re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::[^ \[]+(?:\[.*?\])?)?)(?: - |$)", text, re.MULTILINE)
    return Outcome(found["passed"], counts, frozenset(wrong))


def run(name: str, python: Path, client: Client, wheel: Path | None, extra: list[str]) -> Outcome:
    """Install a package with ours (`wheel`) or with apache-tvm-ffi (None), and run its tests."""
    log = LOGS / f"clients-{name}-{client.name}-{'ours' if wheel else 'upstream'}.log"
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
        env, tests = Path(scratch, "env"), Path(scratch, "tests")
        try:
            make_env(env, python)
            if wheel is None:
                install(env, "--only-binary", ":all:", f"apache-tvm-ffi=={client.runtime}")
            else:
                install_ours(env, client, wheel)
            install_client(env, client)
            if wheel is not None:  # fails if the package has installed the real apache-tvm-ffi
                output_of([python_of(env), "-m", "ffi_hpy.dropin", "status"], {"PATH": f"{env / 'bin'}"}, cwd=env)
            source = fetch_sdist(client.sdist, "clients") / client.folder if client.sdist else _PROGRAMS
        except Missing as reason:
            return Outcome(problem=str(reason))
        shutil.copytree(source, tests)
        (tests / "tmp").mkdir()
        environ = {
            **client.environ,
            "PATH": os.pathsep.join([str(env / "bin"), "/usr/bin", "/bin"]),  # a PATH without nvcc
            "TMPDIR": str(tests / "tmp"),
            "XDG_CACHE_HOME": str(tests / "tmp"),
            "HOME": str(tests / "tmp"),
        }
        command = [str(python_of(env)), "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-c", os.devnull]
        command += ["--rootdir", ".", "--continue-on-collection-errors", *client.arguments, *client.tests, *extra]
        status = run_logged(command, log, clean_environ(environ), tests)
    return read_outcome(log.read_text(errors="replace"), status)


def compare(theirs: Outcome, ours: Outcome, fails: tuple[str, ...] = ()) -> str:
    """Return the problem of ours, "" if there is none. If theirs has a problem, the tests in `fails` may fail."""
    if ours.problem:
        return ours.problem
    forgiven = fails if theirs.problem else ()
    more = sorted(test for test in ours.wrong - theirs.wrong if not test.startswith(forgiven))
    if more:
        return f"{len(more)} fail here only: {' '.join(more[:5])}"
    return "" if ours.passed >= theirs.passed else "fewer pass here"


def parse(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, tuple[str, ...], list[str]]:
    """Return the options, the chosen interpreters, and the arguments for pytest."""
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--only", action="append", metavar="PACKAGE", help="this package; may be given again")
    options, extra = parse_with_rest(parser)
    return options, names(options.names or ["cp311"]), extra


def print_results(rows: list[list[object]], problems: list[str]) -> int:
    """Print the table, whose first row is the title, and the problems. Returns the exit status."""
    print(table(rows))
    print(f"counts: {'/'.join(_COUNTS)}; -: it cannot be installed, or its process ended")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems or len(rows) == 1 else 0


def main(parser: argparse.ArgumentParser) -> int:
    options, chosen, extra = parse(parser)
    wheel, pythons = build_wheel(), find_interpreters(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = [["NAME", "package", "version", "runtime", "upstream", "ours"]]
    problems = []
    for name in chosen:
        for client in CLIENTS:
            if name not in client.interpreters or (options.only and client.name not in options.only):
                continue
            if name not in pythons:
                problems.append(f"{name}: ci/interpreters cannot provide it, see above")
                continue
            theirs = run(name, pythons[name], client, None, extra)
            ours = run(name, pythons[name], client, wheel, extra)
            rows.append([name, client.name, client.version, client.runtime, theirs.counts or "-", ours.counts or "-"])
            say(f"{name}: {client.name}: upstream {theirs.counts or theirs.problem}, ours {ours.counts}")
            problem = compare(theirs, ours, tuple(client.fails))
            problems += [f"{name}: {client.name}: {problem}"] if problem else []
    return print_results(rows, problems)
