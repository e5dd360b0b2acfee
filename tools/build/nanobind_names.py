"""The headers <nanobind/...> of the wheel: for each header of nanobind that ffi_hpy has, a file of the same path that
includes ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "_nanobind/include"
"""Path inside the package. No compiler searches it by default: a project asks for it."""
_OWN_ONLY = ("bind", "c_bind.h", "stl/detail.h", "stl/mapping.h")
"""Parts of include/ffi_hpy without a counterpart of the same path."""
_OTHERS = {
    "intrusive/counter.inl": "intrusive/counter.h",
    "nb_defs.h": "bind.h",
    "stl/detail/nb_array.h": "stl/array.h",
    "stl/detail/nb_dict.h": "stl/mapping.h",
    "stl/detail/nb_list.h": "stl/detail.h",
    "stl/detail/nb_optional.h": "stl/optional.h",
    "stl/detail/nb_set.h": "stl/detail.h",
    "stl/detail/traits.h": "bind.h",
}
"""Headers of nanobind by another name, each with the header of ffi_hpy that has its content."""
_TEXT = """\
/* nanobind/{name} - ffi_hpy/{ours} by nanobind's name. */
#pragma once
#include <nanobind/nanobind.h>
#include <ffi_hpy/{ours}>
"""


def make_nanobind_headers(root: Path, build: Path) -> list[tuple[Path, str]]:
    """Write the headers below `build`, and return (file, path inside the package) of each."""
    folder = root / "include" / "ffi_hpy"
    names = [header.relative_to(folder).as_posix() for header in sorted(folder.rglob("*.h"))]
    headers = {name: name for name in names if not name.startswith(_OWN_ONLY)}
    made = []
    for name, ours in {**headers, **_OTHERS}.items():
        inside = f"{FOLDER}/nanobind/{name}"
        output = build / inside
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(_TEXT.format(name=name, ours=ours))
        made.append((output, inside))
    return made
