"""Compiles the native libraries of the tests, once for all interpreters."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import ffi_hpy

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "tests" / "python" / "native"
PACKAGE = Path(ffi_hpy.__file__).resolve().parent
BINARIES = next(PACKAGE.glob(f"_systems/{platform.machine()}-linux"), PACKAGE)
"""The folder of the package with `lib`: the wheel for every system has such a folder for each system."""

sys.path.append(str(ROOT))
from ci.jobs.elf import read_library  # noqa: E402
from ci.jobs.exports import RULES, listed_names  # noqa: E402
from ci.lib.folders import cache_dir, locked  # noqa: E402
from ci.lib.messages import Missing  # noqa: E402
from ci.provision.compilers import find_c_compiler, find_cxx_compiler  # noqa: E402

__all__ = [
    "BINARIES",
    "EARLIER_VERSIONS",
    "ERAS",
    "RULES",
    "VERSIONS",
    "WITHDRAWN_VERSIONS",
    "Missing",
    "compile_c",
    "compile_cxx",
    "compile_preload",
    "core_without_pool",
    "fetch_upstream",
    "find_c_compiler",
    "find_cxx_compiler",
    "listed_names",
    "read_library",
]

_C_FLAGS = ("-std=c11", "-O1", "-g", "-funwind-tables", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared")
_CXX_FLAGS = ("-std=c++17", "-O1", "-g1", "-Wall", "-Werror", "-fPIC", "-shared", "-pthread")
_LINK_FLAGS = ("-Wl,--no-undefined", "-ltvm_ffi")


ERAS = ("new", "old")
"""The headers for users' libraries: the current headers of apache-tvm-ffi, and those of 0.1.11."""

_ALL_VERSIONS = ("0.1.11", "0.1.12", "0.1.13.post3", "0.1.14", "0.1.14.post0", "0.1.14.post1", "0.1.15", "")
_TEST_ALL = os.environ.get("FFI_HPY_TEST_RELEASES") == "all"

VERSIONS = _ALL_VERSIONS if _TEST_ALL else ("0.1.11", "0.1.12", "0.1.13.post3", "0.1.14.post1", "")
"""Versions of apache-tvm-ffi whose libraries load; the last is the current one. The versions that need
FFI_HPY_TEST_RELEASES=all differ little from the next one."""

EARLIER_VERSIONS = ("0.1.9", "0.1.10") if _TEST_ALL else ("0.1.10",)
"""Earlier versions whose libraries also load; they have no enums."""

WITHDRAWN_VERSIONS = ("0.1.13", "0.1.13.post1")
"""Withdrawn versions, whose libraries have a different layout."""


def fetch_upstream(version: str = "") -> Path:
    """Return the folder of apache-tvm-ffi's unpacked wheel: FFI_HPY_UPSTREAM if set, else from ci/upstream.

    For a given version the name of the variable ends with that version.
    """
    variable = "_".join(["FFI_HPY_UPSTREAM", *version.split(".")]) if version else "FFI_HPY_UPSTREAM"
    named = os.environ.get(variable)
    if named:
        if not Path(named, "tvm_ffi", "lib", "libtvm_ffi_testing.so").is_file():
            raise Missing(f"{variable} is {named}, which lacks tvm_ffi/lib/libtvm_ffi_testing.so")
        return Path(named)
    # Not with the Python of the tests' environment, which may lack pip and thus the configured package index.
    outside = os.pathsep.join(p for p in os.get_exec_path() if not Path(p).is_relative_to(sys.prefix))
    python = shutil.which("python3", path=outside) or sys.executable
    done = subprocess.run(
        [python, "-B", str(ROOT / "ci" / "upstream"), *version.split()], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise Missing(done.stderr.strip() or f"ci/upstream ended with exit status {done.returncode}")
    return Path(done.stdout.strip())


def compile_c(name: str, include: Path, *flags: str, link: tuple[str, ...] = _LINK_FLAGS) -> Path:
    """Return the library compiled from native/<name> with additional flags; compiled unless the cache has it."""
    return _compile(SOURCES / name, [*find_c_compiler(), *_C_FLAGS, *flags], include, link)


def compile_cxx(name: str, include: Path, *flags: str, link: tuple[str, ...] = _LINK_FLAGS) -> Path:
    """Return the library compiled from native/<name>, a C++ file; see compile_c."""
    return _compile(SOURCES / name, [*find_cxx_compiler(), *_CXX_FLAGS, *flags], include, link)


def compile_preload(name: str) -> Path:
    """Return the library compiled from native/<name>, for preloading; it needs only libc."""
    return _compile(SOURCES / name, [*find_c_compiler(), *_C_FLAGS], PACKAGE / "include", ("-ldl", "-pthread"))


def core_without_pool() -> Path:
    """Return a core in which every block comes from malloc."""
    core = ROOT / "src" / "core"
    compiler = [*find_c_compiler(), "-std=c11", "-O1", "-g", "-funwind-tables", "-fPIC", "-shared"]
    flags = ["-fvisibility=hidden", "-DFH_TEST=1", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]
    flags += ["-Wl,-soname,libtvm_ffi.so", "-ldl", "-pthread"]
    sources = sorted(core.rglob("*.c"))
    key = hashlib.sha256(repr([compiler, flags]).encode())
    for part in (_digest_of(ROOT / "include"), _digest_of(core), *(source.read_bytes() for source in sources)):
        key.update(hashlib.sha256(part).digest())
    return _cached(f"core-{key.hexdigest()[:16]}.so", [*compiler, *map(str, sources), *flags])


def _compile(source: Path, compiler: list[str], include: Path, link: tuple[str, ...] = _LINK_FLAGS) -> Path:
    core = BINARIES / "lib" / "libtvm_ffi.so"
    key = hashlib.sha256()
    linked_to = read_library(core)  # a library that is linked to the core depends only on its name and exports
    words = repr([compiler, link, linked_to.soname, sorted(linked_to.exports)]).encode()
    for part in (source.read_bytes(), _digest_of(include), words):
        key.update(hashlib.sha256(part).digest())
    command = [*compiler, f"-I{include}", str(source), f"-L{core.parent}", *link]
    return _cached(f"{source.stem}-{key.hexdigest()[:16]}.so", command)


def _cached(name: str, command: list[str]) -> Path:
    """Return the library in the cache; run the compiler's command if it is missing."""
    library = cache_dir() / "test-libraries" / name
    with locked(library.with_name(f".{library.stem}.lock")):
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=library.parent) as temporary:
                made = Path(temporary, name)
                done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True)
                if done.returncode != 0:
                    raise Missing(f"{name} does not compile: {' '.join(command)}\n{done.stderr}")
                made.rename(library)
    return library


def _digest_of(include: Path) -> bytes:
    digest = hashlib.sha256()
    for header in sorted(include.rglob("*.h")):
        digest.update(hashlib.sha256(header.read_bytes()).digest())
    return digest.digest()
