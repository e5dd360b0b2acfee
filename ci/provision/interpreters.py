#!/usr/bin/env python3
"""Provide the interpreters of the test matrix and print where each one is.

    ci/interpreters [NAME...]

Prints one line `NAME PATH` per interpreter on stdout; progress goes to stderr.
Without a NAME, all that have joined the matrix (see matrix.py).

What is fetched or built is kept in the cache (FFI_HPY_CACHE, else
XDG_CACHE_HOME/ffi_hpy, else ~/.cache/ffi_hpy); every interpreter is run and
checked before it is printed, a cached one too.

Exit status: 0 all provided, 1 some could not be had (the others are printed),
2 a NAME is not in the matrix.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from debian import Apt, debian, run_logged, unpack
from envs import Missing, last_line, locked, output_of, run_main, tool
from matrix import BY_NAME, Interpreter, UnknownName, cache_dir, names, say


@dataclass(frozen=True)
class Source:
    """A place to get interpreters from.

    `find` returns the checked executable of an interpreter or raises Missing.
    """

    label: str
    find: Callable[[Interpreter], Path]


# --- checking ---------------------------------------------------------------------------

PROBE = """
import json, os, sys, sysconfig
try:
    __import__(sys.argv[1] or "sys")
    has_module = True
except ImportError:
    has_module = False
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "implementation": sys.implementation.name,
    "version": list(sys.implementation.version[:3]),
    "language": list(sys.version_info[:2]),
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "has_module": has_module,
    "has_headers": os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")),
}))
"""


def check(executable: Path, wanted: Interpreter) -> Path:
    """The real path behind `executable` if running it shows that it is `wanted`, else Missing."""
    # -I: neither the caller's PYTHON* variables nor the current folder may colour the answer.
    command = [str(executable), "-I", "-c", PROBE, wanted.needs_module or ""]
    try:
        found = json.loads(last_line(output_of(command, timeout=60)))
    except ValueError:
        raise Missing(f"{executable} does not run Python code") from None
    fault = mismatch(found, wanted)
    if fault:
        raise Missing(f"{executable} {fault}")
    return Path(found["executable"])


def mismatch(found: Mapping[str, Any], wanted: Interpreter) -> str | None:
    """Why what PROBE found is not `wanted`; None if it is."""
    version = tuple(found["version"])
    is_called = f"{found['implementation']} {'.'.join(map(str, version))}"
    if found["implementation"] != wanted.implementation or version[:2] != wanted.version:
        return f"is {is_called}"
    if wanted.implementation == "cpython" and tuple(found["language"]) != wanted.version:
        return f"is {is_called} but runs Python {'.'.join(map(str, found['language']))}"
    if version < wanted.at_least:
        return f"is {is_called}, older than {'.'.join(map(str, wanted.at_least))}"
    if found["free_threaded"] != wanted.free_threaded:
        return "is free-threaded" if found["free_threaded"] else "is not free-threaded"
    if not found["has_module"]:
        return f"is {is_called} without {wanted.needs_module}"
    if not found["has_headers"]:
        return f"is {is_called} without its C headers"
    return None


def first_good(candidates: Sequence[Path], wanted: Interpreter, none: str) -> Path:
    """The first candidate that passes the check; Missing with all reasons, or `none`."""
    faults = []
    for candidate in candidates:
        try:
            return check(candidate, wanted)
        except Missing as fault:
            faults.append(str(fault))
    raise Missing(", ".join(faults) or none)


# --- source: the cache ------------------------------------------------------------------
#
# An entry is a folder with a file POINTER that holds the path of the executable,
# relative to the folder or absolute. It appears by one rename when all of it is there.

POINTER = "executable"


def entries_dir() -> Path:
    return cache_dir() / "interpreters"


def log_of(wanted: Interpreter) -> Path:
    return cache_dir() / "logs" / f"{wanted.name}.log"


def from_cache(wanted: Interpreter) -> Path:
    entry = entries_dir() / wanted.name
    try:
        pointer = (entry / POINTER).read_text().strip()
    except FileNotFoundError:
        raise Missing("nothing there yet") from None
    return check(entry / pointer, wanted)


def discard(folder: Path) -> None:
    """Remove a folder that may not exist."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def add_entry(wanted: Interpreter, fill: Callable[[Path, Path], str]) -> Path:
    """Make the cache entry of `wanted`, check it, and return its executable.

    `fill(staging, final)` puts the files into the folder `staging`, made to work
    once that is renamed to `final`, and returns what to write into POINTER.
    The caller holds the lock of `wanted`.
    """
    final = entries_dir() / wanted.name
    for leftover in entries_dir().glob(f".{wanted.name}-*"):
        discard(leftover)
    staging = entries_dir() / f".{wanted.name}-{os.getpid()}"
    staging.mkdir()
    try:
        (staging / POINTER).write_text(fill(staging, final) + "\n")
        discard(final)
        staging.rename(final)
    finally:
        discard(staging)
    try:
        return from_cache(wanted)
    except Missing:
        discard(final)
        raise


