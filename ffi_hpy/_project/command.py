"""The command ffi-hpy-init: a new project around a C++ library, in one wheel for every Python.

The command writes a folder of the project's name, or --folder, with sources, a CMake build, tests, a user's program for
type checkers, and a CI file for GitHub. The project builds and passes its tests as it is.

Exit status: 0 done; 2 wrong usage, or the files cannot be written.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path

from .._start.version import PrintVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["files_of_project", "main"]

_PROGRAM = "ffi-hpy-init"
_NEEDED = frozenset(("ffi_hpy", "tvm_ffi", "pytest"))
"""Packages that the project, its tests or a library of it import: its own package would hide them."""
_TEMPLATE = Path(__file__).resolve().parent / "template"


def files_of_project(name: str) -> dict[Path, str]:
    """Return the files of a new project, by their paths in its folder.

    In the template, the name of a file ends with ".in", "dot_" stands for a dot that would hide the file, and NAME in a
    path, or @NAME@ in a text, for the name of the project.
    """
    found = {}
    for file in sorted(_TEMPLATE.rglob("*.in")):
        path = file.relative_to(_TEMPLATE).as_posix()[: -len(".in")].replace("dot_", ".").replace("NAME", name)
        found[Path(path)] = file.read_text(encoding="utf-8").replace("@NAME@", name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, with the process's arguments if none are given. Returns its exit status."""
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action=PrintVersion)
    parser.add_argument("name", metavar="NAME", help="the name of the package, such as kennel")
    parser.add_argument("--folder", metavar="DIR", help="the folder to write; by default NAME")
    given = parser.parse_args(arguments)
    name = given.name
    if not _is_package_name(name):
        similar = re.sub(r"[\W_]+", "_", name, flags=re.ASCII).strip("_")
        hint = f"; {similar} is possible" if _is_package_name(similar) and not _is_taken(similar) else ""
        parser.error(f"NAME must be the name of a package of Python, got {name!r}{hint}")
    if _is_taken(name):
        parser.error(f"NAME must not be that of a module of Python or one that the project imports, got {name!r}")
    folder = Path(given.folder or name)
    try:
        _write(folder, files_of_project(name))
    except OSError as error:
        print(f"{_PROGRAM}: {error}", file=sys.stderr)
        return 2
    print(f"{folder}: written; its README.md has the commands that build and test it")
    return 0


def _is_package_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not name.startswith("_") and not keyword.iskeyword(name)


def _is_taken(name: str) -> bool:
    return name in getattr(sys, "stdlib_module_names", ()) or name in _NEEDED


def _write(folder: Path, files: dict[Path, str]) -> None:
    """Write the files into a folder that is new or empty. OSError if it has files, or cannot be written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists already, and is not an empty folder")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())  # with the same line ends on every system


if __name__ == "__main__":
    sys.exit(main())
