"""The check of the layers of the C and C++ sources: a folder includes and calls only folders below it, no two files of
a folder depend on each other, a tree includes only listed headers of other trees, and its README names every file."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.jobs.layers_late import check_late
from ci.jobs.layers_python import check_package
from ci.jobs.layers_reading import PLANTED, PLANTED_VIOLATIONS, find_reading_violations
from ci.jobs.result import Result
from ci.lib.folders import ROOT
from ci.lib.messages import Missing
from ci.lib.process import check_going_on
from ci.provision.compilers import find_c_compiler, find_cxx_compiler
from ci.provision.wheel import hpy_include
from tools.build.binaries import BINARIES, Binary

LAYERS = {
    "src/core": (
        "platform",
        "object",
        "container",
        "bind",
        "tensor",
        "module",
        "fields",
        "walk",
        "structural",
        "serial",
        "globals",
    ),
    "src/hpy_runtime": ("api", "abi", "lifetime", "types", "context", "debug", "trace", "load"),
    "src/hpy_module": (
        "context",
        "object",
        "error",
        "convert",
        "value",
        "tensor",
        "container",
        "function",
        "collect",
        "schema",
        "record",
        "module",
    ),
    "src/cxx_abi": ("shapes", "value", "call", "functions", "module", "attach"),
    "src/testing": (
        "value",
        "type",
        "accept",
        "function",
        "field",
        "object",
        "tables",
        "plain",
        "init",
        "custom",
        "enum",
        "every",
        "basic",
        "schema",
        "load",
    ),
}
"""The folders of a tree, the lowest first; for a tree without folders, its files without their suffixes."""

ALLOWED: dict[tuple[str, str], str] = {}
"""Allowed uses that point upwards or form a circle, each with the reason: (file, file) without suffixes."""

_ONE_KIND = "there is one kind of atomic operation and of lock, and one place where locks are declared for fork"

ALLOWED_ACROSS: dict[str, dict[str, str]] = {
    "src/hpy_module": {
        "core/platform": _ONE_KIND,
        "core/object/error_deferred.h": "types alone: the result of a global function of the core, for any binding",
        "core/object/field_access.h": "types alone: the table of the core for access to fields",
        "core/object/field_memory.h": "one step for each access to a field; compiled into both, for another core",
        "core/tensor/dltensor.h": "arithmetic on a struct of DLPack, which both must do alike; compiled into both",
        "hpy_runtime/api/extension.h": "types alone: the entries of our context that any module may use",
        "hpy_runtime/api/appended.h": "types alone: the entries that HPy's master has added",
    },
    "src/hpy_runtime": {
        "core/platform": _ONE_KIND,
        "core/module/library_file.h": "the check of a file before it is mapped; compiled into both",
    },
}
"""The headers and folders of other trees that a tree may include, each with the reason. All trees may include the
public headers (include/)."""

HPYS_OWN = {"_ctx_for_trampolines"}
"""Names that HPy's macros define in the module's file for functions in all files."""

Uses = dict[str, dict[str, str]]
"""By file (without its suffix): the files that it uses, each with the header or function that it uses."""


def find_violations(layers: tuple[str, ...], uses: Uses, allowed: dict[tuple[str, str], str]) -> list[str]:
    """Return the problems, one sentence each: unknown folders, uses that point upwards, circles, unused exceptions."""
    violations = []
    for user in sorted(uses):
        folder = user.partition("/")[0]
        if folder not in layers:
            violations.append(f"{user} is in no layer")
            continue
        for used, by in sorted(uses[user].items()):
            if (user, used) in allowed or used.partition("/")[0] not in layers:
                continue
            if layers.index(used.partition("/")[0]) > layers.index(folder):
                violations.append(f"{user} uses {by} of {used}, which is above it")
    pointing_down = {user: {used for used in found if (user, used) not in allowed} for user, found in uses.items()}
    violations += [f"these need one another: {' '.join(circle)}" for circle in find_circles(pointing_down)]
    idle = [pair for pair in allowed if pair[1] not in uses.get(pair[0], {})]
    return violations + [f"{user} does not use {used}, which it is allowed to" for user, used in idle]


def find_violations_across(uses: Uses, allowed: dict[str, str]) -> list[str]:
    """Return the problems of the headers that the files of a tree include from other trees, one sentence each."""
    violations, needed = [], set()
    for user in sorted(uses):
        for header in sorted(uses[user]):
            entries = {entry for entry in allowed if header == entry or header.startswith(f"{entry}/")}
            needed |= entries
            if not entries:
                violations.append(f"{user} includes {header} of another tree")
    return violations + [f"nothing includes {entry}, which is allowed" for entry in allowed if entry not in needed]


def find_circles(uses: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files that depend on each other (Tarjan's strongly connected components), sorted."""
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


# --- uses between files ---------------------------------------------------------------------------------------------

_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
_SUFFIXES = {".c", ".cc", ".def", ".h"}


def read_includes(tree: Path) -> tuple[Uses, Uses]:
    """Return the files that the files of a tree include: in this tree, and (by paths with suffixes) in other trees."""
    within: Uses = {}
    across: Uses = {}
    for file in sorted(path for path in tree.rglob("*") if path.suffix in _SUFFIXES):
        user = file.relative_to(tree).with_suffix("").as_posix()
        within.setdefault(user, {})
        across.setdefault(user, {})
        for name in _INCLUDE.findall(file.read_text()):
            header = find_header(name, file.parent, tree.parent)
            if header is None:
                continue  # a system header or a public header
            if not header.is_relative_to(tree):
                across[user][os.path.relpath(header, tree.parent)] = f"the header {name}"
                continue
            used = header.relative_to(tree).with_suffix("").as_posix()
            if used != user:
                within[user][used] = f"the header {name}"
    return within, across


