"""The cache of builds: folders whose names are derived from all inputs of a build. One process at a time uses a
folder."""

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

# Environment variables that affect compilers and linkers.
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
"""The lock file of a folder."""
_UNFINISHED = "unfinished-"


def cache_folder() -> Path:
    """Return the user's folder for builds. BuildError if the user has none."""
    try:
        return _user_cache.cache_folder()
    except RuntimeError as error:
        raise BuildError(str(error)) from None


def digest_of_bytes(content: bytes) -> str:
    """Return 16 hexadecimal digits for the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def environment_digest() -> str:
    """Return the digest of the data that affects every build: the content of our headers, and the variables that
    compilers use for searching."""
    return digest_of(_headers_digest(tuple(libinfo.include_paths())), *(os.environ.get(name) for name in _VARIABLES))


@functools.lru_cache(maxsize=4)
def _headers_digest(folders: tuple[str, ...]) -> str:
    """Return the digest of the content of the headers in some folders. The folders differ if the environment names a
    package for another machine. File times are ignored, because installers set them arbitrarily."""
    digest = hashlib.sha256()
    for folder in folders:
        for header in sorted(Path(folder).rglob("*.h")):
            digest.update(hashlib.sha256(header.read_bytes()).digest())
    return digest.hexdigest()


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Create a folder and lock it: no other process or thread builds in it. Yields a new folder inside it, on the same
    file system, for unfinished files.

    That folder is removed afterwards. If the process is killed, the next process removes it before it builds: commands
    that are still running then cannot write, and cannot put files among the files of the next build.
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
    """Remove a folder, even if another process writes into it: rename it first."""
    gone = work.with_name(f"{work.name}.gone")
    try:
        work.rename(gone)
    except FileNotFoundError:
        return
    shutil.rmtree(gone, ignore_errors=True)


def write_whole(path: Path, content: bytes, work: Path) -> None:
    """Write a file in one step, through a private folder. A file that has this content already is not touched and keeps
    its time."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    part = work / path.name
    part.write_bytes(content)
    part.replace(path)