# --- source: this machine ---------------------------------------------------------------


def from_pyenv(wanted: Interpreter) -> Path:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        executable for name in wanted.executables for executable in sorted(root.glob(f"versions/*/bin/{name}"))
    ]
    return first_good(candidates, wanted, none="none there")


def from_path(wanted: Interpreter) -> Path:
    # A pyenv shim is just run: it answers with the real executable, or fails the check.
    found = [shutil.which(name, path=folder) for folder in os.get_exec_path() for name in wanted.executables]
    candidates = dict.fromkeys(Path(path) for path in found if path)
    return first_good(list(candidates), wanted, none="none there")


# --- source: uv -------------------------------------------------------------------------


class Uv:
    """Downloads with `uv python install`; asks no more in this run once the server is out of reach."""

    def __init__(self) -> None:
        self.out_of_reach = False

    def find(self, wanted: Interpreter) -> Path:
        if self.out_of_reach:
            raise Missing("its downloads are out of reach, as found before in this run")
        return add_entry(wanted, lambda staging, final: self.install(wanted))

    def install(self, wanted: Interpreter) -> str:
        """Have uv install `wanted` into its own folder of the cache; the path of the executable."""
        uv = tool("uv")
        # Short waits bound the time lost where nothing can be downloaded;
        # they are per connection and per read, so a slow download goes on.
        settings = {
            "UV_PYTHON_INSTALL_DIR": str(cache_dir() / "uv"),
            "UV_HTTP_TIMEOUT": "10",
            "UV_HTTP_CONNECT_TIMEOUT": "10",
            "UV_HTTP_RETRIES": "0",
        }
        try:
            output_of(
                [uv, "python", "install", "--no-bin", wanted.uv_name],
                settings,
                timeout=900,
            )
        except Missing as fault:
            self.out_of_reach = "No download found" not in str(fault)
            raise
        found = output_of(
            [uv, "python", "find", "--managed-python", "--system", wanted.uv_name],
            settings,
            timeout=60,
        )
        return last_line(found)


# --- source: Debian packages ------------------------------------------------------------

# What the interpreters load, down to libc: they run with the C library of their own suite,
# which may be newer than the machine's. libstdc++6 is for the extensions tests compile.
LIBRARIES = (
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "libbz2-1.0",
    "libexpat1",
    "libffi8",
    "liblzma5",
    "libncursesw6",
    "libreadline8t64",
    "libsqlite3-0",
    "libssl3t64",
    "libtinfo6",
    "libuuid1",
    "libzstd1",
    "zlib1g",
)