def find_header(name: str, *folders: Path) -> Path | None:
    """Return the file of an include, from the first folder that has it."""
    paths = (Path(os.path.normpath(folder / name)) for folder in folders)
    return next((path for path in paths if path.exists()), None)


def binaries_of(name: str) -> list[Binary]:
    """Return the binaries made from a tree: the same sources may be compiled with several sets of macros."""
    return [binary for binary in BINARIES if binary.sources[0].startswith(f"{name}/")]


def read_calls(tree: Path, binary: Binary) -> Uses:
    """Compile a binary's sources, and return the functions and variables that they use of each other. Raises
    Missing."""
    language = [*find_cxx_compiler(), "-std=c++17"] if binary.is_cxx else [*find_c_compiler(), "-std=c11"]
    compiler = [*language, "-O1", "-DNDEBUG", "-fvisibility=hidden", "-w"]
    compiler += [*(f"-D{macro}" for macro in binary.defines), *(f"-I{ROOT / folder}" for folder in binary.include)]
    compiler += [f"-isystem{hpy_include()}"] if binary.hpy_headers else []
    compiler.append("-c")
    sources = sorted(tree.rglob("*.cc" if binary.is_cxx else "*.c"))
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
    """Return the names that an object file defines for other files, and the names that it needs."""
    lines = subprocess.run(["nm", "-g", str(file)], check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    needed = {word[-1] for word in words if word[-2] in ("U", "w", "v")}
    return {word[-1] for word in words} - needed, needed


# --- the job --------------------------------------------------------------------------------------------------------


_PLANTED: Uses = {
    "low/a": {"high/b": "the header high/b.h", "low/c": "fh_c_get"},
    "low/c": {"low/a": "fh_a_get"},
    "other/d": {},
    "high/b": {"low/a": "fh_a_get"},
}
_PLANTED_VIOLATIONS = [
    "low/a uses the header high/b.h of high/b, which is above it",
    "other/d is in no layer",
    "these need one another: high/b low/a low/c",
    "high/b does not use low/c, which it is allowed to",
    "low/a includes elsewhere/f.h of another tree",
    "nothing includes elsewhere/g.h, which is allowed",
]
_PLANTED_FILES = {
    "tree/low/a.c": '#include "../high/b.h"\n#include <stdio.h>\n#include "low/a.h"\n',
    "tree/low/a.h": '#include "elsewhere/f.h"\n#include "elsewhere/e/e.h"\n',
    "tree/high/b.h": '#  include "list.def"\n',
    "tree/high/list.def": '#include "tree/low/a.h"\n',
    "elsewhere/f.h": "",
    "elsewhere/e/e.h": "",
}
_PLANTED_INCLUDES = {
    "low/a": {"high/b", "elsewhere/f.h", "elsewhere/e/e.h"},
    "high/b": {"high/list"},
    "high/list": {"low/a"},
}


def check_the_check() -> None:
    """Check that planted violations are found."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _PLANTED_FILES.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text)
        within, across = read_includes(Path(folder, "tree"))
    found = find_violations(("low", "high"), _PLANTED, {("high/b", "low/c"): "planted"})
    found += find_violations_across(across, {"elsewhere/e": "planted", "elsewhere/g.h": "planted"})
    if found != _PLANTED_VIOLATIONS:
        raise Missing(f"the layer check finds {found} where it should find {_PLANTED_VIOLATIONS}")
    found = find_reading_violations(*PLANTED)
    if found != PLANTED_VIOLATIONS:
        raise Missing(f"the check of the order of reading finds {found} where it should find {PLANTED_VIOLATIONS}")
    includes = {user: {*within[user], *across[user]} for user in within}
    if includes != _PLANTED_INCLUDES:
        raise Missing(f"the layer check reads {includes} where it should read {_PLANTED_INCLUDES}")


def run_layers(wheel: Path, log: Path) -> Result:
    """Check the layers of each tree, and of the package."""
    check_the_check()
    lines, n_bad = [], 0
    for name, layers in LAYERS.items():
        uses, across = read_includes(ROOT / name)
        violations = find_violations_across(across, ALLOWED_ACROSS.get(name, {}))
        if all("/" in file for file in uses):  # only a tree of folders has a README with a paragraph for each folder
            violations += find_reading_violations((ROOT / name / "README.md").read_text(), uses)
        for binary in binaries_of(name):
            for user, found in read_calls(ROOT / name, binary).items():
                uses[user] = {**found, **uses.get(user, {})}
        violations += find_violations(layers, uses, ALLOWED)
        n_uses, n_across = (sum(map(len, found.values())) for found in (uses, across))
        counts = f"{len(uses)} files in {len(layers)} layers, {n_uses} uses, {n_across} of other trees"
        lines += [*violations, f"{name}: {counts}, {len(violations)} violations"]
        n_bad += bool(violations)
    for check in (check_package, check_late):
        violations, line = check(ROOT)
        lines += [*violations, line]
        n_bad += bool(violations)
    log.write_text("\n".join([*lines, ""]))
    outcome = "FAILED" if n_bad else "ok"
    return Result("layers", outcome, len(LAYERS) + 2 - n_bad, n_bad, 0, closing="; ".join(lines))
