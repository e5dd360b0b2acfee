"""The cache of interpreters: an entry is a complete folder, put in place by one rename.

The file POINTER of an entry holds the path of the executable, relative to the folder or absolute.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Callable

from ci.lib.folders import cache_dir
from ci.lib.messages import Missing
from ci.provision.probe import check

if TYPE_CHECKING:
    from pathlib import Path

    from ci.lib.matrix import Interpreter

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

    `fill(staging, final)` puts the files into the folder `staging` so that they work after it is renamed to `final`,
    and returns the content of POINTER. The caller holds the lock of `wanted`.
    """
    final = entries_dir() / wanted.name
    for leftover in entries_dir().glob(f".{wanted.name}-[0-9]*"):  # not another interpreter's, whose name has a suffix
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
