"""Interpreters from Debian: unpacked packages; and free-threaded CPython, for which Debian has only sources."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import Missing
from ci.lib.process import output_of
from ci.provision.compiled_python import compile_python, unpack_tree
from ci.provision.debian import debian, unpack
from ci.provision.entries import add_entry, log_of
from ci.provision.tools import tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.lib.matrix import Interpreter
    from ci.provision.debian import Apt

# The libraries that the interpreters load, libc included: their suite may need a newer libc than the machine has. The
# extensions that tests compile need libstdc++6.
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
        place_pyconfig(staging)
        return executable

    return add_entry(wanted, fill)


def make_self_contained(patchelf: str, staging: Path, final: Path, executable: str) -> None:
    """Make an executable, once it is in `final`, load the libraries that it was unpacked with."""
    loader = next(staging.glob("usr/lib/*/ld-linux*.so*"), None)
    if loader is None:
        raise Missing("libc6 has no dynamic loader where it should be")
    loader_at = final / loader.relative_to(staging)
    # DT_RPATH (--force-rpath) and not DT_RUNPATH, because DT_RPATH also applies to the libraries and extension modules.
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


def place_pyconfig(root: Path) -> None:
    """Put CPython's real pyconfig.h beside Python.h.

    Debian's file in this place includes the real one through /usr/include, which may have another Python's file or
    none.
    """
    for real in root.glob("usr/include/*/python3*/pyconfig.h"):
        shutil.copy(real, root / "usr" / "include" / real.parent.name / "pyconfig.h")


def from_source(suite: str, package: str, more: Sequence[str], wanted: Interpreter) -> Path:
    """Compile free-threaded CPython from a suite's source package; `more` options are for configure. Raises Missing."""

    def put_tree(tree: Path, log: Path) -> None:
        unpack_tree(download_tarball(debian(suite, "deb-src"), package, tree.parent, log), tree, log)

    return compile_python(put_tree, more, wanted)


def download_tarball(apt: Apt, package: str, folder: Path, log: Path) -> Path:
    """Download a source package into `folder`, and return its original tarball."""
    apt.fetch(["source", "--download-only", package], log, into=folder)
    return next(path for path in folder.glob("*.orig.tar.*") if path.suffix != ".asc")
