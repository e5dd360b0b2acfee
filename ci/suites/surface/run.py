"""Compares the names of apache-tvm-ffi's releases with ours."""

from __future__ import annotations

import argparse
import fnmatch
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ci.lib.folders import locked
from ci.lib.messages import table
from ci.lib.process import output_of
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.wheel import build_wheel
from ci.suites.foreign import Allowance, read_allowances

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = ("0.1.11", "0.1.12", "0.1.13.post3", "0.1.14.post1", "0.1.15.post2")
INTERPRETER = "cp311"  # all of these releases have wheels for it
BOTH = ("pytest",)  # tvm_ffi.testing imports it
HERE = Path(__file__).resolve().parent
UNTOLD = "<MISSING>"
"""The placeholder for a default of theirs."""


def missing_in(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """Yield the differences between theirs and ours. A missing module, name or member is a dotted path. Other
    differences follow the path of their owner: ``NAME==3`` a constant, ``f(x)`` a parameter, ``f(x='text')`` its
    default, ``f(x=)`` a keyword argument, ``f(2:x)`` a position, ``f()x`` a required parameter that only ours has."""
    for module, names in theirs.items():
        if module not in ours:
            yield module
        for name, their in names.items():
            path = f"{module}.{name}"
            our = ours.get(module, {}).get(name)
            yield from missing_of(path, their, our)
            if our is not None:
                for member, their_member in their.get("members", {}).items():
                    yield from missing_of(f"{path}.{member}", their_member, our.get("members", {}).get(member))


def missing_of(path: str, theirs: dict[str, Any], ours: dict[str, Any] | None) -> Iterator[str]:
    if ours is None:
        yield path
        return
    if theirs["constant"] is not None and theirs["constant"] != ours["constant"]:
        yield f"{path}=={theirs['constant']}"
    their, our = theirs["parameters"], ours["parameters"]
    if isinstance(their, dict) and isinstance(our, dict):
        yield from missing_parameters(path, their, our)
    elif their and isinstance(their, dict) and our != "any":
        yield f"{path}({','.join(their)})"  # ours is not a function, or has no signature


def missing_parameters(path: str, their: dict[str, list[str]], our: dict[str, list[str]]) -> Iterator[str]:
    their_places = [name for name, (way, _) in their.items() if way != "*"]
    our_places = [name for name, (way, _) in our.items() if way != "*"]
    for place, name in enumerate(their_places):
        if name in our and our_places[place : place + 1] != [name]:
            yield f"{path}({place + 1}:{name})"
    for name, (way, default) in their.items():
        if name not in our or (default and our[name][1] != default and not (default == UNTOLD and our[name][1])):
            yield f"{path}({name}{'=' if default else ''}{default})"
        elif way != "/" and our[name][0] == "/":
            yield f"{path}({name}=)"
    for name, (_, default) in our.items():
        if name not in their and not default:
            yield f"{path}(){name}"


def count_of(described: dict[str, Any]) -> int:
    """Return the number of names and members in a description."""
    return sum(1 + len(value.get("members", ())) for names in described.values() for value in names.values())


def find_missing(version: str, python: Path, ours: Path) -> tuple[int, list[str]]:
    """Return the number of names in a release, and the names that ours lacks. Raises Missing."""
    env = cached_env(f"surface-{version}", python, [f"apache-tvm-ffi=={version}", *BOTH])
    probe = HERE / "probe.py"
    text = output_of([python_of(env), "-I", probe])
    with tempfile.NamedTemporaryFile("w", suffix=".json") as wanted:
        wanted.write(text)
        wanted.flush()
        found = output_of([python_of(ours), "-I", "-m", "ffi_hpy.dropin", probe, wanted.name])
    theirs = json.loads(text)
    return count_of(theirs), sorted(set(missing_in(theirs, json.loads(found))))


def is_about(allowance: Allowance, path: str) -> bool:
    return fnmatch.fnmatchcase(path, allowance.test.replace("[", "[[]"))


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=", ".join(VERSIONS))
    versions = parser.parse_args().versions or VERSIONS
    wheel, python = build_wheel(), find_interpreters([INTERPRETER])[INTERPRETER]
    ours = cached_env("surface", python, BOTH)
    rows: list[list[object]] = [["VERSION", "names", "missing", "excepted"]]
    problems: list[str] = []
    used: set[Allowance] = set()
    listed: set[Allowance] = set()
    with locked(ours.with_name(f".{ours.name}.use.lock")):
        install_wheel(ours, wheel)
        for version in versions:
            allowances = read_allowances(HERE / "exceptions.txt", version)
            listed |= set(allowances)
            n_names, missing = find_missing(version, python, ours)
            excepted = [path for path in missing if any(is_about(a, path) for a in allowances)]
            used |= {a for a in allowances if any(is_about(a, path) for path in excepted)}
            problems += [f"{version}: MISSING: {path}" for path in missing if path not in excepted]
            rows.append([version, n_names, len(missing) - len(excepted), len(excepted)])
    if set(versions) == set(VERSIONS):
        problems += [f"excepts nothing any more: {a.interpreter} {a.test}" for a in listed - used]
    print(table(rows))
    print("".join(f"{line}\n" for line in problems), end="")
    print(f"surface: {'NOT as expected' if problems else 'all as expected'}")
    return 1 if problems else 0
