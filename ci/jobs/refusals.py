"""The check of the cases that must not compile: each is refused with one error that gives the reason and names the
type."""

from __future__ import annotations

import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.jobs.precompiled import precompile

CASE = re.compile(r"^//! (\w+): (.+)$", re.MULTILINE)
NAMES_FOO = re.compile(r"['‘<= ,]Foo(?:Obj)?['’>;,\] &*]")


def read_cases(source: Path) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the lines before all cases; and for each case its name, the pattern of its error, and its lines.

    The first case has no lines and no error.
    """
    before, *rest = CASE.split(source.read_text())
    return before, [("nothing", "", ""), *zip(rest[::3], rest[1::3], rest[2::3])]


def problem_of(pattern: str, output: str, status: int) -> str | None:
    """Return the difference between a compiler's answer and the expected one, None if there is none."""
    errors = [line for line in output.splitlines() if re.search(r"\berror:", line)]
    if not pattern:
        return None if status == 0 else f"does not compile\n{output}"
    if status == 0:
        return "compiles"
    if len(errors) != 1:
        return f"expected one error but got {len(errors)}\n{output}"
    if not re.search(pattern, output):
        return f"expected {pattern!r} in the error\n{output}"
    return None if NAMES_FOO.search(output) else f"the error does not name Foo\n{output}"


def check_refusals(command: list[str], source: Path, at_once: int) -> tuple[int, list[str]]:
    """Compile each case; return the number of cases with the expected refusal, and the problems of the others."""

    def check(case: tuple[str, str, str]) -> str | None:
        name, pattern, code = case
        program = folder / f"{name}.cc"
        program.write_text(code)
        done = subprocess.run([*command, *first, "-fsyntax-only", str(program)], capture_output=True, text=True)
        problem = problem_of(pattern, done.stderr, done.returncode)
        return None if problem is None else f"{source.name}, {name}: {problem}"

    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(at_once) as pool:
        folder = Path(scratch)
        before, cases = read_cases(source)
        first = precompile(command, before, folder / "first")
        problems = list(pool.map(check, cases))
    return problems.count(None), [problem for problem in problems if problem is not None]
