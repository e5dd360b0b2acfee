"""Removes the link time from files for Windows, because two builds of the same sources must give the same bytes. zig's
linker has no flag for that.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_AT_HEADER, _TIME_IN_HEADER = 0x3C, 8  # offset of the pointer to the header, and offset of the time in the header


def forget_time(path: Path) -> None:
    """Set the time in the header to zero. The file keeps its own times, which tell a build whether it is up to date."""
    found = path.stat()
    with path.open("r+b") as file:
        file.seek(_AT_HEADER)
        (header,) = struct.unpack("<I", file.read(4))
        file.seek(header + _TIME_IN_HEADER)
        if file.read(4) == bytes(4):
            return
        file.seek(header + _TIME_IN_HEADER)
        file.write(bytes(4))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