def from_packages(suite: str, packages: Sequence[str], executable: str, wanted: Interpreter) -> Path:
    """Unpack `packages` and LIBRARIES of a Debian suite into a cache entry."""

    def fill(staging: Path, final: Path) -> str:
        patchelf = tool("patchelf")
        unpack(debian(suite, "deb"), [*packages, *LIBRARIES], staging, log_of(wanted))
        make_self_contained(patchelf, staging, final, executable)
        settle_headers(staging)
        return executable

    return add_entry(wanted, fill)


def make_self_contained(patchelf: str, staging: Path, final: Path, executable: str) -> None:
    """Have an unpacked executable load the libraries it was unpacked with, once at `final`."""
    loader = next(staging.glob("usr/lib/*/ld-linux*.so*"), None)
    if loader is None:
        raise Missing("libc6 has no dynamic loader where it should be")
    loader_at = final / loader.relative_to(staging)
    # DT_RPATH (--force-rpath), not DT_RUNPATH: it also holds for what the executable's
    # libraries and extension modules need, so that these need no patch of their own.
    output_of(
        [
            patchelf,
            "--set-interpreter",
            str(loader_at),
            "--force-rpath",
            "--set-rpath",
            str(loader_at.parent),
            str(staging / executable),
        ],
        timeout=60,
    )


def settle_headers(root: Path) -> None:
    """Put CPython's real pyconfig.h beside Python.h.

    Debian has one there that includes the architecture's by way of /usr/include,
    where a compiler would not find ours, or find that of another Python.
    """
    for real in root.glob("usr/include/*/python3*/pyconfig.h"):
        shutil.copy(real, root / "usr" / "include" / real.parent.name / "pyconfig.h")


# --- source: a build from Debian's source package ---------------------------------------

BUILD_NEEDS = (
    "gcc",
    "make",
    "libbz2-dev",
    "libffi-dev",
    "liblzma-dev",
    "libreadline-dev",
    "libsqlite3-dev",
    "libssl-dev",
    "uuid-dev",
    "zlib1g-dev",
)


def from_source(suite: str, package: str, options: Sequence[str], executable: str, wanted: Interpreter) -> Path:
    """Build a source package of a Debian suite, configured with `options`, into a cache entry."""

    def fill(staging: Path, final: Path) -> str:
        log = log_of(wanted)
        require_build_needs(log)
        with tempfile.TemporaryDirectory(prefix="build-", dir=staging) as folder:
            tree = download_source(debian(suite, "deb-src"), package, Path(folder), log)
            say(f"{wanted.name}: compiling, some minutes; log in {log}")
            run_logged(["./configure", f"--prefix={final}", *options], log, cwd=tree)
            run_logged(["make", f"-j{os.cpu_count() or 1}"], log, cwd=tree)
            image = Path(folder) / "image"
            run_logged(["make", "install", f"DESTDIR={image}"], log, cwd=tree)
            for installed in (image / final.relative_to("/")).iterdir():
                installed.rename(staging / installed.name)
            shutil.copytree(tree / "Tools" / "tsan", staging / "tsan")  # which reports are CPython's own, for ci/tsan
        return executable

    return add_entry(wanted, fill)


def download_source(apt: Apt, package: str, folder: Path, log: Path) -> Path:
    """Download and unpack the original tarball of a source package; its top folder."""
    apt.fetch(["source", "--download-only", package], log, into=folder)
    tarball = next(path for path in folder.glob("*.orig.tar.*") if path.suffix != ".asc")
    tree = folder / "tree"
    tree.mkdir()
    run_logged(["tar", "-xf", str(tarball), "-C", str(tree), "--strip-components=1"], log, cwd=folder)
    return tree


def require_build_needs(log: Path) -> None:
    """Make sure that BUILD_NEEDS are installed: as root install them, else say what is missing."""
    query = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n"]
    installed = output_of(query, timeout=60).splitlines()
    missing = [package for package in BUILD_NEEDS if f"{package} installed" not in installed]
    if not missing:
        return
    if os.geteuid() != 0:
        raise Missing(f"the build needs these Debian packages: {' '.join(missing)}")
    install = ["apt-get", "-q", "-y", "--no-install-recommends", "install", *missing]
    run_logged(install, log, cwd=Path("/"))


