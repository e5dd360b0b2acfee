"""The check that the C sources stand in layers: what a folder includes and calls lies below it, and no two files of a
folder need each other."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.jobs.layers_python import check_package
from ci.jobs.result import Result
from ci.lib.folders import ROOT
from ci.lib.messages import Missing
from ci.lib.process import check_going_on
from ci.provision.compilers import find_c_compiler
from ci.provision.wheel import hpy_include
from tools.build.binaries import BINARIES, Binary

LAYERS = {
    "src/core": (
        "platform",
        "object",
        "container",
        "tensor",
        "module",
        "fields",
        "walk",
        "structural",
        "serial",
        "globals",
    ),
    "src/hpy_runtime": ("api", "abi", "lifetime", "types", "context", "debug", "load"),
    "src/hpy_module": (
        "context",
        "object",
        "error",
        "convert",
        "value",
        "tensor",
        "container",
        "function",
        "schema",
        "record",
        "module",
    ),
}
"""The folders of a tree, the lowest first."""

ALLOWED: dict[tuple[str, str], str] = {}
"""Uses that point upwards or in a circle all the same, each with its reason: (file, file) without their endings."""

HPYS_OWN = {"_ctx_for_trampolines"}
"""Names that HPy's macros define in the file of the module, for functions in all files."""

Uses = dict[str, dict[str, str]]
"""By file, without its ending, the files that it uses, and by what: a header, or a function."""


def find_violations(layers: tuple[str, ...], uses: Uses, allowed: dict[tuple[str, str], str]) -> list[str]:
    """Return what is wrong, in a sentence each: unknown folders, uses that point upwards, circles, idle exceptions."""
    violations = []
    for user in sorted(uses):
        folder = user.partition("/")[0]
        if folder not in layers:
            violations.append(f"{user}: its folder is no layer")
            continue
        for used, by in sorted(uses[user].items()):
            if (user, used) in allowed or used.partition("/")[0] not in layers:
                continue
            if layers.index(used.partition("/")[0]) > layers.index(folder):
                violations.append(f"{user} uses {by} of {used}, which stands above it")
    pointing_down = {user: {used for used in found if (user, used) not in allowed} for user, found in uses.items()}
    violations += [f"these need one another: {' '.join(circle)}" for circle in find_circles(pointing_down)]
    idle = [pair for pair in allowed if pair[1] not in uses.get(pair[0], {})]
    return violations + [f"{user} does not use {used}, which it is allowed to" for user, used in idle]


def find_circles(uses: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files that need one another (Tarjan's strongly connected components), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(file: str) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for used in sorted(uses.get(file, ())):
            if used not in index:
                visit(used)
                low[file] = min(low[file], low[used])
            elif used in stack:
                low[file] = min(low[file], index[used])
        if low[file] == index[file]:
            at = stack.index(file)
            circle = stack[at:]
            del stack[at:]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for file in sorted(uses):
        if file not in index:
            visit(file)
    return sorted(circles)


# --- what uses what -------------------------------------------------------------------------------------------------

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_includes(tree: Path) -> Uses:
    """Return what the files of a tree include of it."""
    uses: Uses = {}
    for file in sorted(tree.rglob("*.[ch]")):
        user = file.relative_to(tree).with_suffix("").as_posix()
        found = uses.setdefault(user, {})
        for name in _INCLUDE.findall(file.read_text()):
            for base in (file.parent, tree.parent):
                header = Path(os.path.normpath(base / name))
                if header.is_relative_to(tree) and header.exists():
                    used = header.relative_to(tree).with_suffix("").as_posix()
                    if used != user:
                        found[used] = f"the header {name}"
                    break
    return uses


def binaries_of(name: str) -> list[Binary]:
    """Return the binaries that are made of a tree: the same sources may be compiled with several sets of macros."""
    return [binary for binary in BINARIES if binary.sources[0].startswith(f"{name}/")]


def read_calls(tree: Path, binary: Binary) -> Uses:
    """Return what the sources of a tree take of one another in a binary: functions and variables. Compiles them. Raises
    Missing."""
    compiler = [*find_c_compiler(), "-std=c11", "-O1", "-DNDEBUG", "-fvisibility=hidden", "-w"]
    compiler += [*(f"-D{macro}" for macro in binary.defines), *(f"-I{ROOT / folder}" for folder in binary.include)]
    compiler += [f"-isystem{hpy_include()}"] if binary.hpy_headers else []
    compiler.append("-c")
    sources = sorted(tree.rglob("*.c"))
    with tempfile.TemporaryDirectory() as folder:
        objects = {source: Path(folder, f"{i}.o") for i, source in enumerate(sources)}

        def compile_one(source: Path) -> None:
            check_going_on()
            subprocess.run([*compiler, str(source), "-o", str(objects[source])], check=True)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(compile_one, sources))
        tables = {source: symbols(objects[source]) for source in sources}
    name_of = {source: source.relative_to(tree).with_suffix("").as_posix() for source in sources}
    makers = {name: name_of[source] for source, (defined, _) in tables.items() for name in defined - HPYS_OWN}
    uses: Uses = {}
    for source, (_, needed) in tables.items():
        found = uses.setdefault(name_of[source], {})
        for name in sorted(needed & makers.keys()):
            if makers[name] != name_of[source]:
                found.setdefault(makers[name], name)
    return uses


def symbols(file: Path) -> tuple[set[str], set[str]]:
    """Return the names that an object file defines for others, and those that it needs."""
    lines = subprocess.run(["nm", "-g", str(file)], check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {word[-1] for word in words if word[-2] != "U"}, {word[-1] for word in words if word[-2] == "U"}


# --- the job --------------------------------------------------------------------------------------------------------


_PLANTED: Uses = {
    "low/a": {"high/b": "the header high/b.h", "low/c": "fh_c_get"},
    "low/c": {"low/a": "fh_a_get"},
    "other/d": {},
    "high/b": {"low/a": "fh_a_get"},
}
_PLANTED_FAULTS = [
    "low/a uses the header high/b.h of high/b, which stands above it",
    "other/d: its folder is no layer",
    "these need one another: high/b low/a low/c",
    "high/b does not use low/c, which it is allowed to",
]


def check_the_check() -> None:
    """See that violations are found."""
    found = find_violations(("low", "high"), _PLANTED, {("high/b", "low/c"): "planted"})
    if found != _PLANTED_FAULTS:
        raise Missing(f"the layer check finds {found} where it should find {_PLANTED_FAULTS}")


def run_layers(wheel: Path, log: Path) -> Result:
    """Check the layers of each tree, and of the package."""
    check_the_check()
    lines, n_bad = [], 0
    for name, layers in LAYERS.items():
        uses = read_includes(ROOT / name)
        for binary in binaries_of(name):
            for user, found in read_calls(ROOT / name, binary).items():
                uses[user] = {**found, **uses.get(user, {})}
        violations = find_violations(layers, uses, ALLOWED)
        n_uses = sum(map(len, uses.values()))
        lines += [
            *violations,
            f"{name}: {len(uses)} files in {len(layers)} layers, {n_uses} uses, {len(violations)} violations",
        ]
        n_bad += bool(violations)
    violations, line = check_package(ROOT)
    lines += [*violations, line]
    n_bad += bool(violations)
    log.write_text("\n".join([*lines, ""]))
    outcome = "FAILED" if n_bad else "ok"
    return Result("layers", outcome, len(LAYERS) + 1 - n_bad, n_bad, 0, closing="; ".join(lines))
