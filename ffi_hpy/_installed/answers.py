"""What a program that is started now would find under tvm_ffi's names: the module and the distribution."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import shutil
import sys
from pathlib import Path

from .distribution import COMMANDS, is_stand_in
from .identity import NAME
from .place import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


def find_module() -> Answer | None:
    """Return the module tvm_ffi, which is not imported. A folder without __init__.py is none."""
    with _environment_path():
        spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    folder = path.parent if spec.submodule_search_locations is None else path.parent.parent
    is_ours = is_stand_in(folder.parent) or folder.resolve() == _OWN / "_dropin"
    return Answer(path, is_ours, "", folder)


def find_distributions() -> list[Answer]:
    """Return the distributions apache-tvm-ffi, the one that answers first; those of a running drop-in left out."""
    answers = []
    for found in importlib.metadata.distributions(name=NAME, path=search_path()):
        path = Path(str(getattr(found, "_path", None) or found.locate_file("")))
        if not path.resolve().is_relative_to(_OWN):
            answers.append(Answer(path, is_stand_in(path), found.metadata["Version"], path.parent))
    return answers


def find_commands() -> dict[str, str | None]:
    """Return the commands by their names, each with where a shell finds it."""
    return {name: shutil.which(name) for name in COMMANDS}


@contextlib.contextmanager
def _environment_path() -> Iterator[None]:
    """sys.path as programs have it. Only for a process with one thread."""
    whole = sys.path[:]
    module = sys.modules.pop("tvm_ffi", None)
    sys.path[:] = search_path()
    try:
        yield
    finally:
        sys.path[:] = whole
        if module is not None:
            sys.modules["tvm_ffi"] = module
