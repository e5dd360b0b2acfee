"""Interpreters from Debian: its packages, unpacked, and free-threaded CPython, compiled from its source package."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.debian import debian, run_appending, unpack
from ci.provision.entries import add_entry, log_of
from ci.provision.system import require
from ci.provision.tools import tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.lib.matrix import Interpreter
    from ci.provision.debian import Apt

# What the interpreters load, libc included, because their suite's may be newer than the machine's. The extensions that
# tests compile need libstdc++6.
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
    """Have an executable load the libraries that it was unpacked with, when it lies in `final`."""
    loader = next(staging.glob("usr/lib/*/ld-linux*.so*"), None)
    if loader is None:
        raise Missing("libc6 has no dynamic loader where it should be")
    loader_at = final / loader.relative_to(staging)
    # DT_RPATH (--force-rpath) and not DT_RUNPATH, because it holds for the libraries and extension modules, too.
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

    Debian's file in this place includes the real one by way of /usr/include, where another Python's may lie, or none.
    """
    for real in root.glob("usr/include/*/python3*/pyconfig.h"):
        shutil.copy(real, root / "usr" / "include" / real.parent.name / "pyconfig.h")


def from_source(suite: str, package: str, options: Sequence[str], executable: str, wanted: Interpreter) -> Path:
    """Build a source package of a Debian suite, configured with `options`, into a cache entry."""

    def fill(staging: Path, final: Path) -> str:
        log = log_of(wanted)
        require("compile free-threaded CPython")
        with tempfile.TemporaryDirectory(prefix="build-", dir=staging) as folder:
            tree = download_source(debian(suite, "deb-src"), package, Path(folder), log)
            say(f"{wanted.name}: compiling, some minutes; log in {log}")
            run_appending(["./configure", f"--prefix={final}", *options], log, cwd=tree)
            run_appending(["make", f"-j{os.cpu_count() or 1}"], log, cwd=tree)
            image = Path(folder) / "image"
            run_appending(["make", "install", f"DESTDIR={image}"], log, cwd=tree)
            for installed in (image / final.relative_to("/")).iterdir():
                installed.rename(staging / installed.name)
            shutil.copytree(tree / "Tools" / "tsan", staging / "tsan")  # for ci/tsan: reports to suppress
        return executable

    return add_entry(wanted, fill)


def download_source(apt: Apt, package: str, folder: Path, log: Path) -> Path:
    """Download and unpack the original tarball of a source package, and return its top folder."""
    apt.fetch(["source", "--download-only", package], log, into=folder)
    tarball = next(path for path in folder.glob("*.orig.tar.*") if path.suffix != ".asc")
    tree = folder / "tree"
    tree.mkdir()
    run_appending(["tar", "-xf", str(tarball), "-C", str(tree), "--strip-components=1"], log, cwd=folder)
    return tree
