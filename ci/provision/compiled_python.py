"""Free-threaded CPython, compiled from a tree of its sources into a cache entry."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from ci.lib.messages import say
from ci.provision.debian import run_appending
from ci.provision.entries import add_entry, log_of
from ci.provision.system import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.lib.matrix import Interpreter

# We do not need CPython's own tests, and uv installs packages from outside.
OPTIONS = ("--disable-gil", "--disable-test-modules", "--without-ensurepip")

# With -O2 and without -g the compilation takes 60 % of the time. These flags follow CPython's own, which stay: dtoa.c
# needs some of them. Reports of sanitizers need -g.
QUICK = ("CFLAGS=-O2 -g0",)

# The installation compiles each module to bytecode three times: under a sanitizer that takes longer than the build.
TOP_MODULES_ONLY = "COMPILEALL_OPTS=-r 0"

PutTree = Callable[[Path, Path], None]
"""Puts the sources' top folder at the first path; the second path is the log."""


def compile_python(put_tree: PutTree, more: Sequence[str], wanted: Interpreter) -> Path:
    """Make the cache entry of `wanted`; `more` options are for configure. Raises Missing."""

    def fill(staging: Path, final: Path) -> str:
        log = log_of(wanted)
        require("compile free-threaded CPython")
        with tempfile.TemporaryDirectory(prefix="build-", dir=staging) as folder:
            tree, image = Path(folder) / "tree", Path(folder) / "image"
            put_tree(tree, log)
            say(f"{wanted.name}: compiling, some minutes; log in {log}")
            run_appending(["./configure", f"--prefix={final}", *OPTIONS, *(more or QUICK)], log, cwd=tree)
            run_appending(["make", f"-j{os.cpu_count() or 1}"], log, cwd=tree)
            run_appending(["make", "install", f"DESTDIR={image}", TOP_MODULES_ONLY], log, cwd=tree)
            for installed in (image / final.relative_to("/")).iterdir():
                installed.rename(staging / installed.name)
            shutil.copytree(tree / "Tools" / "tsan", staging / "tsan")  # for ci/sanitize: reports to suppress
        return f"bin/{wanted.executables[0]}"

    return add_entry(wanted, fill)


def unpack_tree(tarball: Path, tree: Path, log: Path) -> None:
    """Unpack a tarball so that its top folder is `tree`.

    tar keeps the files' times, so that make does not regenerate the generated files of the release.
    """
    tree.mkdir()
    command = ["tar", "-xf", str(tarball), "-C", str(tree), "--strip-components=1"]
    run_appending(command, log, cwd=tree)
