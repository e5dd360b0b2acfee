"""The files for pip, uv and importlib.metadata: a distribution under another's name that is ffi_hpy.

The files are in one folder `NAME-VERSION.dist-info`, except for files that must be elsewhere: the commands, and a .pth
file that puts the folder `module` of that folder on sys.path. The .pth has no effect while the folder is missing, so
renaming the folder installs and uninstalls everything at once.

A module in `module` is a package: an __init__.py that loads ffi_hpy, and links to ffi_hpy's files for tools that read
files without importing: build systems (headers and libraries) and type checkers (types).
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import re
import sys
from pathlib import Path

from .._system import find_binaries
from .identity import INSTALLER, ORIGINALS
from .place import search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .identity import Original
    from .place import Place

__all__ = ["MARK", "PTH", "StandIn", "check_version", "find_stand_ins", "is_stand_in", "name_of", "recorded_files"]

MARK = "# Written by python -m ffi_hpy.dropin install"
"""The line that distinguishes our command from another of the same name."""
PTH = "ffi_hpy_dropin-{}.pth"

_OWN = Path(__file__).absolute().parents[1]
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?")

_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: ffi_hpy in the place of {name}. `python -m ffi_hpy.dropin uninstall` removes it
Requires-Python: >=3.9
"""
_REQUIRES_US = "Requires-Dist: ffi-hpy\n"

_WHEEL = """\
Wheel-Version: 1.0
Generator: ffi_hpy.dropin
Root-Is-Purelib: true
Tag: py3-none-any
"""

_MODULE = '''\
"""{module} in this environment: ffi_hpy, until `python -m ffi_hpy.dropin uninstall`."""

import os
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec

found = find_spec("ffi_hpy")
packages = [os.path.dirname(found.origin)] if found and found.origin else []
for package in [*packages, {package!r}]:
    __file__ = os.path.join(package, {file!r})
    if os.path.exists(__file__):
        break
else:
    raise ModuleNotFoundError(
        "{module} is provided by ffi_hpy here, which is not installed any more: install ffi-hpy again, or uninstall"
        " {name}", name=__name__
    )
__path__ = [os.path.dirname(__file__)]
exec(SourceFileLoader(__name__, __file__).get_code(__name__))
'''

_COMMAND = """\
{first_lines}
{mark}
import sys

from {module} import {function}

sys.exit({function}())
"""


class StandIn:
    """The files of the distribution, with the content for a place."""

    def __init__(self, place: Place, original: Original, version: str) -> None:
        self.original = original
        self.folder = place.packages / original.folder_name(version)
        self.pth = place.packages / PTH.format(self.folder.stem)
        is_installed = any(importlib.metadata.distributions(name="ffi-hpy", path=search_path()))
        self.outside = {self.pth: f"{self.folder.name}/module\n"}
        """The content of the files outside the folder, by path."""
        for name, function in original.commands.items():
            self.outside[place.commands / name] = _command(*function.split(":"))
        metadata = _METADATA.format(name=original.name, version=version) + original.metadata
        self.inside = {
            "METADATA": metadata + (_REQUIRES_US if is_installed else ""),
            "WHEEL": _WHEEL,
            "INSTALLER": f"{INSTALLER}\n",
            "REQUESTED": "",
            "entry_points.txt": original.describe_entry_points(),
            "top_level.txt": "".join(f"{module}\n" for module in original.modules),
        }
        """The content of the files in the folder, by name."""
        self.links: dict[str, str] = {}
        """The targets of the links in the folder, by name."""
        for module, (file, shown) in original.modules.items():
            text = _MODULE.format(module=module, name=original.name, package=str(_OWN), file=file)
            self.inside[f"module/{module}/__init__.py"] = text
            if shown is not None:
                self.links.update(_links(self.folder, f"module/{module}", _OWN / shown))
        lines = [_record_line(self.folder / name, text, place) for name, text in self.inside.items()]
        lines += [_record_line(path, text, place) for path, text in self.outside.items()]
        # Also the folder itself: if ffi_hpy was uninstalled first, pip would otherwise leave dangling links
        self.inside["RECORD"] = "".join([*lines, f"{self.folder.name}/RECORD,,\n", f"{self.folder.name},,\n"])

    def is_written(self) -> bool:
        """Whether every file exists with its intended content."""
        files = {**self.outside, **{self.folder / name: text for name, text in self.inside.items()}}
        links = {self.folder / name: target for name, target in self.links.items()}
        return all(path.is_file() and path.read_bytes() == os.fsencode(text) for path, text in files.items()) and all(
            path.is_symlink() and os.readlink(path) == target  # noqa: PTH115
            for path, target in links.items()
        )


def _links(folder: Path, module: str, shown: Path) -> dict[str, str]:
    """Return the links to the files in a folder of ffi_hpy. The links are relative if the folder is in the same folder
    of packages, because that may be moved. Type checkers prefer __init__.pyi to __init__.py."""
    links = {}
    binaries = Path(find_binaries(str(shown)))
    for path in sorted({*shown.iterdir(), *(binaries.iterdir() if binaries.is_dir() else ())}):
        if path.name not in ("_dropin", "__pycache__"):
            name = f"{module}/{path.name}{'i' if path.name == '__init__.py' else ''}"
            is_beside = folder.parent == _OWN.parent
            links[name] = os.path.relpath(path, (folder / name).parent) if is_beside else str(path)
    return links


def _command(module: str, function: str) -> str:
    """Return the content of a command. sh starts an interpreter whose path is too long for a first line or has a space:
    the second line is a command for sh and a string for Python."""
    python = sys.executable
    first_lines = f"#!{python}"
    if " " in python or len(os.fsencode(first_lines)) > 127:
        first_lines = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"
    return _COMMAND.format(first_lines=first_lines, mark=MARK, module=module, function=function)


def _record_line(path: Path, text: str, place: Place) -> str:
    data = os.fsencode(text)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    name = os.path.relpath(path, place.packages)
    quoted = f'"{name}"' if "," in name else name
    return f"{quoted},sha256={digest},{len(data)}\n"


def check_version(original: Original, version: str | None) -> str:
    """Return the version, by default the original's. ValueError for a version that pip would not accept."""
    version = original.version if version is None else version
    if not _VERSION.fullmatch(version):
        raise ValueError(f"--as: expected a version such as {original.version}, got {version!r}")
    return version


def name_of(folder: Path) -> str:
    """Return the name of the distribution of a metadata folder."""
    return folder.name.partition("-")[0].replace("_", "-")


def is_stand_in(folder: Path) -> bool:
    """Whether a metadata folder belongs to a stand-in rather than an original."""
    try:
        return (folder / "INSTALLER").read_bytes().strip() == INSTALLER.encode()
    except OSError:
        return False


def find_stand_ins(place: Place, *originals: Original) -> list[Path]:
    """Return the folders of stand-ins in a place, for some originals, or for all."""
    names = [original.folder_name("*") for original in originals or ORIGINALS]
    return [folder for name in names for folder in sorted(place.packages.glob(name)) if is_stand_in(folder)]


def recorded_files(folder: Path) -> set[Path]:
    """Return the files in a stand-in's record."""
    found = importlib.metadata.PathDistribution(folder).files or ()
    return {Path(os.path.normpath(folder.parent / file)) for file in found}
