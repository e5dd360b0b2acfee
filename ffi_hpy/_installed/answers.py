"""What a program that is started now would find under an original's names: the module and the distribution."""

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
    """A module or a distribution: where it is, whether it is ffi_hpy's, its version, and the folder of sys.path that
    has it."""

    def __init__(self, path: Path, is_ours: bool, version: str, folder: Path) -> None:
        self.path = path
        self.is_ours = is_ours
        self.version = version
        self.folder = folder


def find_module(original: Original) -> Answer | None:
    """Return the module of its name, which is not imported. A folder without __init__.py is none."""
    with _environment_path(original.module):
        spec = importlib.util.find_spec(original.module)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    folder = path.parent if spec.submodule_search_locations is None else path.parent.parent
    is_ours = is_stand_in(folder.parent) or folder.resolve() == _OWN / "_dropin"
    return Answer(path, is_ours, "", folder)


def find_distributions(original: Original) -> list[Answer]:
    """Return the distributions of its name, the one that answers first; those of a running drop-in left out."""
    answers = []
    context = importlib.metadata.DistributionFinder.Context(name=original.name, path=search_path())
    for found in importlib.metadata.MetadataPathFinder.find_distributions(context):
        path = Path(str(found._path))
        # PyPy has metadata there of an hpy that is no regular package, so that any other answers; PyPy 8 has them only
        is_pypys = path.parent == Path(sysconfig.get_path("stdlib"))
        if not is_pypys and not path.resolve().is_relative_to(_OWN):
            answers.append(Answer(path, is_stand_in(path), found.metadata["Version"], path.parent))
    return answers


def find_commands(original: Original) -> dict[str, str | None]:
    """Return its commands by their names, each with where a shell finds it."""
    return {name: shutil.which(name) for name in original.commands}


@contextlib.contextmanager
def _environment_path(name: str) -> Iterator[None]:
    """sys.path as programs have it, and the module not imported. Only for a process with one thread."""
    whole = sys.path[:]
    module = sys.modules.pop(name, None)
    sys.path[:] = search_path()
    try:
        yield
    finally:
        sys.path[:] = whole
        if module is not None:
            sys.modules[name] = module
