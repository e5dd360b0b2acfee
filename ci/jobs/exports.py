"""The check that the wheels' libraries export what the ABI has, nothing else, and need only what every system has: of
glibc and of musl, both of which they serve; and that they can be mapped with the largest pages of their machine.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ci.jobs.elf import Library, read_library
from ci.jobs.result import Result
from ci.provision.musl import musl_loader
from ci.provision.wheel import TARGET_OF_MACHINE, build_wheel

LISTS = Path(__file__).resolve().with_name("symbols")

# libc, its parts in glibc 2.17, and the loader, which has the thread-local variables.
_LIBC = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

# By machine, as the wheel's tag names it. Kernels for 64-bit ARM may have pages of 64 KiB, the others have 4 KiB.
_PAGES = {"x86_64": 1 << 12, "aarch64": 1 << 16, "riscv64": 1 << 12}


@dataclass(frozen=True)
class Rule:
    """What holds for one library of the wheel."""

    name: str  # its file in ffi_hpy/lib, and its soname; the names that it exports are in LISTS, one a line
    may_need: frozenset[str]


RULES = (
    Rule("libtvm_ffi.so", frozenset(_LIBC)),
    Rule("libtvm_ffi_cxx.so", frozenset({*_LIBC, "libtvm_ffi.so", "libstdc++.so.6", "libgcc_s.so.1"})),
    Rule("libtvm_ffi_testing.so", frozenset({*_LIBC, "libtvm_ffi.so"})),
)


def listed_names(rule: Rule) -> set[str]:
    """Return the names that a library must export."""
    return set((LISTS / rule.name).with_suffix(".txt").read_text().split())


def find_problems(rule: Rule, library: Library) -> list[str]:
    """Return what is wrong with a library."""
    wanted, got = listed_names(rule), set(library.exports)
    problems = [f"{name} is missing" for name in sorted(wanted - got)]
    problems += [f"{name} is exported and not listed" for name in sorted(got - wanted)]
    problems += [f"{name} is needed" for name in library.needed if name not in rule.may_need]
    if library.soname != rule.name:
        problems.append(f"its soname is {library.soname!r}")
    return [f"{rule.name}: {problem}" for problem in problems]


# What the system's libraries of C++ have, and the interpreter, which is no library.
_OF_CXX = re.compile(r"_Z|__cxa_|__gxx_|_Unwind_")
_OF_PYTHON = re.compile(r"_?Py")


def read_binaries(archive: zipfile.ZipFile, folder: str) -> dict[str, Library]:
    """Return all binaries of a wheel, by their names there."""
    names = [name for name in archive.namelist() if name.endswith(".so")]
    return {name: read_library(Path(archive.extract(name, folder))) for name in names}


def find_small_pages(libraries: dict[str, Library], wheel: Path) -> list[str]:
    """Return which binaries cannot be mapped with the largest pages of their machine."""
    machine = next((name for name in _PAGES if wheel.stem.endswith(name)), None)
    least = _PAGES[machine] if machine else 0
    return [
        f"{Path(name).name}: can be mapped with pages of {library.page} bytes, and {machine} may have {least}"
        for name, library in libraries.items()
        if library.page < least
    ]


def find_lacking(libraries: dict[str, Library]) -> list[str]:
    """Return the names that the binaries of a wheel need and neither musl nor one of them has, libatomic's included."""
    known = set(read_library(musl_loader()).exports).union(*(library.exports for library in libraries.values()))
    problems = []
    for name, library in libraries.items():
        lacking = sorted(library.imports - library.weak_imports - known)
        found = [each for each in lacking if not _OF_PYTHON.match(each)]
        if "libstdc++.so.6" in library.needed:
            found = [each for each in found if not _OF_CXX.match(each)]
        found += [each for each in library.needed if each.startswith("ld-")]  # musl answers for glibc's other libraries
        problems += [f"{Path(name).name}: musl has no {each}" for each in found]
    return problems


def check_exports(wheel: Path) -> tuple[list[str], list[str]]:
    """Return what each library is, in a line, and all that is wrong."""
    lines, problems = [], []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for rule in RULES:
            path = Path(archive.extract(f"ffi_hpy/lib/{rule.name}", folder))
            library = read_library(path)
            needed = " ".join(library.needed)
            lines.append(f"{rule.name}: {len(library.exports)} names, {path.stat().st_size} bytes, needs {needed}")
            problems += find_problems(rule, library)
        binaries = read_binaries(archive, folder)
        problems += find_small_pages(binaries, wheel)
        if "musllinux" in wheel.name:
            problems += find_lacking(binaries)
    return lines, problems


def run_exports(wheel: Path, log: Path) -> Result:
    """Check the wheel, and that for 64-bit ARM. Raises Missing."""
    lines, problems = check_exports(wheel)
    for_arm = build_wheel(target=TARGET_OF_MACHINE["aarch64"])
    of_arm, its_problems = check_exports(for_arm)
    problems += [f"{problem}, in {for_arm.name}" for problem in its_problems]
    log.write_text("\n".join([*lines, *of_arm, *problems, ""]))
    n_bad = len(problems)
    outcome = "FAILED" if problems else "ok"
    return Result("exports", outcome, max(0, 2 * len(RULES) - n_bad), n_bad, 0, closing="; ".join(problems or lines))