# --- which source provides what ---------------------------------------------------------

CACHE = Source("cache", from_cache)
PYENV = Source("pyenv", from_pyenv)
ON_PATH = Source("PATH", from_path)
UV = Source("uv", Uv().find)


def debian_cpython(suite: str, python: str) -> Source:
    """CPython with the GIL from Debian's packages; `python` as in python3.14."""
    packages = (
        python,
        f"{python}-minimal",
        f"{python}-dev",
        f"lib{python}-minimal",
        f"lib{python}-stdlib",
        f"lib{python}-dev",
    )
    return Source(
        f"Debian {suite} packages",
        functools.partial(from_packages, suite, packages, f"usr/bin/{python}"),
    )


def debian_pypy(suite: str) -> Source:
    """PyPy from Debian's packages."""
    packages = ("pypy3", "pypy3-lib", "pypy3-dev", "libgdbm6t64")
    return Source(
        f"Debian {suite} packages",
        functools.partial(from_packages, suite, packages, "usr/bin/pypy3"),
    )


def debian_free_threaded(suite: str, python: str, *more: str) -> Source:
    """Free-threaded CPython built from Debian's source package, as Debian has no binary of it."""
    options = ("--disable-gil", "--disable-test-modules", *more)
    return Source(
        f"Debian {suite} source",
        functools.partial(from_source, suite, python, options, f"bin/{python}t"),
    )


ANYWHERE = (CACHE, PYENV, ON_PATH, UV)

SOURCES: dict[str, tuple[Source, ...]] = {
    "cp39": ANYWHERE,
    "cp310": ANYWHERE,
    "cp311": ANYWHERE,
    "cp312": ANYWHERE,
    "cp313": (*ANYWHERE, debian_cpython("trixie", "python3.13")),
    "cp314": (*ANYWHERE, debian_cpython("sid", "python3.14")),
    "cp315": (*ANYWHERE, debian_cpython("sid", "python3.15")),
    "cp313t": (*ANYWHERE, debian_free_threaded("trixie", "python3.13")),
    "cp314t": (*ANYWHERE, debian_free_threaded("sid", "python3.14")),
    "cp313t-tsan": (CACHE, debian_free_threaded("trixie", "python3.13", "--with-thread-sanitizer")),
    "pp73": (*ANYWHERE, debian_pypy("trixie")),
    "pp80": (*ANYWHERE, debian_pypy("sid")),
}


def provide(wanted: Interpreter) -> Path:
    """The checked executable of `wanted` from the first source that has it.

    Raises Missing with what each source said if none has.
    """
    faults: list[str] = []
    with locked(entries_dir() / f".{wanted.name}.lock"):
        for source in SOURCES[wanted.name]:
            if source not in (CACHE, PYENV, ON_PATH):  # these take no time worth a line
                say(f"{wanted.name}: {source.label} ...")
            try:
                return source.find(wanted)
            except Missing as fault:
                faults.append(f"{source.label}: {fault}")
            except OSError as error:
                faults.append(f"{source.label}: {error}")
    raise Missing("; ".join(faults))


def main() -> int:
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="ci/interpreters",
        usage="%(prog)s [NAME...]",
        description=summary,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {' '.join(BY_NAME)}")
    try:
        wanted = names(parser.parse_args().names)
    except UnknownName as error:
        say(f"ci/interpreters: {error}")
        return 2
    status = 0
    for name in wanted:
        try:
            print(name, provide(BY_NAME[name]), flush=True)
        except (Missing, OSError) as fault:
            say(f"ci/interpreters: {name}: {fault}")
            status = 1
    return status


if __name__ == "__main__":
    run_main(main, "ci/interpreters")
