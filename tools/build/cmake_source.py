"""Removes comments from the package's CMake files for the wheel. Comment lines become empty lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


def reduce_cmake(package: Path) -> None:
    """Rewrite the CMake files of a built package."""
    for path in [*package.rglob("*.cmake"), *package.rglob("CMakeLists.txt")]:
        path.write_text(_COMMENT.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
