"""Records, by content, the headers that object files were compiled from. ninja compares times only, and a changed
header may have an older time."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .. import libinfo
from ._cache import digest_of_bytes, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["NOTES", "note_headers", "remove_outdated"]

NOTES = "headers.json"


def note_headers(folder: Path, work: Path, read: Mapping[str, Iterable[str]]) -> None:
    """Record the content of the headers of the object files in a locked folder. `work` is its folder for unfinished
    files."""
    own = tuple(f"{path}{os.sep}" for path in libinfo.include_paths())  # their content is part of each command
    noted = {
        output: {path: _digest_of(folder / path) for path in paths if not path.startswith(own)}
        for output, paths in read.items()
    }
    write_whole(folder / NOTES, json.dumps(noted, indent=1).encode(), work)


def remove_outdated(folder: Path) -> None:
    """Remove the object files whose headers have changed since. A replaced header has an older time if it comes from an
    archive or a package cache, or is restored."""
    try:
        noted = json.loads((folder / NOTES).read_bytes())
    except FileNotFoundError:
        return
    for output, headers in noted.items():
        if any(_digest_of(folder / path) != digest for path, digest in headers.items()):
            (folder / output).unlink(missing_ok=True)


def _digest_of(path: Path) -> str | None:
    """Return the digest of a file; None if it cannot be read, because the compiler will report that."""
    try:
        return digest_of_bytes(path.read_bytes())
    except OSError:
        return None
