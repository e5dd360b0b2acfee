"""Lines that many C++ sources begin with, compiled once: what a test includes is half of its time or more."""

from __future__ import annotations

from pathlib import Path

from ci.lib.process import output_of


def precompile(command: list[str], lines: str, folder: Path) -> list[str]:
    """Return the options of a compiler that put the lines before a source. Files go to `folder`, which is made."""
    folder.mkdir()
    header = folder / "first.h"
    header.write_text(lines)
    output_of([*command, "-x", "c++-header", header, "-o", f"{header}.gch"])
    return ["-include", str(header)]
