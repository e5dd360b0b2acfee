"""The core's sources as one compressed file, for projects that build it themselves: see ffi_hpy/CMakeLists.txt.

Files that are compressed one by one, as in a wheel, would take twice as much space.
"""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from .errors import BuildError

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVE = "src.tar.bz2"
"""Path inside the package; the archive contains src/, as in a checkout."""
_TREES = ("src/core", "src/cxx_abi")
_TIME = 315532800  # any value except 0, which ninja takes for a missing file
_SUFFIXES = {".c", ".h", ".cc"}


def make_source_archive(root: Path, build: Path) -> Path:
    """Write the archive below `build` and return it. The same sources give the same bytes. Raises BuildError."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2", format=tarfile.USTAR_FORMAT) as archive:
        for tree in _TREES:
            found = sorted(path for path in (root / tree).rglob("*") if path.suffix in _SUFFIXES)
            if not found:
                raise BuildError(f"no source file in {root / tree}")
            for path in found:
                code = path.read_bytes()
                entry = tarfile.TarInfo(path.relative_to(root).as_posix())
                entry.size, entry.mtime = len(code), _TIME
                archive.addfile(entry, io.BytesIO(code))
    output = build / ARCHIVE
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(buffer.getvalue())
    return output
