"""The sources of each interpreter of the matrix, in order; the first source that has the interpreter provides it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from ci.lib.folders import locked
from ci.lib.matrix import BY_NAME, Interpreter
from ci.lib.messages import Missing, say
from ci.provision.debian_python import from_packages, from_source
from ci.provision.entries import entries_dir, from_cache
from ci.provision.foreign_python import from_foreign_packages
from ci.provision.musl_python import from_source_for_musl
from ci.provision.sources import Uv, from_path, from_pyenv
from ci.provision.tarballs import from_tarball

AT_ONCE = 3  # two compile, the others wait for the network


@dataclass(frozen=True)
class Source:
    """A place that provides interpreters.

    `find` returns the checked executable of an interpreter or raises Missing.
    """

    label: str
    find: Callable[[Interpreter], Path]


CACHE = Source("cache", from_cache)
PYENV = Source("pyenv", from_pyenv)
ON_PATH = Source("PATH", from_path)
UV = Source("uv", Uv().find)


def cpython_packages(python: str) -> tuple[str, ...]:
    """Return Debian's packages of CPython with the GIL; `python` is a name like python3.14."""
    return (
        python,
        f"{python}-minimal",
        f"{python}-dev",
        f"lib{python}-minimal",
        f"lib{python}-stdlib",
        f"lib{python}-dev",
    )


PYPY_PACKAGES = ("pypy3", "pypy3-lib", "pypy3-dev", "libgdbm6t64")


def debian_cpython(suite: str, python: str) -> Source:
    """Return Debian's packages as a source of CPython with the GIL."""
    find = functools.partial(from_packages, suite, cpython_packages(python), f"usr/bin/{python}")
    return Source(f"Debian {suite} packages", find)


def debian_pypy(suite: str) -> Source:
    """Return Debian's packages as a source of PyPy."""
    return Source(
        f"Debian {suite} packages",
        functools.partial(from_packages, suite, PYPY_PACKAGES, "usr/bin/pypy3"),
    )


def foreign_cpython(suite: str, python: str) -> Source:
    """Return Debian's packages for another machine as a source of CPython with the GIL."""
    return foreign(suite, cpython_packages(python), f"usr/bin/{python}")


def foreign(suite: str, packages: Sequence[str], executable: str) -> Source:
    find = functools.partial(from_foreign_packages, suite, packages, executable)
    return Source(f"Debian {suite} packages for its machine", find)


def tarball(*more: str) -> Source:
    """Return the tarballs on this machine as a source of free-threaded CPython; `more` options are for configure."""
    return Source("tarball", functools.partial(from_tarball, more))


def debian_free_threaded(suite: str, python: str, *more: str) -> Source:
    """Return Debian's source package as a source of free-threaded CPython; Debian has no binary package of it."""
    return Source(f"Debian {suite} source", functools.partial(from_source, suite, python, more))


BUILT = (CACHE, PYENV, ON_PATH)
ANYWHERE = (*BUILT, UV)
FREE_THREADED = (*BUILT, tarball(), UV)
SANITIZE = "--with-thread-sanitizer"

SOURCES: dict[str, tuple[Source, ...]] = {
    "cp39": ANYWHERE,
    "cp310": ANYWHERE,
    "cp311": ANYWHERE,
    "cp312": ANYWHERE,
    "cp313": (*ANYWHERE, debian_cpython("trixie", "python3.13")),
    "cp314": (*ANYWHERE, debian_cpython("sid", "python3.14")),
    "cp315": (*ANYWHERE, debian_cpython("sid", "python3.15")),
    "cp313t": (*FREE_THREADED, debian_free_threaded("trixie", "python3.13")),
    "cp314t": (*FREE_THREADED, debian_free_threaded("sid", "python3.14")),
    "cp315t": (*FREE_THREADED, debian_free_threaded("sid", "python3.15")),
    "cp313t-tsan": (CACHE, tarball(SANITIZE), debian_free_threaded("trixie", "python3.13", SANITIZE)),
    "cp314t-tsan": (CACHE, tarball(SANITIZE), debian_free_threaded("sid", "python3.14", SANITIZE)),
    "pp73": (*ANYWHERE, debian_pypy("trixie")),
    "pp80": (*ANYWHERE, debian_pypy("sid")),
    "arm64-cp313": (CACHE, foreign_cpython("trixie", "python3.13"), foreign_cpython("sid", "python3.13")),
    "arm64-cp314": (CACHE, foreign_cpython("sid", "python3.14")),
    "arm64-cp315": (CACHE, foreign_cpython("sid", "python3.15")),
    "arm64-pp80": (CACHE, foreign("sid", PYPY_PACKAGES, "usr/bin/pypy3")),
    "musl-cp313": (CACHE, Source("Debian trixie source", functools.partial(from_source_for_musl, "python3.13"))),
    "riscv64-cp313": (CACHE, foreign_cpython("trixie", "python3.13"), foreign_cpython("sid", "python3.13")),
}


def provide(wanted: Interpreter) -> Path:
    """Return the checked executable of `wanted` from the first source that has it.

    Raises Missing with the reason of each source if all fail.
    """
    reasons: list[str] = []
    with locked(entries_dir() / f".{wanted.name}.lock"):
        for source in SOURCES[wanted.name]:
            if source not in BUILT:  # the sources in BUILT are too quick for a message
                say(f"{wanted.name}: {source.label} ...")
            try:
                return source.find(wanted)
            except Missing as reason:
                reasons.append(f"{source.label}: {reason}")
            except OSError as error:
                reasons.append(f"{source.label}: {error}")
    raise Missing("; ".join(reasons))


def provide_each(wanted: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield the name and the executable of each wanted interpreter that can be provided; report the reason for the
    others.

    The order is as in `wanted`. While one interpreter compiles, others are fetched.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, provided in zip(wanted, pool.map(try_to_provide, wanted)):
            if isinstance(provided, Path):
                yield name, provided
            else:
                say(f"ci/interpreters: {name}: {provided}")


def try_to_provide(name: str) -> Path | Missing:
    """Return the executable, or the reason why it is missing."""
    try:
        return provide(BY_NAME[name])
    except Missing as reason:
        return reason


def find_interpreters(wanted: Sequence[str]) -> dict[str, Path]:
    """Return the executables of the wanted interpreters, by name; report the reason for each missing one."""
    return dict(provide_each(wanted))
