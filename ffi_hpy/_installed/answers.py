"""Finds the module and the distribution that a program started now would get under an original's names."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path

from .distribution import is_stand_in
from .place import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .identity import Original

__all__ = ["Answer", "find_commands", "find_distributions", "find_module"]

_OWN = Path(__file__).resolve().parents[1]


class Answer:
    """A module or a distribution: its path, whether it is ffi_hpy's, its version, and the folder of sys.path that
    contains it."""

    def __init__(self, path: Path, is_ours: bool, version: str, folder: Path) -> None:
        self.path = path
        self.is_ours = is_ours
        self.version = version
        self.folder = folder


def find_module(original: Original) -> Answer | None:
    """Return the module of an original's name, without importing it. None for a folder without __init__.py."""
    with _environment_path(original.module):
        spec = importlib.util.find_spec(original.module)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    folder = path.parent if spec.submodule_search_locations is None else path.parent.parent
    is_ours = is_stand_in(folder.parent) or folder.resolve() == _OWN / "_dropin"
    return Answer(path, is_ours, "", folder)


def find_distributions(original: Original) -> list[Answer]:
    """Return the distributions of an original's name, the first match first, without the distributions of a running
    drop-in."""
    answers = []
    context = importlib.metadata.DistributionFinder.Context(name=original.name, path=search_path())
    for found in importlib.metadata.MetadataPathFinder.find_distributions(context):
        path = Path(str(found._path))
        # The metadata in PyPy's standard library is of an hpy that is not a regular package, so any other module
        # precedes it; PyPy 8 has only the metadata
        is_pypys = path.parent == Path(sysconfig.get_path("stdlib"))
        if not is_pypys and not path.resolve().is_relative_to(_OWN):
            answers.append(Answer(path, is_stand_in(path), found.metadata["Version"], path.parent))
    return answers


def find_commands(original: Original) -> dict[str, str | None]:
    """Return an original's commands by name, each with the path that a shell finds."""
    return {name: shutil.which(name) for name in original.commands}


@contextlib.contextmanager
def _environment_path(name: str) -> Iterator[None]:
    """Set sys.path as new programs have it, and remove the module from sys.modules. Only for a process with one
    thread."""
    whole = sys.path[:]
    module = sys.modules.pop(name, None)
    sys.path[:] = search_path()
    try:
        yield
    finally:
        sys.path[:] = whole
        if module is not None:
            sys.modules[name] = module
