"""CPython's source tarballs on this machine: the folders to search, and the choice of a tarball."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.lib.messages import Missing
from ci.provision.compiled_python import compile_python, unpack_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.lib.matrix import Interpreter

VARIABLE = "FFI_HPY_SOURCES"  # a folder of the user's choice
SHARED = ROOT.parent / "shared" / "sources"

# python.org's names, Python-3.15.0b2.tar.xz or .tgz, and cpython-3.14.7.tar.xz.
NAME = re.compile(r"(?:cpython|Python)-(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?\.(?:tar\.(?:xz|gz|bz2)|tgz)")
FINAL = "z"  # sorts after every word for a pre-release

Release = tuple[int, str, int]  # of one language version, ordered by age: 0b2 is (0, "b", 2), 7 is (7, "z", 0)


def from_tarball(more: Sequence[str], wanted: Interpreter) -> Path:
    """Compile the newest tarball of `wanted`'s version; `more` options are for configure. Raises Missing."""
    tarball = find_tarball(wanted.version)
    return compile_python(lambda tree, log: unpack_tree(tarball, tree, log), more, wanted)


def find_tarball(version: tuple[int, int]) -> Path:
    """Return the newest release of a language version, from the first folder that has one. Raises Missing."""
    for folder in folders():
        found = {release: path for path in sorted(folder.glob("*")) if (release := release_of(path, version))}
        if found:
            return found[max(found)]
    chosen = os.environ.get(VARIABLE)
    places = f"{chosen} ({VARIABLE}) or" if chosen else f"a folder that {VARIABLE} names, or in"
    raise Missing(f"no Python-{version[0]}.{version[1]}.*.tar.xz in {places} ../shared/sources beside the checkout")


def folders() -> list[Path]:
    """Return the folders to search for tarballs; a folder may not exist."""
    chosen = os.environ.get(VARIABLE)
    return [Path(chosen).absolute(), SHARED] if chosen else [SHARED]


def release_of(path: Path, version: tuple[int, int]) -> Release | None:
    """Return the release of `version` in a tarball, None if `path` is not such a tarball."""
    match = NAME.fullmatch(path.name)
    if match is None or (int(match[1]), int(match[2])) != version:
        return None
    return int(match[3]), match[4] or FINAL, int(match[5] or 0)
