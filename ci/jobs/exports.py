"""The check of the wheels' libraries: they export the names of the ABI and nothing else, need only libraries that every
system with glibc or musl has, and can be mapped with the largest pages of their machine."""

from __future__ import annotations

import re
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ci.jobs.elf import Library, read_library
from ci.jobs.result import Result
from ci.lib.folders import REQUIREMENTS
from ci.provision.envs import add_packages
from ci.provision.musl import musl_loader
from ci.provision.wheel import TARGET_OF_MACHINE, build_wheel

LISTS = Path(__file__).resolve().with_name("symbols")

# libc, the parts of libc in glibc 2.17, and the loader, which defines the thread-local variables.
_LIBC = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

# By machine, as the wheel's tag names it. Kernels for 64-bit ARM may use pages of 64 KiB; the others use 4 KiB.
_PAGES = {"x86_64": 1 << 12, "aarch64": 1 << 16, "riscv64": 1 << 12}


@dataclass(frozen=True)
class Rule:
    """The requirements for one library of the wheel."""

    name: str  # file name in ffi_hpy/lib, and soname; the file of its exports is in LISTS, one name a line
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
    """Return the problems of a library."""
    wanted, got = listed_names(rule), set(library.exports)
    problems = [f"{name} is missing" for name in sorted(wanted - got)]
    problems += [f"{name} is exported and not listed" for name in sorted(got - wanted)]
    problems += [f"{name} is needed" for name in library.needed if name not in rule.may_need]
    if library.soname != rule.name:
        problems.append(f"its soname is {library.soname!r}")
    return [f"{rule.name}: {problem}" for problem in problems]


# Symbols of the system's C++ libraries, and of the interpreter, which is not a library.
_OF_CXX = re.compile(r"_Z|__cxa_|__gxx_|_Unwind_")
_OF_PYTHON = re.compile(r"_?Py")


def read_binaries(archive: zipfile.ZipFile, folder: str) -> dict[str, Library]:
    """Return all binaries of a wheel, by their names in the archive."""
    names = [name for name in archive.namelist() if name.endswith(".so")]
    return {name: read_library(Path(archive.extract(name, folder))) for name in names}


def find_small_pages(libraries: dict[str, Library], wheel: Path) -> list[str]:
    """Return a message for each binary that cannot be mapped with the largest pages of its machine."""
    machine = next((name for name in _PAGES if wheel.stem.endswith(name)), None)
    least = _PAGES[machine] if machine else 0
    return [
        f"{Path(name).name}: can be mapped with pages of {library.page} bytes, and {machine} may have {least}"
        for name, library in libraries.items()
        if library.page < least
    ]


def find_lacking(libraries: dict[str, Library]) -> list[str]:
    """Return a message for each needed name, also of libatomic, that neither musl nor another binary defines."""
    known = set(read_library(musl_loader()).exports).union(*(library.exports for library in libraries.values()))
    problems = []
    for name, library in libraries.items():
        lacking = sorted(library.imports - library.weak_imports - known)
        found = [each for each in lacking if not _OF_PYTHON.match(each)]
        if "libstdc++.so.6" in library.needed:
            found = [each for each in found if not _OF_CXX.match(each)]
        found += [each for each in library.needed if each.startswith("ld-")]  # musl provides glibc's other libraries
        problems += [f"{Path(name).name}: musl has no {each}" for each in found]
    return problems


def check_exports(wheel: Path) -> tuple[list[str], list[str]]:
    """Return a line that describes each library, and a message for each problem."""
    add_packages("tool-elf", REQUIREMENTS / "elf.txt")
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
    """Check the wheel and the wheel for 64-bit ARM. Raises Missing."""
    lines, problems = check_exports(wheel)
    for_arm = build_wheel(target=TARGET_OF_MACHINE["aarch64"])
    of_arm, its_problems = check_exports(for_arm)
    problems += [f"{problem}, in {for_arm.name}" for problem in its_problems]
    log.write_text("\n".join([*lines, *of_arm, *problems, ""]))
    n_bad = len(problems)
    outcome = "FAILED" if problems else "ok"
    return Result("exports", outcome, max(0, 2 * len(RULES) - n_bad), n_bad, 0, closing="; ".join(problems or lines))
