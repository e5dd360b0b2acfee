"""Where builds are kept: folders that are named by all that a build is made of, each used by one process at a time."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from .. import libinfo
from ..utils import FileLock, _user_cache
from ..utils._user_cache import digest_of
from ._errors import BuildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LOCK", "cache_folder", "digest_of", "digest_of_bytes", "environment_digest", "held", "write_whole"]

# What compilers and linkers take from the environment beside their arguments.
_VARIABLES = (
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "HIPCC_COMPILE_FLAGS_APPEND",
    "HIPCC_LINK_FLAGS_APPEND",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "SDKROOT",
)
LOCK = "lock"
"""The file by which a folder is held."""
_UNFINISHED = "unfinished-"


def cache_folder() -> Path:
    """The user's folder for builds. BuildError if that user has none."""
    try:
        return _user_cache.cache_folder()
    except RuntimeError as error:
        raise BuildError(str(error)) from None


def digest_of_bytes(content: bytes) -> str:
    """16 hexadecimal digits for the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def environment_digest() -> str:
    """Of what counts for every build: our headers' content, and the environment's part in what compilers search."""
    return digest_of(_headers_digest(), *(os.environ.get(name) for name in _VARIABLES))


@functools.lru_cache(maxsize=1)
def _headers_digest() -> str:
    """Of the headers' content: their times say nothing, because installers set them as they like."""
    digest = hashlib.sha256()
    for folder in libinfo.include_paths():
        for header in sorted(Path(folder).rglob("*.h")):
            digest.update(hashlib.sha256(header.read_bytes()).digest())
    return digest.hexdigest()


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Make a folder, and hold it: no other process or thread builds in it. Gives a new folder in it, of the same file
    system, for what is not finished.

    That one is gone afterwards. If the process is killed, the next one removes it before it builds: commands that run
    on alone have no place to write to from then on, and nothing to put among what the next one makes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / LOCK):
        for left in folder.glob(f"{_UNFINISHED}*"):
            _remove(left)
        work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
        try:
            yield work
        finally:
            _remove(work)


def _remove(work: Path) -> None:
    """At once, whoever writes into it: under another name first."""
    gone = work.with_name(f"{work.name}.gone")
    try:
        work.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)


def write_whole(path: Path, content: bytes, work: Path) -> None:
    """Write a file in one step, by a folder that nobody else has; one of this content stays as it is, with its time."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    part = work / path.name
    part.write_bytes(content)
    part.replace(path)
