"""The files with the stubs of a bound module: their places, and the files of earlier runs that they replace."""

from __future__ import annotations

from pathlib import Path

from .bound import HEAD, SUFFIXES, import_bound, is_library, stubs_of
from .consts import PYTHON_SYNTAX
from .file_utils import CodeBlock, FileInfo

__all__ = ["is_bound_argument", "stub_files"]

_SOURCES = (".py", ".pyi", ".rs")


def is_bound_argument(text: str) -> bool:
    """Whether an argument of the command names a module or a library, not a file or folder with regions. A folder
    beside a library of its name has the stubs of that library."""
    if is_library(text):
        return True
    if not all(part.isidentifier() for part in text.split(".")) or text.endswith(_SOURCES):
        return False
    return not Path(text).exists() or any(Path(f"{text}{suffix}").exists() for suffix in SUFFIXES)


def stub_files(text: str, folder: str | None) -> tuple[list[FileInfo], list[Path]]:
    """Import the module that an argument names, and return the files with its stubs, which are not written yet, and
    the files of an earlier run that they replace. The files are in the folder, by default in the folder of the library.

    ImportError or an exception of the library if it cannot be imported; ValueError for a file that somebody has edited.
    """
    module = import_bound(text)
    own = Path(folder) if folder is not None else Path(str(module.__file__)).parent
    texts = stubs_of(module)
    files = [_file(own / path, content) for path, content in texts.items()]
    name = module.__name__.rpartition(".")[2]
    others = {own / f"{name}.pyi", *(own / name).rglob("*.pyi")} - {own / path for path in texts}
    return files, sorted(path for path in others if _is_written(path))


def _is_written(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().rstrip("\n") == HEAD
    except (OSError, UnicodeDecodeError):
        return False


def _file(path: Path, content: str) -> FileInfo:
    lines: tuple[str, ...] = ()
    if path.exists():
        if not _is_written(path):
            raise ValueError(
                f"{path}: ffi-hpy-stubgen has not written this file; remove it, or name a folder (--output)"
            )
        lines = tuple(path.read_text(encoding="utf-8").splitlines())
    new = content.splitlines()
    return FileInfo(path, lines, [CodeBlock(None, "", 1, len(new), new)], PYTHON_SYNTAX)
