"""The headers <nanobind/...> of the wheel: for each header of nanobind that ffi_hpy has, a file of the same path that
includes ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "_nanobind/include"
"""Path inside the package. No compiler searches it by default: a project asks for it."""
_OWN_ONLY = ("bind", "c_bind.h", "stl/detail.h", "stl/mapping.h")
"""Parts of include/ffi_hpy without a counterpart in nanobind."""
_TEXT = """\
/* nanobind/{name} - ffi_hpy/{name} by nanobind's name. */
#pragma once
#include <nanobind/nanobind.h>
#include <ffi_hpy/{name}>
"""


def make_nanobind_headers(root: Path, build: Path) -> list[tuple[Path, str]]:
    """Write the headers below `build`, and return (file, path inside the package) of each."""
    ours = root / "include" / "ffi_hpy"
    made = []
    for header in sorted(ours.rglob("*.h")):
        name = header.relative_to(ours).as_posix()
        if name.startswith(_OWN_ONLY):
            continue
        inside = f"{FOLDER}/nanobind/{name}"
        output = build / inside
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(_TEXT.format(name=name))
        made.append((output, inside))
    return made
