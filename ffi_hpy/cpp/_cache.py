"""Where builds are kept: folders that are named by all that a build is made of, each used by one process at a time."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from pathlib import Path

from .. import libinfo
from ..utils import FileLock
from ._ninja import PART

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cache_folder", "digest_of", "environment_digest", "held", "write_whole"]

# What compilers take from the environment beside their arguments.
_VARIABLES = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
)


def cache_folder() -> Path:
    """TVM_FFI_CACHE_DIR, else ffi_hpy/cpp in the user's folder for caches."""
    named = os.environ.get("TVM_FFI_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(named or os.path.join(home, "ffi_hpy", "cpp")).expanduser().resolve()  # noqa: PTH118


def digest_of(*parts: object) -> str:
    """16 hexadecimal digits for values whose repr() tells them apart: str, bytes, numbers, None, and tuples of them."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


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
def held(folder: Path) -> Iterator[None]:
    """Make a folder, and hold it: no other process or thread builds in it. What killed builds left there is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        for left in folder.glob(f"*{PART}"):
            left.unlink(missing_ok=True)
        yield


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, for who holds its folder; one of this content stays as it is, with its time."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    part = path.with_name(f"{path.name}{PART}")
    part.write_bytes(content)
    part.replace(path)
